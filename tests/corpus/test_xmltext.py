"""XML that is hostile, broken or big."""

import pytest

from dbpcfg.corpus.readers import Source
from dbpcfg.corpus.readers.xmltext import MAX_DEPTH, sentence_elements
from dbpcfg.corpus.reading import read
from dbpcfg.errors import DbpcfgError

WORD = '<alpino_ds><node begin="0" pos="x" word="{}"/></alpino_ds>'
LAUGHS = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">\n' for n in range(9))


def elements(text, skip_broken=False):
    source = Source("f", skip_broken)
    return list(sentence_elements(text, "alpino_ds", source)), source


def error_of(text, skip_broken=False):
    with pytest.raises(DbpcfgError) as caught:
        elements(text, skip_broken)
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
    message = error_of(text, broken == "skip")
    assert message.startswith("f:1: found a document type with declarations (<!DOCTYPE … [), which")
    (tmp_path / "f.xml").write_text(text)
    with pytest.raises(DbpcfgError, match="document type with declarations"):
        read(tmp_path / "f.xml", broken=broken)


def test_a_document_type_that_names_a_file_is_ignored(tmp_path):
    (tmp_path / "alpino_ds.dtd").write_text('<!ENTITY e "secret">')
    named = f'<!DOCTYPE alpino_ds SYSTEM "{tmp_path}/alpino_ds.dtd">\n'
    (element,), _ = elements(named + WORD.format("&amp;&#233;"))
    assert element.children[0].attributes["word"] == "&\u00e9"
    for text in (named + WORD.format("x&e;"), "<a>" + WORD.format("x&e;") + "</a>"):
        assert error_of(text).startswith("f:")


def test_deep_nesting_is_an_error():
    deep = "<node>" * 100_000 + "</node>" * 100_000
    assert error_of(f"<alpino_ds>\n{deep}</alpino_ds>").startswith(
        "f:2: found elements nested more than 1,000 deep"
    )
    found, source = elements(f"<a>{WORD}\n<alpino_ds>{deep}</alpino_ds>\n{WORD}</a>", True)
    assert [element.line for element in found] == [1, 3]
    assert [part.line for part in source.skipped] == [2]
    inner = MAX_DEPTH - 1
    fine = "<alpino_ds>" + "<node>" * inner + "</node>" * inner + "</alpino_ds>"
    assert len(elements(fine)[0]) == 1


def test_broken_outside_sentences():
    text = f"<a>{WORD}</b>"
    assert error_of(text) == (
        "f:1: found XML that is not well-formed (mismatched tag), expected well-formed XML; "
        "--skip-broken (in Python broken='skip') skips what is broken"
    )
    found, source = elements(text, True)
    assert len(found) == 1
    assert source.removed == {"broken sentences": 1}


def test_xml_without_sentences():
    for skip_broken in (False, True):
        assert error_of("<a><b/></a>", skip_broken) == (
            "f: found no element <alpino_ds>, expected one for each sentence"
        )


def test_one_sentence_at_a_time():
    """The first sentence is there before the others have been looked at."""
    text = f"<a>{WORD}{' ' * 200_000}</b>"
    found = sentence_elements(text, "alpino_ds", Source("f"))
    assert next(found).line == 1
    with pytest.raises(DbpcfgError, match="not well-formed"):
        next(found)
