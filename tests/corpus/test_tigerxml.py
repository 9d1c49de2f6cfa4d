"""TIGER-XML, on made-up sentences."""

import re

import pytest
from hypothesis import given, settings

from dbpcfg.corpus.readers.tigerxml import read_tigerxml
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Notes
from dbpcfg.errors import DbpcfgError
from tests.corpus.fuzz import texts
from tests.corpus.graphs import as_tree, graphs, naively_raised, numbered

SENTENCE = """\
<s id="s1">
<graph root="s1_VROOT">
<terminals>
<t id="s1_1" word="Den" lemma="der" pos="ART"/>
<t id="s1_2" word="Hund" pos="NN"><secedge label="OA" idref="s1_502"/></t>
<t id="s1_3" word="," pos="$,"/>
<t id="s1_4" word="sah" pos="VVFIN"/>
<t id="s1_5" word="sie" pos="PPER"/>
<t id="s1_6" word="an" pos="PTKVZ"/>
<t id="s1_7" word="." pos="$."/>
</terminals>
<nonterminals>
<nt id="s1_500" cat="NP"><edge label="NK" idref="s1_2"/><edge label="NK" idref="s1_1"/></nt>
<nt id="s1_501" cat="VP"><edge label="OA" idref="s1_500"/><edge label="HD" idref="s1_6"/></nt>
<nt id="s1_502" cat="S">
<edge label="OC" idref="s1_501"/><edge label="HD" idref="s1_4"/><edge label="SB" idref="s1_5"/>
<secedge label="SB" idref="s1_5"/>
</nt>
<nt id="s1_VROOT" cat="VROOT">
<edge label="--" idref="s1_502"/><edge label="--" idref="s1_3"/><edge label="--" idref="s1_7"/>
</nt>
</nonterminals>
</graph>
</s>
"""
LINES = SENTENCE.count("\n")
HEAD = '<?xml version="1.0"?>\n<corpus id="c">\n<head><annotation/></head>\n<body>\n'
TAIL = "</body>\n</corpus>\n"
TREE = "(ROOT (S (NP (ART Den) (NN Hund)) ($, ,) (VVFIN sah) (PPER sie) (VP (PTKVZ an))) ($. .))"


def trees(text, **options):
    return [str(sentence.tree) for sentence in read_tigerxml(text, "f", **options)]


def test_words_tags_and_trees():
    notes = Notes()
    first, second = read_tigerxml(HEAD + SENTENCE + SENTENCE + TAIL, "f", notes=notes)
    assert str(first.tree) == str(second.tree) == TREE
    assert first.words == ("Den", "Hund", ",", "sah", "sie", "an", ".")
    assert (first.line, second.line) == (5, 5 + LINES)
    assert notes.dropped == {"secondary edges": 4}
    assert notes.changed == {"constituents with gaps": 2, "children raised to close gaps": 2}


def test_what_no_edge_leads_to_is_on_the_root():
    virtual = SENTENCE[SENTENCE.index('<nt id="s1_VROOT"') : SENTENCE.index("</nonterminals>")]
    assert trees(HEAD + SENTENCE.replace(virtual, "") + TAIL) == [TREE]


def test_traces():
    notes = Notes()
    text = SENTENCE.replace('word="sie" pos="PPER"', 'word="*T*" pos="-NONE-"')
    (tree,) = trees(text, notes=notes)
    assert tree == ("(ROOT (S (NP (ART Den) (NN Hund)) ($, ,) (VVFIN sah) (VP (PTKVZ an))) ($. .))")
    assert notes.dropped["traces"] == 1


def test_sentences_without_words():
    notes = Notes()
    assert trees("<s><graph><terminals/></graph></s>", notes=notes) == []
    assert notes.dropped == {"trees without words": 1}


