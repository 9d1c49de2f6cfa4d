"""The pages of the guide, as tests read them."""

import re
from pathlib import Path

import pytest

import dbpcfg

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PACKAGE = Path(dbpcfg.__file__).parent
if not DOCS.is_dir():
    pytest.skip("the guide is not here: docs/ is in the repository only", allow_module_level=True)

PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
TEXTS = {page.relative_to(DOCS).as_posix(): page.read_text("utf-8") for page in PAGES}
FENCE = re.compile(r"^(`{3,})\{?([\w-]*)\}?[^\n]*\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


def blocks(text: str, *kinds: str) -> list[str]:
    return [match[3] for match in FENCE.finditer(text) if match[2] in kinds]


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", text)
