"""Penn brackets, cleaned."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.readers import format_by_content
from dbpcfg.corpus.reading import read
from dbpcfg.corpus.sentence import punctuation_mask
from dbpcfg.errors import TreeSyntaxError
from dbpcfg.evaluation.evaluate import evaluate
from dbpcfg.trees.brackets import read_tree
from dbpcfg.trees.tree import Tree
from tests.corpus.helpers import read_as, texts, trees_as
from tests.corpus.samples import PENN


def cleaned(text, **options):
    return trees_as("penn", text, **options)


def test_a_small_treebank():
    (first, second, third), source = read_as("penn", PENN, "bank.mrg")
    assert first.words == ("The", "cat", "was", "fed", ".")
    assert first.tags == ("DT", "NN", "VBD", "VBN", ".")
    assert str(first.tree) == (
        "(ROOT (S (NP (DT The) (NN cat)) (VP (VBD was) (VP (VBN fed))) (. .)))"
    )
    assert first.location == "bank.mrg:2"
    assert second.location == third.location == "bank.mrg:6"
    assert str(second.tree) == "(ROOT (FRAG (UH oh)) (, ,) (SBARQ (WHNP (WP what))))"
    assert third.words == ("***",)
    assert source.removed == {"empty elements": 1}


@pytest.mark.parametrize(
    ("label", "cut"),
    [
        ("NP-SBJ", "NP"),
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("NP=<ANIM>", "NP"),
        ("NP<ANIM>", "NP"),
        ("NP-1-<ANIM>-<AGENT-V1>", "NP"),
        ("ADVP|PRT", "ADVP|PRT"),
        ("ADVP|PRT-CLR", "ADVP|PRT"),
        ("-LRB-", "-LRB-"),
        ("-LRB-1", "-LRB-1"),
        ("=", "="),
        ("<x", "<x"),
        ("PRP$", "PRP$"),
        ("SUBJ+np", "np"),
        (">N+art", "art"),
        ("N<+adjp", "adjp"),
        ("P+v-fin", "v"),
        ("NP+VP", "NP+VP"),
        ("np+x", "np+x"),
        ("", ""),
    ],
)
def test_labels(label, cut):
    assert cleaned(f"(S ({label} (X a) (Y b)) ({label} c))") == [
        f"(S ({cut} (X a) (Y b)) ({cut} c))"
    ]
    kept = f"(S ({label} (X a) (Y b)) ({label} c))"
    assert cleaned(kept, function_tags=True) == [kept]


@pytest.mark.parametrize(
    "empty",
    [
        "(-NONE- *)",
        "(-NONE- 0)",
        "(-NONE- *T*-1)",
        "(-NONE-ABAR-WH- **T*-1)",
        "(NONE-A-PASS- *T*-2)",
    ],
)
def test_empty_elements(empty):
    assert cleaned(f"(S (NP (A {empty}) {empty}) (V go) {empty})") == ["(S (V go))"]
    kept = f"(S (NP (A {empty}) {empty}) (V go))"
    options = {"empty_elements": True, "function_tags": True}
    assert cleaned(kept, **options) == [kept]


@pytest.mark.parametrize("word", ["*NULL*", "*T*-12", "*ICH*-1", "*PRO*", "**T*-1"])
def test_words_that_look_like_traces(word):
    text = f"(S (NP (WP {word})) (V go) (X {word}))"
    (sentence,), source = read_as("penn", text)
    assert str(sentence.tree) == text
    assert not source.removed
    (sentence,), source = read_as("penn", f"{text} (-NONE- 0)")  # a treebank with traces
    assert str(sentence.tree) == "(S (V go))"
    assert source.removed == {
        "words that look like traces": 2,
        "empty elements": 1,
        "trees without words": 1,
    }
    kept, _ = cleaned(f"{text} (-NONE- 0)", empty_elements=True)
    assert kept == text


@pytest.mark.parametrize("tag", ["-NONE-", "-NONE-ABAR-WH-", "NONE-A-PASS-"])
def test_a_space_before_the_tag_of_a_trace(tag):
    text = f"(S (V go) (NP ( {tag} *T*-1)))"
    (sentence,), source = read_as("penn", text)
    assert str(sentence.tree) == "(S (V go))"
    assert source.removed == {"empty elements": 1}
    options = {"empty_elements": True, "function_tags": True}
    assert cleaned(text, **options) == [f"(S (V go) (NP ({tag} *T*-1)))"]
    assert cleaned("( NP dog)") == ["(ROOT NP dog)"]


@pytest.mark.parametrize(
    "word", ["*", "**", "***", "*sigh*", "*NOT*", "*-", "*T", "*T*-", "5*", "0", "*-1", "*x"]
)
def test_words_with_stars(word):
    assert cleaned(f"(S (NN {word}))") == [f"(S (NN {word}))"]


@pytest.mark.parametrize(
    ("text", "trees", "removed"),
    [
        (
            "(S (NP (-NONE- *))) (-NONE- 0) (V go) () (())",
            ["(V go)"],
            {"empty elements": 2, "trees without words": 4, "nodes without children": 2},
        ),
        (
            "(S (NP-SBJ) (V go))\n(S (NP (NN)) (V go) (X ) )",
            ["(S (V go))"] * 2,
            {"nodes without children": 3},
        ),
    ],
)
def test_nothing_is_dropped_in_silence(text, trees, removed):
    sentences, source = read_as("penn", text)
    assert [str(sentence.tree) for sentence in sentences] == trees
    assert source.removed == removed


@pytest.mark.parametrize(
    "slip", ["(-LRB- ()", "(NN ()", "(NN :()", "(, (\n )", "(-RRB- )", "(-LRB-)", "(-RCB- )"]
)
def test_a_bracket_as_a_word_is_an_error(slip):
    with pytest.raises(
        TreeSyntaxError, match=r"^f:[23]: found an empty node .*-LRB- or -RRB-; --skip-broken"
    ):
        read_as("penn", f"(V go)\n(S {slip} (V go) (NN )))")


@pytest.mark.parametrize(
    ("text", "found", "skipped"),
    [
        ("(V a)\n(V b)Q9X\n(V c)", [(1, "a"), (3, "c")], [(2, 2)]),
        ("(V a)\n\n(S\n (N b)\n (N c)) x\n\n\n(V d)", [(1, "a"), (8, "d")], [(3, 5)]),
        ("(V a)\n(S (N b)\n(V c)\n(V d)", [(1, "a"), (3, "c"), (4, "d")], [(2, 2)]),
        ("(V a)\n(V b))\n(V c)\n(S (N d)\n(V e)", [(1, "a"), (3, "c"), (5, "e")], [(2, 2), (4, 4)]),
        ("a header\n(V a)\n(V b)", [(2, "a"), (3, "b")], [(1, 1)]),
        ("(V a)\n(S (-LRB- ()\n (V b))\n(V c)", [(1, "a"), (4, "c")], [(2, 3)]),
        # trees that are not indented are cut at blank lines
        ("(S\n(N a)\n)\n\n(S\n(N b)\n\n(S\n(N c)\n)", [(1, "a"), (8, "c")], [(5, 6)]),
        ("(S\n(N a)\n(S\n(N b)", [], [(1, 4)]),
        ("(S (A a)\n(A b)\n(A b)\n(A c))\n" * 2 + "(S (A b)\n", [], [(1, 9)]),
    ],
)
def test_broken_trees_can_be_skipped(text, found, skipped):
    sentences, source = read_as("penn", text, skip_broken=True)
    assert [(sentence.line, *sentence.words) for sentence in sentences] == found
    assert [(part.line, part.last_line) for part in source.skipped] == skipped
    assert source.removed["broken trees"] == len(skipped)
    with pytest.raises(TreeSyntaxError, match=r"--skip-broken \(in Python broken='skip'\)"):
        read_as("penn", text)


def test_what_is_skipped_says_why_and_is_not_counted():
    text = "(V a)\n(S\n (N) (N b))Q9X yes\n(S (N) (V c))"
    _, source = read_as("penn", text, skip_broken=True)
    assert list(map(str, source.skipped)) == [
        "f:3:12: found 'Q9X yes' outside any bracket, expected '(' or the end of the text; "
        "skipped lines 2 to 3"
    ]
    assert source.removed == {"broken trees": 1, "nodes without children": 1}


def test_comments():
    """Lines keep their numbers, and the format is recognised behind comments."""
    text = "# Floresta\n#1 CF1-2\n(UTT+np (>N+art Um)\n (H+n #))\n#2\n(UTT+np (H+prop 7_e_Meio))\n"
    assert format_by_content(text) == "penn"
    sentences, source = read_as("penn", text)
    assert [(s.line, str(s.tree)) for s in sentences] == [
        (3, "(np (art Um) (n #))"),
        (6, "(np (prop 7_e_Meio))"),
    ]
    assert source.removed == {"comments": 3}


def test_comments_of_other_treebanks():
    text = '%% Sent 1\n(S (N <s>)\n (V y))\n<s id="2">\n(S (N a)\n(V <b>))\n</s>\n'
    assert format_by_content(text) == format_by_content(text[10:]) == "penn"
    assert format_by_content("<s>\n" + text) == "penn"
    sentences, source = read_as("penn", text)
    assert [(s.line, s.words) for s in sentences] == [(2, ("<s>", "y")), (5, ("a", "<b>"))]
    assert source.removed == {"comments": 3}


FLORESTA = """\
#1 CF1-1 Um renascer curioso
(UTT+np
\t(>N+art Um)
\t(H+n renascer)
\t(N<+adj curioso))