EDGE = '<edge label="NK" idref="s1_1"/>'
ERRORS = {
    "missing node": ((EDGE, '<edge idref="s1_99"/>'), 13, "found an edge to 's1_99', expected"),
    "two parents": (('label="SB" idref="s1_5"/>\n', 'idref="s1_1"/>\n'), 16, "found a second edge"),
    "missing word": ((' word="sie"', ""), 8, "found <t> without word"),
    "empty word": (('word="sie"', 'word=" "'), 8, "found an empty word"),
    "missing category": ((' cat="NP"', ""), 13, "found <nt> without cat"),
    "missing id": ((' id="s1_500"', ""), 13, "found <nt> without id"),
    "the same id": (('id="s1_2"', 'id="s1_1"'), 5, "found a second <t> with the id 's1_1'"),
    "no graph": (("graph", "tree"), 1, "found 0 <graph> in <s>, expected one"),
    "not well-formed": (("</nt>\n<nt", "\n<nt"), 22, "found XML that is not well-formed (mism"),
}


@pytest.mark.parametrize(("change", "line", "message"), ERRORS.values(), ids=ERRORS)
def test_errors_say_where_and_what(change, line, message):
    before, after = change
    assert before in SENTENCE
    count = 1 if before == "</nt>\n<nt" else 2
    wrong = SENTENCE.replace(before, after, count)
    text = HEAD + SENTENCE + wrong + SENTENCE + TAIL
    line += 4 + LINES
    with pytest.raises(DbpcfgError) as caught:
        trees(text)
    assert str(caught.value).startswith(f"f:{line}: {message}")
    assert "--skip-broken" in str(caught.value)
    notes = Notes()
    assert trees(text, broken="skip", notes=notes) == [TREE] * 2
    (part,) = notes.skipped
    assert (part.line, part.last_line) == (5 + LINES, 4 + LINES + wrong.count("\n"))


def test_cycles():
    text = """<s><graph><terminals><t id="t" word="w" pos="W"/></terminals>
<nonterminals>
<nt id="a" cat="A"><edge idref="b"/></nt>
<nt id="b" cat="B"><edge idref="a"/><edge idref="t"/></nt></nonterminals></graph></s>"""
    with pytest.raises(DbpcfgError, match="f:3: found 'A' in a cycle of constituents, expected"):
        trees(text)
    itself = text.replace('<edge idref="a"/>', "").replace('idref="b"', 'idref="a"')
    with pytest.raises(DbpcfgError, match="f:3: found 'A' in a cycle"):
        trees(itself)


def written(root):
    words, phrases, numbers, _ = numbered(root)
    names = {
        **{id(v): f"n{numbers[id(v)]}" for v in phrases},
        **{id(v): f"t{v.place}" for v in words},
    }
    rows = ['<s id="s"><graph root="r"><terminals>']
    rows += [f'<t id="t{v.place}" word="w{v.place}" pos="W"/>' for v in words]
    rows.append("</terminals><nonterminals>")
    for phrase in (*phrases, root):
        name = names.get(id(phrase), "r")
        label = "VROOT" if phrase is root else phrase.label
        edges = [f'<edge label="{c.edge}" idref="{names[id(c)]}"/>' for c in phrase.children]
        rows.append(f'<nt id="{name}" cat="{label}">{"".join(edges)}</nt>')
    return "\n".join([*rows, "</nonterminals></graph></s>"])


@given(graphs(), graphs(crossing=False))
def test_reads_what_was_written(crossing, plain):
    first, second = read_tigerxml(HEAD + written(crossing) + written(plain) + TAIL)
    assert first.tree == as_tree(naively_raised(crossing))
    assert second.tree == as_tree(plain)


@settings(max_examples=400)
@given(texts(HEAD + SENTENCE + SENTENCE + TAIL, '<>/="s1_ \n&'))
def test_any_text_is_sentences_or_an_error(text):
    notes = Notes()
    try:
        found = list(read_tigerxml(text, "f", broken="skip", notes=notes))
    except DbpcfgError:
        found = None
    assert all(re.match(r"f:\d+: found ", part.reason) for part in notes.skipped)
    try:
        assert list(read_tigerxml(text, "f")) == found
        assert not notes.skipped
    except DbpcfgError:
        assert found is None or notes.skipped
    for sentence in found or ():
        str(sentence.tree)


def test_files(tmp_path):
    for name in ("a.xml", "a.tig", "a", "a.txt"):
        (tmp_path / name).write_text(HEAD + SENTENCE + TAIL)
        assert read(tmp_path / name).formats == ("tigerxml",)
    with pytest.raises(DbpcfgError, match=r"found no element <alpino_ds>.*--input-format tigerxml"):
        read(tmp_path / "a", format="alpino")
