"""Links lead somewhere; names of the package exist, where the guide says; layers."""

import ast
import contextlib
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import dbpcfg
from tests.docs.pages import DOCS, PACKAGE, PAGES, ROOT, TEXTS, blocks, prose


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", "")).replace(" ", "-")


def anchors(text: str) -> set[str]:
    return {slug(h) for h in re.findall(r"^#{1,6} (.*)$", prose(text), re.MULTILINE)}


def dead_links(page: Path, text: str) -> Iterator[str]:
    """Links of a page to files or headings that are not there."""
    for target in re.findall(r"(?<!\})\]\(([^)\s]+)\)", prose(text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text("utf-8"))):
            yield target


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=str)
def test_links_lead_somewhere(page):
    assert list(dead_links(page, page.read_text("utf-8"))) == []


def test_dead_links_are_noticed():
    text = "[a](nowhere.md) [b](parsing.md#nowhere) [c](parsing.md#which-tree) [d](https://x.org)"
    assert list(dead_links(DOCS / "page.md", text)) == ["nowhere.md", "parsing.md#nowhere"]


def exists(name: str) -> bool:
    """Whether a dotted name is a module of the package, or something in one."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        with contextlib.suppress(ImportError):
            found = import_module(".".join(parts[:cut]))
            for part in parts[cut:]:
                found = getattr(found, part, None)
            return found is not None
    return False


@pytest.mark.parametrize("page", TEXTS)
def test_names_of_the_package_exist(page):
    named = set(re.findall(r"`~?(dbpcfg(?:\.\w+)+)", TEXTS[page]))
    named |= set(re.findall(r"<(dbpcfg(?:\.\w+)+)>", TEXTS[page]))
    named |= set(re.findall(r"^\.\. \S+:: (dbpcfg(?:\.\w+)*)$", TEXTS[page], re.MULTILINE))
    assert [name for name in sorted(named) if not exists(name)] == []
    assert not exists("dbpcfg.trees.Shrub")


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("*.md")], ids=str)
def test_the_guide_uses_plain_words(page):
    assert re.findall(r"\b(?:told|refuse[sd]?|least risk|so many)\b", page.read_text("utf-8")) == []


def misnamed(text: str) -> list[str]:
    """Files and names that are not where a text says they are.

    An entry is a paragraph, an item of a list, or a row of a table. In it ``package/module.py``
    names a file, and every name in code after that is one of this file, until another is named. A
    file in the first row of a table holds for all its rows.
    """
    wrong = []
    for entry in re.split(r"\n\s*\n|\n(?=\d+\. |- )", prose(text)):
        head = ""
        for number, line in enumerate(entry.splitlines() if entry.startswith("|") else [entry]):
            file = head
            for code in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", line):
                if re.fullmatch(r"(\w+/)*\w+\.py", code):
                    file = code.removesuffix(".py").replace("/", ".")
                    wrong += [] if (PACKAGE / code).is_file() or (ROOT / code).is_file() else [code]
                elif re.fullmatch(r"[A-Za-z_]\w*(\.\w+)*", code) and not code.endswith(FILES):
                    home = file if file.startswith("tests.") else f"dbpcfg.{file}"
                    wrong += [] if exists(f"{home}.{code}") else [f"{code} in {file}"]
            head = head or file if number == 0 else head
    return wrong


FILES = (".html", ".npz", ".toml", ".tsv", ".txt")


def test_functions_are_where_the_page_says():
    text = TEXTS["mathematics.md"]
    assert len(set(re.findall(r"`((?:\w+/)+\w+\.py)`", text))) > 20
    assert misnamed(text) == []
    assert misnamed("`grammar/pcfg.py`, `Grammar`, `Grammar.named`, `draw_grammar`, `x y`") == []
    assert misnamed("`grammar/pcfg.py`: `nothing`") == ["nothing in grammar.pcfg"]
    assert misnamed("`grammar/pcfg.py`\n\n`Grammar`") == ["Grammar in "]
    assert misnamed("`grammar/nowhere.py`") == ["grammar/nowhere.py"]
    table = "| a | in `grammar/pcfg.py` |\n|---|---|\n| b | `Grammar` |\n| c | `nothing` |\n"
    assert misnamed(table) == ["nothing in grammar.pcfg"]


def contracted_layers() -> list[str]:
    """The layers that import-linter checks, from top to bottom."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (layers,) = (c["layers"] for c in settings["contracts"] if c["type"] == "layers")
    return layers


def test_the_package_lists_its_layers_in_order():
    listed = re.findall(r"^``dbpcfg\.(\w+)``", dbpcfg.__doc__, re.MULTILINE)
    layers = [name for layer in contracted_layers() for name in reversed(layer.split(" | "))]
    alone = {"estimator", "errors", "version"}
    assert listed == [layer for layer in layers if layer not in alone][::-1]


def test_the_page_lists_the_layers_from_top_to_bottom():
    (table,) = re.findall(r"^\| layer .*\n\|---.*\n((?:\|.*\n)+)", TEXTS["architecture.md"], re.M)
    listed = [re.findall(r"`(\w+)`", row.split("|")[1]) for row in table.splitlines()]
    assert listed == [layer.split(" | ") for layer in contracted_layers()]


def test_files_and_folders_of_the_page_exist():
    named = re.findall(r"`((?:\w+/)+(?:\w+\.py)?|\w+\.py)`", TEXTS["architecture.md"])
    assert len(named) > 10
    folders = (PACKAGE, ROOT)
    assert [one for one in named if not any((f / one).exists() for f in folders)] == []


def test_python_in_the_guide_is_python():
    for text in TEXTS.values():
        for block in blocks(text, "python"):
            for node in ast.walk(ast.parse(block)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dbpcfg"):
                    for alias in node.names:
                        assert exists(f"{node.module}.{alias.name}"), alias.name
