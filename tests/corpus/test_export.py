"""NEGRA export, on made-up sentences."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.corpus.punctuation import punctuation_mask
from dbpcfg.corpus.readers.export import read_export
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import Notes
from dbpcfg.errors import DbpcfgError
from tests.corpus.fuzz import texts
from tests.corpus.graphs import as_tree, graphs, naively_raised, numbered

BANK = """\
%% a small treebank
#FORMAT 3
#BOT WORDTAG
-1\tUNKNOWN\tN\t???
0\tART\tN\tarticle
#EOT WORDTAG
#BOS 1 2 1060 4 %% checked
Den\t\t\tART\tAcc.Sg\tNK\t500
Hund\t\t\tNN\tAcc.Sg\tNK\t500\tOA\t502
,\t\t\t$,\t--\t--\t0
hat\t\t\tVAFIN\t3.Sg\tHD\t502
sie\t\t\tPPER\tNom\tSB\t502
gesehen\t\t\tVVPP\t--\tHD\t501\t%% late
.\t\t\t$.\t--\t--\t0
#500\t\t\tNP\t--\tOA\t501
#501\t\t\tVP\t--\tOC\t502
#502\t\t\tS\t--\t--\t0
#EOS 1
#BOS 2 2 1060 4
(\t\t\t$(\t--\t--\t0
nein\t\t\tPTKANT\t--\t--\t0
)\t\t\t$(\t--\t--\t0
#EOS 2
"""
FOUR = BANK.replace("#FORMAT 3", "#FORMAT 4").replace("\t\t\t", "\t\tlemma\t")
FIRST = (
    "(ROOT (S (NP (ART Den) (NN Hund)) ($, ,) (VAFIN hat) (PPER sie) (VP (VVPP gesehen))) ($. .))"
)


@pytest.mark.parametrize(
    "text",
    [BANK, FOUR, BANK.replace("#FORMAT 3\n", ""), FOUR.replace("#FORMAT 4\n", "")],
    ids=["3", "4", "3, not declared", "4, not declared"],
)
def test_words_tags_and_trees(text):
    notes = Notes()
    first, second = read_export(text, "f", notes=notes)
    assert str(first.tree) == FIRST
    assert first.words == ("Den", "Hund", ",", "hat", "sie", "gesehen", ".")
    assert punctuation_mask(first) == (False, False, True, False, False, False, True)
    assert str(second.tree) == "(ROOT ($[ -LRB-) (PTKANT nein) ($[ -RRB-))"
    assert punctuation_mask(second) == (True, False, True)
    assert second.line - first.line == 12
    assert notes.dropped == {"secondary edges": 1}
    assert notes.changed == {"constituents with gaps": 1, "children raised to close gaps": 1}


def test_spaces_instead_of_tabs():
    text = "#BOS 0\nis VB -- -- 500\nJohn NP -- -- 0\nrich JJ -- -- 500\n#500 VP -- -- 0\n#EOS 0\n"
    (sentence,) = read_export(text)
    assert str(sentence.tree) == "(ROOT (VP (VB is)) (NP John) (JJ rich))"


def test_nothing_is_dropped_in_silence():
    notes = Notes()
    text = "#BOS 1\na\t--\t--\t--\t0\n#500\tNP\t--\t--\t0\n#EOS 1\n#BOS 2\n#EOS 2\n"
    (sentence,) = read_export(text, notes=notes)
    assert str(sentence.tree) == "(ROOT a)"
    assert sentence.tags is None
    assert notes.dropped == {"nodes without children": 1, "trees without words": 1}


SENTENCE = "#BOS 7\na\tW\t--\t--\t500\n#500\tNP\t--\t--\t0\n#EOS 7\n"
ERRORS = {
    "cycle": (SENTENCE.replace("--\t0\n", "--\t500\n"), 3, "found 'NP' in a cycle"),
    "missing node": (SENTENCE.replace("--\t500", "--\t501"), 2, "found the parent 501, expected 0"),
    "node twice": (SENTENCE.replace("#EOS", "#500\tNP\t--\t--\t0\n#EOS"), 4, "found #500 again"),
    "no parent": (SENTENCE.replace("\t500", ""), 2, "found no number of a parent in 'a W -- --'"),
    "missing word": (SENTENCE.replace("a\tW", "W"), 2, "found no number of a parent in 'W -- --"),
    "no end": (SENTENCE.replace("#EOS 7\n", ""), 1, "found no #EOS after this #BOS"),
    "other end": (SENTENCE.replace("#EOS 7", "#EOS 8"), 4, "found #EOS '8', expected '7'"),
    "outside": ("the dog\nthe cat\n", 1, "found 'the dog' outside a sentence, expected #BOS"),
    "other version": ("#FORMAT 5\n", 1, "found #FORMAT '5', expected version 3 or 4"),
}


@pytest.mark.parametrize(("text", "line", "message"), ERRORS.values(), ids=ERRORS)
def test_errors_say_where_and_what(text, line, message):
    with pytest.raises(DbpcfgError) as caught:
        list(read_export(SENTENCE + text, "f"))
    assert str(caught.value).startswith(f"f:{line + 4}: {message}")
    assert "--skip-broken" in str(caught.value)
    notes = Notes()
    found = list(read_export(SENTENCE + text, "f", broken="skip", notes=notes))
    assert [sentence.line for sentence in found] == [1]
    assert [(part.line, part.last_line) for part in notes.skipped] == [(5, 4 + text.count("\n"))]


def test_a_missing_end_breaks_one_sentence():
    notes = Notes()
    text = SENTENCE.replace("#EOS 7\n", "") + SENTENCE
    assert [s.line for s in read_export(text, "f", broken="skip", notes=notes)] == [4]
    assert notes.skipped[0].reason == "f:4: found #BOS, expected #EOS '7' first"


def written(root, version):
    words, phrases, numbers, parents = numbered(root)
    lemma = "\tlemma" * (version == 4)
    rows = [f"#FORMAT {version}", "#BOS 1"]
    rows += [f"w{v.place}{lemma}\tW\t--\t{v.edge}\t{parents.get(id(v), 0)}" for v in words]
    rows += [
        f"#{numbers[id(v)]}{lemma}\t{v.label}\t--\t{v.edge}\t{parents.get(id(v), 0)}"
        for v in phrases
    ]
    return "\n".join([*rows, "#EOS 1", ""])


@given(graphs(), graphs(crossing=False), st.sampled_from([3, 4]))
def test_reads_what_was_written(crossing, plain, version):
    first, second = read_export(written(crossing, version) + written(plain, version))
    assert first.tree == as_tree(naively_raised(crossing))
    assert second.tree == as_tree(plain)


def test_deep_trees():
    rows = [f"#{n}\tX\t--\t--\t{n + 1}" for n in range(500, 100_500)]
    text = "\n".join(["#BOS 1", "a\tW\t--\t--\t500", *rows, "#100500\tX\t--\t--\t0", "#EOS 1"])
    (sentence,) = read_export(text)
    assert sentence.words == ("a",)


@settings(max_examples=400)
@given(texts(BANK + FOUR, "#0125\t\n-%BEOS"))
def test_any_text_is_sentences_or_an_error(text):
    notes = Notes()
    found = list(read_export(text, "f", broken="skip", notes=notes))
    assert all(re.match(r"f:\d+: found ", part.reason) for part in notes.skipped)
    try:
        assert list(read_export(text, "f")) == found
        assert not notes.skipped
    except DbpcfgError:
        assert notes.skipped
    for sentence in found:
        str(sentence.tree)


def test_files(tmp_path):
    for name in ("a.export", "a.negra", "a", "a.txt"):
        (tmp_path / name).write_text(BANK)
        assert read(tmp_path / name).formats == ("export",)
    corpus = read(tmp_path / "a")
    assert corpus.changed == {"constituents with gaps": 1, "children raised to close gaps": 1}
    assert corpus.summary().endswith(
        "(export). Left out: secondary edges (1). "
        "Changed: constituents with gaps (1), children raised to close gaps (1)."
    )
    assert list(corpus.notes()) == [corpus.summary()]