#2 CF1-2
(STA+cu (CJT+fcl (« «) (SUBJ+np (>N+art O) (H+prop 9_e_Tal)) (P+vp (AUX+v-fin está)
  (MV+v-inf cá)) (» »))
  (CO+conj-c e)
  (CJT+icl (ACC-PASS+pron-pers se) (P<+np (>N+num 3.ª) (H+n mão) (N<PRED+pp (H+prp de)
    (P<+np (H+n a)))) (-- --))
  (? ?))
"""


def test_floresta(tmp_path):
    """As NLTK has it: Latin-1, a comment before each tree, functions before forms."""
    (tmp_path / "floresta.ptb").write_bytes(FLORESTA.encode("latin-1"))
    corpus = read(tmp_path)
    assert corpus.removed == {"comments": 2}
    assert list(map(str, corpus.trees())) == [
        "(np (art Um) (n renascer) (adj curioso))",
        "(cu (fcl (« «) (np (art O) (prop 9_e_Tal)) (vp (v está) (v cá)) (» »)) (conj e) (icl "
        "(pron se) (np (num 3.ª) (n mão) (pp (prp de) (np (n a)))) (-- --)) (? ?))",
    ]
    marks = [word for word, mark in zip(corpus[1].words, punctuation_mask(corpus[1])) if mark]
    assert marks == ["«", "»", "--", "?"]
    found = evaluate(corpus, corpus, category="np")
    assert (found.recall.matched, found.recall.gold) == (3, 3)
    kept = read(tmp_path, function_tags=True)
    assert kept[1].tree.children[0].label == "CJT+fcl"


def test_the_outer_bracket():
    assert cleaned("( (S (V go)) (. .))((V go)) ( go)") == [
        "(ROOT (S (V go)) (. .))",
        "(ROOT (V go))",
        "(ROOT go)",
    ]
    assert cleaned("(S ( (V go)))") == ["(S ( (V go)))"]  # an inner one is left alone


def test_words_without_preterminals_have_no_tags():
    (whole, partly, alone), _ = read_as("penn", "(X (X the dog) barks) (X (D the) dog) (X dog)")
    assert whole.words == ("the", "dog", "barks")
    assert whole.tags is None
    assert str(whole.tree) == "(X (X the dog) barks)"
    assert partly.words == ("the", "dog")
    assert partly.tags is None
    assert alone.tags == ("X",)
    assert [s.tags for s in read_as("penn", "( dog) (S (D the) ( dog))")[0]] == [None, None]


def test_deep_trees():
    depth = 20_000
    text = "(X-1 (Y a) " * depth + "(Y-2 b)" + ")" * depth
    (sentence,), _ = read_as("penn", text)
    assert len(sentence.words) == depth + 1
    assert str(sentence.tree) == text.replace("-1", "").replace("-2", "")


def test_a_big_line():
    text = "( (S-X (N the) (V-1 barks)))" * 10_000
    sentences, _ = read_as("penn", text)
    assert len(sentences) == 10_000
    assert {sentence.line for sentence in sentences} == {1}


# --- any tree, any text ---------------------------------------------------------------------------


def naive(item, traces, root=True):
    """The cleaned tree, by recursion; with `traces`, names of traces are left out too."""
    if isinstance(item, str):
        return item
    if item.preterminal and (
        "NONE" in item.label or (traces and item.children[0] in ("*T*-1", "*PRO*"))
    ):
        return None
    children = [left for left in (naive(child, traces, False) for child in item.children) if left]
    if not children:
        return None
    label = re.split("[-=<]", item.label)[0] or item.label
    return Tree(label or ("ROOT" if root else ""), children)


labels = st.one_of(
    st.sampled_from(["S", "NP-SBJ", "-NONE-", "-LRB-", "", "NP=<A>", "NONE"]), st.text("A-=<|")
)
words = st.sampled_from(["the", "*", "*T*-1", "*PRO*", "0", "."])
nodes = st.recursive(
    words, lambda inner: st.builds(Tree, labels, st.lists(inner, min_size=1, max_size=4))
)
trees = st.builds(Tree, labels, st.lists(nodes, min_size=1, max_size=4))


@given(st.lists(trees, max_size=4))
def test_agrees_with_a_naive_definition(several):
    found, source = read_as("penn", "\n".join(map(str, several)))
    traces = any("NONE" in node.label for tree in several for node in tree.nodes())
    expected = [(line, naive(tree, traces)) for line, tree in enumerate(several, start=1)]
    assert [(s.line, s.tree) for s in found] == [(n, tree) for n, tree in expected if tree]
    assert source.removed["trees without words"] == len(several) - len(found)
    for sentence in found:
        assert list(sentence.words) == sentence.tree.words()
        tags = tuple(sentence.tree.tags())
        assert sentence.tags in (None, tags)
        if "" in tags:
            assert sentence.tags is None
        elif "" not in several[sentence.line - 1].tags():
            assert sentence.tags == tags


@given(texts(PENN, "()-=< \nNP*"), st.booleans(), st.booleans())
def test_no_word_of_any_text_is_lost(text, function_tags, empty_elements):
    options = {"function_tags": function_tags, "empty_elements": empty_elements}
    try:
        found, _ = read_as("penn", text, **options)
    except TreeSyntaxError:
        found, source = read_as("penn", text, skip_broken=True, **options)
        for part in source.skipped:
            assert 1 <= part.line <= part.last_line <= text.count("\n") + 1
            assert not any(part.line <= sentence.line <= part.last_line for sentence in found)
        return
    if empty_elements:
        bare = re.sub(r"\([^\s()]*|\)", " ", text.removeprefix("\ufeff"), flags=re.ASCII)
        said = [word for sentence in found for word in sentence.words]
        assert said == re.findall(r"\S+", bare, re.ASCII)
    for sentence in found:
        assert read_tree(str(sentence.tree)) == sentence.tree
