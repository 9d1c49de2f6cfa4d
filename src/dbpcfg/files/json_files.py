"""JSON files with a header: what the file is, the format's version, the version of the program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbpcfg.errors import DbpcfgError
from dbpcfg.files.atomic import written_whole
from dbpcfg.files.faults import reading
from dbpcfg.version import __version__

VERSION = 1


def write_json(path: Path, kind: str, content: Mapping[str, Any]) -> None:
    """Write a JSON file with a header, whole."""
    head = {"format": kind, "version": VERSION, "dbpcfg": __version__}
    with written_whole(path) as file:
        text = json.dumps({**head, **content}, indent=2, ensure_ascii=False)
        file.write(f"{text}\n".encode("utf-8", "surrogatepass"))


def read_json(path: Path, kind: str) -> dict[str, Any]:
    """Read a JSON file with a header.

    ``kind``: the name of the format that it must have.
    """
    try:
        with reading(path):
            content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        if isinstance(error, DbpcfgError):
            raise
        raise DbpcfgError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != kind:
        raise DbpcfgError(f"{path} is not a {kind}")
    if content.get("version") != VERSION:
        raise DbpcfgError(
            f"{path} is of version {content.get('version')!r}; this program reads version {VERSION}"
        )
    return content
