"""One file, in which words of a corpus are nothing but data."""

import json
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.errors import DbpcfgError
from dbpcfg.report.assemble import (
    EXPLORE_PROGRAM,
    PROGRAM,
    check_free,
    safe_json,
    write_page,
)
from tests.report.small import HOSTILE

texts = st.text(st.characters() | st.sampled_from("<>&\u2028\u2029\ud800$"))


@settings(max_examples=50)
@given(st.recursive(texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner)))
def test_json_reads_back_and_has_no_markup(value):
    text = safe_json(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)
    text.encode()  # a file can hold it


class Elements(HTMLParser):
    """Collects every element with its attributes, and what scripts hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.found and self.found[-1][0] == "script":
            self.scripts[-1] += data


def test_a_page_holds_its_data_and_no_element_from_it(page, data):
    elements = Elements(page.read_text(encoding="utf-8"))
    tags = [tag for tag, _ in elements.found]
    assert tags.count("script") == 2
    assert not {"img", "b", "i", "link", "iframe", "object"} & set(tags)
    assert not [a for _, a in elements.found if {"src", "onerror", "onload"} & set(a)]
    assert all(a["href"].startswith("#") for tag, a in elements.found if "href" in a)
    held = json.loads(elements.scripts[0])
    assert held == json.loads(json.dumps(data))
    assert set(HOSTILE) <= set(held["sentences"]["words"])


def test_the_program_never_makes_markup_of_text(page):
    program = Elements(page.read_text(encoding="utf-8")).scripts[1]
    for dangerous in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert dangerous not in program
    for loading in ("fetch(", "XMLHttpRequest", "WebSocket", "import("):
        assert loading not in program


def test_no_program_is_left_out_of_both_pages():
    written = {path.name for path in (files("dbpcfg.report") / "page").iterdir()}
    assert {name for name in written if name.endswith(".js")} == {*PROGRAM, *EXPLORE_PROGRAM}


def test_pages_are_replaced_and_other_files_are_not(page, data, tmp_path):
    check_free(page, overwrite=False)
    other = tmp_path / "notes.html"
    other.write_text("<p>mine</p>")
    with pytest.raises(DbpcfgError, match="exists and is not a report"):
        check_free(other, overwrite=False)
    check_free(other, overwrite=True)
    with pytest.raises(DbpcfgError, match="is a directory"):
        check_free(tmp_path, overwrite=True)
    with pytest.raises(DbpcfgError, match="there is no directory"):
        check_free(tmp_path / "no" / "folder.html", overwrite=False)
    with pytest.raises(DbpcfgError, match="cannot be written: No such file"):
        write_page(data, tmp_path / "no" / "folder.html")


def test_the_same_run_gives_the_same_page(page, data, tmp_path):
    write_page(data, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()
