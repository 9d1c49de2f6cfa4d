"""CESS and Sinica brackets, NEGRA export, Alpino XML and TIGER-XML: words, tags and trees."""

from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.corpus.sentence import punctuation_mask
from dbpcfg.trees.tree import Tree
from tests.corpus.graphs import as_tree, graphs, naively_raised, numbered
from tests.corpus.helpers import read_as, trees_as
from tests.corpus.samples import (
    ALPINO_GAPS,
    ALPINO_SENTENCE,
    ALPINO_TREE,
    CESS,
    EXPORT,
    EXPORT_4,
    EXPORT_TREE,
    SINICA,
    TIGER_HEAD,
    TIGER_SENTENCE,
    TIGER_TAIL,
    TIGER_TREE,
    alpino,
)

RAISED_ONE = {"constituents with gaps": 1, "children raised to close gaps": 1}


def test_cess():
    (first, second), _ = read_as("cess", CESS)
    assert first.words == ("El", "perro", "ladra", "-LRB-", "hoy", "-RRB-", ".")
    assert first.tags == ("da0ms0", "ncms000", "vmip3s0", "Fpa", "rg", "Fpt", "Fp")
    assert str(first.tree).startswith("(ROOT (S (sn (da0ms0 El) (ncms000 perro)) (grup.verb (vmip")
    assert punctuation_mask(first) == (False, False, False, True, False, True, True)
    assert str(second.tree) == "(ROOT (S (vmip3p0 cantan)))"
    assert (first.line, second.line) == (2, 13)
    kept = trees_as("cess", CESS, function_tags=True, empty_elements=True)[1]
    assert kept == "(ROOT (S (sn.e-SUJ *0*) (vmip3p0 cantan)))"


@pytest.mark.parametrize("label", ["sn-SUJ", "sn.co-SUJ", "sn.co", "sn.x", "sn.e-CD"])
def test_marks_of_cess_are_not_part_of_the_category(label):
    assert trees_as("cess", f"(S ({label} (da0ms0 El el)))") == ["(S (sn (da0ms0 El)))"]


def test_longer_leaves_are_kept_and_counted():
    (sentence,), source = read_as("cess", "(S (X a b c))")
    assert sentence.words == ("a", "b", "c")
    assert source.suspicious == {"leaves of more than a word and its lemma": 1}


def test_a_space_before_the_punctuation_of_sinica():
    """As half of the files have it."""
    spaced, _ = read_as("sinica", SINICA.replace("#，", "# ，"))
    assert "# ，" in SINICA.replace("#，", "# ，")
    assert spaced == read_as("sinica", SINICA)[0]


def test_sinica():
    (first, second, third), _ = read_as("sinica", SINICA)
    assert str(first.tree) == (
        "(ROOT (S (NP (N (Nba 黑)) (Nab 貓)) (Dd 慢慢) (V 走)) (COMMACATEGORY ，))"
    )
    assert first.words == ("黑", "貓", "慢慢", "走", "，")
    assert first.tags == ("Nba", "Nab", "Dd", "V", "COMMACATEGORY")
    assert punctuation_mask(first) == (False, False, False, False, True)
    assert str(second.tree) == "(ROOT (NP (DM 兩隻)))"
    assert third.words == ("吃", "魚", "！", "」")
    assert [sentence.line for sentence in (first, second, third)] == [1, 2, 4]
    (sentence,), _ = read_as("sinica", "NP(Head:Neu:3:20|Head:X:#|Nab:茶)")
    assert sentence.words == ("3:20", "#", "茶")


names = st.text("NVab黑貓", min_size=1, max_size=3)
phrases = st.recursive(
    st.builds(lambda tag, word: Tree(tag, (word,)), names, names),
    lambda inner: st.builds(Tree, names, st.lists(inner, min_size=1, max_size=4)),
).filter(lambda tree: not tree.preterminal)


def as_sinica(tree):
    def phrase(node, parts):
        inner = f":{parts[0]}" if node.preterminal else f"({'|'.join(parts)})"
        return f"role:{node.label}{inner}"

    return tree.fold(str, phrase)


@given(st.lists(phrases, min_size=1, max_size=4))
def test_reads_sinica_brackets_that_were_written(trees):
    text = "".join(f"#{n}:1.[7] {as_sinica(tree)}#。(X)\n" for n, tree in enumerate(trees))
    expected = [Tree("ROOT", [tree, Tree("X", ("。",))]) for tree in trees]
    assert [sentence.tree for sentence in read_as("sinica", text)[0]] == expected


@pytest.mark.parametrize(
    "text",
    [EXPORT, EXPORT_4, EXPORT.replace("#FORMAT 3\n", ""), EXPORT_4.replace("#FORMAT 4\n", "")],
    ids=["3", "4", "3, not declared", "4, not declared"],
)
def test_export(text):
    (first, second), source = read_as("export", text)
    assert str(first.tree) == EXPORT_TREE
    assert first.words == ("Den", "Hund", ",", "hat", "sie", "gesehen", ".")
    assert punctuation_mask(first) == (False, False, True, False, False, False, True)
    assert str(second.tree) == "(ROOT ($[ -LRB-) (PTKANT nein) ($[ -RRB-))"
    assert punctuation_mask(second) == (True, False, True)
    assert second.line - first.line == 12
    assert source.removed == {"secondary edges": 1}
    assert source.modified == RAISED_ONE


def test_export_with_spaces_instead_of_tabs():
    text = "#BOS 0\nis VB -- -- 500\nJohn NP -- -- 0\nrich JJ -- -- 500\n#500 VP -- -- 0\n#EOS 0\n"
    assert trees_as("export", text) == ["(ROOT (VP (VB is)) (NP John) (JJ rich))"]


