"""Alpino XML, on made-up sentences."""

import re
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given, settings

from dbpcfg.corpus.punctuation import punctuation_mask
from dbpcfg.corpus.readers.alpino import read_alpino
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Notes
from dbpcfg.corpus.streaming import stream
from dbpcfg.errors import DbpcfgError
from tests.corpus.fuzz import texts
from tests.corpus.graphs import as_tree, graphs, naively_raised

SENTENCE = """\
<alpino_ds version="1.2">
  <node begin="0" cat="top" end="6" id="0" rel="top">
    <node begin="2" end="3" id="1" pos="punct" rel="--" word=","/>
    <node begin="0" cat="smain" end="5" id="2" rel="--">
      <node begin="0" end="1" id="3" index="1" pos="pron" rel="su" word="Zij"/>
      <node begin="1" end="2" id="4" pos="verb" rel="hd" word="zag"/>
      <node begin="0" cat="inf" end="5" id="5" rel="vc">
        <node begin="0" end="1" id="6" index="1" rel="su"/>
        <node begin="4" end="5" id="7" pos="verb" rel="hd" word="rennen"/>
      </node>
      <node begin="3" end="4" id="8" pt="n" rel="obj1" word="caf\u00e9s"/>
    </node>
    <node begin="5" end="6" id="9" pos="punct" rel="--" word="("/>
  </node>
  <sentence>Zij zag , caf\u00e9s rennen (</sentence>
</alpino_ds>
"""
TREE = (
    "(top (smain (pron Zij) (verb zag) (punct ,) (n caf\u00e9s) (inf (verb rennen))) (punct -LRB-))"
)
GAPS = """<alpino_ds><node cat="top">
<node cat="smain" rel="--">
<node cat="np" rel="obj1">
<node begin="0" pos="noun" rel="hd" word="Iets"/>
<node cat="rel" rel="mod"><node begin="3" pos="pron" rel="hd" word="dat"/></node></node>
<node begin="1" pos="verb" rel="hd" word="zag"/><node begin="2" pos="pron" rel="su" word="zij"/>
</node></node></alpino_ds>"""


def document(*sentences):
    return '<?xml version="1.0"?>\n<alpino>\n' + "".join(sentences) + "</alpino>\n"


def trees(text, **options):
    return [str(sentence.tree) for sentence in read_alpino(text, "f", **options)]


def test_words_tags_and_trees():
    notes = Notes()
    first, second = read_alpino(document(SENTENCE, SENTENCE), "f", notes=notes)
    assert str(first.tree) == str(second.tree) == TREE
    assert first.tags == ("pron", "verb", "punct", "n", "verb", "punct")
    assert punctuation_mask(first) == (False, False, True, False, False, True)
    assert (first.line, second.line) == (3, 3 + SENTENCE.count("\n"))
    assert notes.dropped == {"traces": 2}
    assert not notes.changed
    assert trees(SENTENCE) == [TREE]  # one sentence in a file


def test_gaps():
    notes = Notes()
    assert trees(GAPS, notes=notes) == [
        "(top (smain (np (noun Iets)) (verb zag) (pron zij) (rel (pron dat))))"
    ]
    assert notes.changed == {"constituents with gaps": 1, "children raised to close gaps": 1}


def test_odd_sentences():
    assert trees('<alpino_ds><node begin="0" word="ja" pos="x"/></alpino_ds>') == ["(top (x ja))"]
    assert trees('<alpino_ds><node begin="0" word="ja"/></alpino_ds>') == ["(top ja)"]
    notes = Notes()
    empty = '<alpino_ds><node cat="top"><node index="1"/></node></alpino_ds>'
    assert trees(empty, notes=notes) == []
    assert notes.dropped == {"traces": 1, "trees without words": 1}


