"""XML that is hostile, broken or big."""

import pytest

from dbpcfg.corpus.readers.xmltext import MAX_DEPTH, sentence_elements
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Notes
from dbpcfg.errors import DbpcfgError

WORD = '<alpino_ds><node begin="0" pos="x" word="{}"/></alpino_ds>'
LAUGHS = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">\n' for n in range(9))


def error_of(text, broken="error"):
    with pytest.raises(DbpcfgError) as caught:
        list(sentence_elements(text, "alpino_ds", "f", broken, Notes()))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("broken", ["error", "skip"])
@pytest.mark.parametrize(
    "declarations",
    [
        f'<!ENTITY a0 "ha">\n{LAUGHS}',
        '<!ENTITY a9 SYSTEM "{secret}">',
        '<!ENTITY % a9 SYSTEM "{secret}"> %a9;',
        '<!ENTITY a9 "ha">',
    ],
    ids=["billion laughs", "external", "parameter", "internal"],
)
def test_entities_are_errors(tmp_path, declarations, broken):
    (tmp_path / "secret").write_text("secret")
    declarations = declarations.replace("{secret}", str(tmp_path / "secret"))
    text = f"<!DOCTYPE alpino_ds [\n{declarations}]>\n" + WORD.format("&a9;")
    message = error_of(text, broken)
    assert message.startswith("f:1: found a document type with declarations (<!DOCTYPE … [), which")
    (tmp_path / "f.xml").write_text(text)
    with pytest.raises(DbpcfgError, match="document type with declarations"):
        read(tmp_path / "f.xml", broken=broken)


def test_a_document_type_that_names_a_file_is_ignored(tmp_path):
    (tmp_path / "alpino_ds.dtd").write_text('<!ENTITY e "secret">')
    named = f'<!DOCTYPE alpino_ds SYSTEM "{tmp_path}/alpino_ds.dtd">\n'
    (element,) = sentence_elements(
        named + WORD.format("&amp;&#233;"), "alpino_ds", "f", "error", Notes()
    )
    assert element.children[0].attributes["word"] == "&\u00e9"
    for text in (named + WORD.format("x&e;"), "<a>" + WORD.format("x&e;") + "</a>"):
        assert error_of(text).startswith("f:")


def test_deep_nesting_is_an_error():
    deep = "<node>" * 100_000 + "</node>" * 100_000
    assert error_of(f"<alpino_ds>\n{deep}</alpino_ds>").startswith(
        "f:2: found elements nested more than 1,000 deep"
    )
    notes = Notes()
    text = f"<a>{WORD}\n<alpino_ds>{deep}</alpino_ds>\n{WORD}</a>"
    found = list(sentence_elements(text, "alpino_ds", "f", "skip", notes))
    assert [element.line for element in found] == [1, 3]
    assert [part.line for part in notes.skipped] == [2]
    inner = MAX_DEPTH - 1
    fine = "<alpino_ds>" + "<node>" * inner + "</node>" * inner + "</alpino_ds>"
    assert len(list(sentence_elements(fine, "alpino_ds", "f", "error", Notes()))) == 1


def test_broken_outside_sentences():
    text = f"<a>{WORD}</b>"
    assert error_of(text) == (
        "f:1: found XML that is not well-formed (mismatched tag), expected well-formed XML; "
        "--skip-broken (in Python broken='skip') skips what is broken"
    )
    notes = Notes()
    assert len(list(sentence_elements(text, "alpino_ds", "f", "skip", notes))) == 1
    assert notes.dropped == {"broken sentences": 1}


def test_xml_without_sentences():
    for broken in ("error", "skip"):
        assert error_of("<a><b/></a>", broken) == (
            "f: found no element <alpino_ds>, expected one for each sentence"
        )


def test_files_do_not_depend_on_the_ones_before():
    notes = Notes()
    list(sentence_elements(f"<a>{WORD}</b>", "alpino_ds", "e", "skip", notes))
    with pytest.raises(DbpcfgError, match="f: found no element"):
        list(sentence_elements("<a/>", "alpino_ds", "f", "skip", notes))


def test_one_sentence_at_a_time():
    """The first sentence is there before the others have been looked at."""
    text = f"<a>{WORD}{' ' * 200_000}</b>"
    elements = sentence_elements(text, "alpino_ds", "f", "error", Notes())
    assert next(elements).line == 1
    with pytest.raises(DbpcfgError, match="not well-formed"):
        next(elements)