def test_export_drops_nothing_in_silence():
    text = "#BOS 1\na\t--\t--\t--\t0\n#500\tNP\t--\t--\t0\n#EOS 1\n#BOS 2\n#EOS 2\n"
    (sentence,), source = read_as("export", text)
    assert str(sentence.tree) == "(ROOT a)"
    assert sentence.tags is None
    assert source.removed == {"nodes without children": 1, "trees without words": 1}


def test_alpino():
    (first, second), source = read_as("alpino", alpino(ALPINO_SENTENCE, ALPINO_SENTENCE))
    assert str(first.tree) == str(second.tree) == ALPINO_TREE
    assert first.tags == ("pron", "verb", "punct", "n", "verb", "punct")
    assert punctuation_mask(first) == (False, False, True, False, False, True)
    assert (first.line, second.line) == (3, 3 + ALPINO_SENTENCE.count("\n"))
    assert source.removed == {"traces": 2}
    assert not source.modified
    assert trees_as("alpino", ALPINO_SENTENCE) == [ALPINO_TREE]  # one sentence in a file
    (sentence,), source = read_as("alpino", ALPINO_GAPS)
    assert str(sentence.tree) == (
        "(top (smain (np (noun Iets)) (verb zag) (pron zij) (rel (pron dat))))"
    )
    assert source.modified == RAISED_ONE


def test_odd_sentences_of_alpino():
    one = '<alpino_ds><node begin="0" word="ja"{}/></alpino_ds>'
    assert trees_as("alpino", one.format(' pos="x"')) == ["(top (x ja))"]
    assert trees_as("alpino", one.format("")) == ["(top ja)"]
    empty = '<alpino_ds><node cat="top"><node index="1"/></node></alpino_ds>'
    found, source = read_as("alpino", empty)
    assert not found
    assert source.removed == {"traces": 1, "trees without words": 1}


def test_tigerxml():
    text = TIGER_HEAD + TIGER_SENTENCE + TIGER_SENTENCE + TIGER_TAIL
    (first, second), source = read_as("tigerxml", text)
    assert str(first.tree) == str(second.tree) == TIGER_TREE
    assert first.words == ("Den", "Hund", ",", "sah", "sie", "an", ".")
    assert (first.line, second.line) == (5, 5 + TIGER_SENTENCE.count("\n"))
    assert source.removed == {"secondary edges": 4}
    assert source.modified == {"constituents with gaps": 2, "children raised to close gaps": 2}


def test_odd_sentences_of_tigerxml():
    start = TIGER_SENTENCE.index('<nt id="s1_VROOT"')  # what no edge leads to is on the root
    bare = TIGER_SENTENCE[:start] + TIGER_SENTENCE[TIGER_SENTENCE.index("</nonterminals>") :]
    assert trees_as("tigerxml", bare) == [TIGER_TREE]
    trace = TIGER_SENTENCE.replace('word="sie" pos="PPER"', 'word="*T*" pos="-NONE-"')
    (sentence,), source = read_as("tigerxml", trace)
    assert str(sentence.tree) == TIGER_TREE.replace("(PPER sie) ", "")
    assert source.removed["traces"] == 1
    found, source = read_as("tigerxml", "<s><graph><terminals/></graph></s>")
    assert not found
    assert source.removed == {"trees without words": 1}


# --- any graph ------------------------------------------------------------------------------------


def as_alpino(root):
    def node(v):
        name = f'rel="{v.edge.lower()}"'
        if v.place >= 0:
            return f'<node begin="{v.place}" word={quoteattr(f"w{v.place}")} pos="W" {name}/>'
        return f'<node cat="{v.label}" {name}>{"".join(map(node, v.children))}</node>'

    return f"<alpino_ds>{node(root)}</alpino_ds>"


def as_export(root, version):
    words, phrases, numbers, parents = numbered(root)
    lemma = "\tlemma" * (version == 4)
    rows = [f"#FORMAT {version}", "#BOS 1"]
    rows += [f"w{v.place}{lemma}\tW\t--\t{v.edge}\t{parents.get(id(v), 0)}" for v in words]
    rows += [
        f"#{numbers[id(v)]}{lemma}\t{v.label}\t--\t{v.edge}\t{parents.get(id(v), 0)}"
        for v in phrases
    ]
    return "\n".join([*rows, "#EOS 1", ""])


def as_tigerxml(root):
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


WRITTEN = {
    "alpino": lambda *roots: alpino(*map(as_alpino, roots)),
    "export": lambda *roots: "".join(as_export(root, 3) for root in roots),
    "export 4": lambda *roots: "".join(as_export(root, 4) for root in roots),
    "tigerxml": lambda *roots: TIGER_HEAD + "".join(map(as_tigerxml, roots)) + TIGER_TAIL,
}


@pytest.mark.parametrize("format", WRITTEN)
@given(graphs(), graphs(crossing=False))
def test_reads_graphs_that_were_written(format, crossing, plain):
    (first, second), _ = read_as(format.split()[0], WRITTEN[format](crossing, plain))
    assert first.tree == as_tree(naively_raised(crossing))
    assert second.tree == as_tree(plain)


def test_deep_trees():
    (sentence,), _ = read_as("sinica", "S(" * 20_000 + "a:b:c" + ")" * 20_000)
    assert sentence.words == ("c",)
    rows = [f"#{n}\tX\t--\t--\t{n + 1}" for n in range(500, 20_500)]
    text = "\n".join(["#BOS 1", "a\tW\t--\t--\t500", *rows, "#20500\tX\t--\t--\t0", "#EOS 1"])
    (sentence,), _ = read_as("export", text)
    assert sentence.words == ("a",)