ERRORS = {
    "missing word": ((' begin="1" end="2" id="4"', ' begin="9"'), 3, "found the word ',' at 2"),
    "word twice": (('<node begin="1"', '<node begin="4"'), 9, "found a second word at 4"),
    "no place": (('<node begin="1"', "<node"), 6, "found the place begin='' of a word, expected"),
    "odd place": (('<node begin="1"', '<node begin="-1"'), 6, "found the place begin='-1'"),
    "no category": ((' cat="inf"', ""), 7, "found a <node> with nodes in it and no cat"),
    "nothing": ((' index="1" rel="su"/>', "/>"), 8, "found a <node> without word, nodes and index"),
    "empty word": (('word="zag"', 'word=""'), 6, "found an empty word"),
    "two tops": (("  <sentence>", "<node/><sentence>"), 1, "found 2 <node> in <alpino_ds>"),
    "not well-formed": (
        ('rel="hd" word="zag"/>', 'word="zag">'),
        16,
        "found XML that is not w",
    ),
    "cut off": (("</alpino_ds>", ""), 0, "found XML that is not well-formed"),
}


@pytest.mark.parametrize(("change", "line", "message"), ERRORS.values(), ids=ERRORS)
def test_errors_say_where_and_what(change, line, message):
    wrong = SENTENCE.replace(*change)
    assert wrong != SENTENCE
    text = document(SENTENCE, wrong, SENTENCE)
    with pytest.raises(DbpcfgError) as caught:
        trees(text)
    place = rf"f:{line + 18}: " if line else r"f:\d+: "
    assert re.match(place + re.escape(message), str(caught.value)), str(caught.value)
    assert "--skip-broken" in str(caught.value)
    notes = Notes()
    assert trees(text, broken="skip", notes=notes) == [TREE] * 2
    (part,) = notes.skipped
    assert part.line == 19
    assert 33 <= part.last_line <= 34


def written(root):
    def node(v):
        name = f'rel="{v.edge.lower()}"'
        if v.place >= 0:
            return f'<node begin="{v.place}" word={quoteattr(f"w{v.place}")} pos="W" {name}/>'
        return f'<node cat="{v.label}" {name}>{"".join(map(node, v.children))}</node>'

    return f"<alpino_ds>{node(root)}</alpino_ds>"


@given(graphs(), graphs(crossing=False))
def test_reads_what_was_written(crossing, plain):
    first, second = read_alpino(document(written(crossing), written(plain)))
    assert first.tree == as_tree(naively_raised(crossing))
    assert second.tree == as_tree(plain)


@settings(max_examples=400)
@given(texts(document(SENTENCE, GAPS), '<>/="0123 \n&'))
def test_any_text_is_sentences_or_an_error(text):
    notes = Notes()
    try:
        found = list(read_alpino(text, "f", broken="skip", notes=notes))
    except DbpcfgError:
        found = None
    assert all(re.match(r"f:\d+: found ", part.reason) for part in notes.skipped)
    try:
        assert list(read_alpino(text, "f")) == found
        assert not notes.skipped
    except DbpcfgError:
        assert found is None or notes.skipped
    for sentence in found or ():
        str(sentence.tree)


def test_files(tmp_path):
    latin = document(SENTENCE).replace('"1.0"', '"1.0" encoding="ISO-8859-1"').encode("latin-1")
    for name in ("a.xml", "a", "a.txt"):
        (tmp_path / name).write_bytes(latin)
        assert read(tmp_path / name).formats == ("alpino",)
        assert [s.words[3] for s in stream([str(tmp_path / name)])] == ["caf\u00e9s"]
    (tmp_path / "b").write_bytes(latin.replace(b"ISO-8859-1", b"UTF-8"))
    assert read(tmp_path / "b", encoding="latin-1")[0].words[3] == "caf\u00e9s"
    (tmp_path / "a.txt").unlink()
    (tmp_path / "b.xml").write_bytes(SENTENCE.encode())
    assert read(tmp_path).formats == ("alpino", "alpino")
    assert len(read(tmp_path, format="alpino")) == 2
    (tmp_path / "c.xml").write_text("<book>the cat</book>")
    with pytest.raises(DbpcfgError, match=r"c\.xml: found XML .*expected plain text or a treebank"):
        read(tmp_path)
