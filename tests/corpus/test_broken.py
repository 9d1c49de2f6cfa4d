"""Broken files, in every format: the error names file and line, and what is broken is skipped."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbpcfg.errors import DbpcfgError
from tests.corpus.helpers import read_as, texts
from tests.corpus.samples import (
    ALPINO_GAPS,
    ALPINO_SENTENCE,
    CESS,
    CHAT,
    CONLLU,
    EXPORT,
    EXPORT_4,
    PENN,
    SINICA,
    TIGER_HEAD,
    TIGER_SENTENCE,
    TIGER_TAIL,
    alpino,
    block,
    row,
)

ALPINO_ERRORS = {
    "missing word": ((' begin="1" end="2" id="4"', ' begin="9"'), 3, "found the word ',' at 2"),
    "word twice": (('<node begin="1"', '<node begin="4"'), 9, "found a second word at 4"),
    "no place": (
        ('<node begin="1"', "<node"),
        6,
        "found the position begin='' of a word, expected",
    ),
    "odd place": (('<node begin="1"', '<node begin="-1"'), 6, "found the position begin='-1'"),
    "no category": ((' cat="inf"', ""), 7, "found a <node> with nodes in it and no cat"),
    "nothing": ((' index="1" rel="su"/>', "/>"), 8, "found a <node> without word, nodes and index"),
    "empty word": (('word="zag"', 'word=""'), 6, "found an empty word"),
    "two tops": (("  <sentence>", "<node/><sentence>"), 1, "found 2 <node> in <alpino_ds>"),
    "not well-formed": (('rel="hd" word="zag"/>', 'word="zag">'), 16, "found XML that is not w"),
    "cut off": (("</alpino_ds>", ""), 0, "found XML that is not well-formed"),
}
EDGE = '<edge label="NK" idref="s1_1"/>'
TIGER_ERRORS = {
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
BLOCK = "#BOS 7\na\tW\t--\t--\t500\n#500\tNP\t--\t--\t0\n#EOS 7\n"
EXPORT_ERRORS = {
    "cycle": (BLOCK.replace("--\t0\n", "--\t500\n"), 3, "found 'NP' in a cycle"),
    "missing node": (BLOCK.replace("--\t500", "--\t501"), 2, "found the parent 501, expected 0"),
    "node twice": (BLOCK.replace("#EOS", "#500\tNP\t--\t--\t0\n#EOS"), 4, "found #500 again"),
    "no parent": (BLOCK.replace("\t500", ""), 2, "found no number of a parent in 'a W -- --'"),
    "missing word": (BLOCK.replace("a\tW", "W"), 2, "found no number of a parent in 'W -- --"),
    "no end": (BLOCK.replace("#EOS 7\n", ""), 1, "found no #EOS after this #BOS"),
    "other end": (BLOCK.replace("#EOS 7", "#EOS 8"), 4, "found #EOS '8', expected '7'"),
    "outside": ("the dog\nthe cat\n", 1, "found 'the dog' outside a sentence, expected #BOS"),
    "other version": ("#FORMAT 5\n", 1, "found #FORMAT '5', expected version 3 or 4"),
}
SINICA_ERRORS = [
    ("#1:1.[1] S(Head:Nba:a", "found the end of the line, expected 1 more ')'"),
    ("#1:1.[1] S(NP(Head:Nba:a)#。(X)", "found '#。(X)', expected '|' or ')'"),
    ("#1:1.[1] S(Head:Nba:a))#", "found ')#' after the tree, expected '#'"),
    ("#1:1.[1] S(Head:Nba:a)#。", "found '#。' after the tree"),
    ("#1:1.[1] S(Head:Nba:a|)", "found '', expected a word such as"),
    ("#1:1.[1] S()", "found '', expected a word such as"),
    ("#1:1.[1] S(Head)", "found 'Head', expected a word such as"),
    ("#1:1.[1] S(Head:Nba:)", "found 'Head:Nba:', expected a word such as"),
    ("#1:1.[1] S(Head:Nba:a b)", "found 'Head:Nba:a b', expected a word such as"),
    ("#1:1.[1] S(agent:(Head:Nba:a))", "found the label 'agent:', expected one such as"),
    ("#1:1.[1] S(a: NP(Head:Nba:a))", "found the label 'a: NP', expected one such as"),
    ("the dog", "found the end of the line, expected a label and '('"),
    (")", "found ')', expected a label and '('"),
]
CONLLU_ERRORS = {
    "nine columns": (row(1)[:-2], 1, "found 9 tab-separated columns in '1\\tx"),
    "eleven columns": (row(1) + "\t_", 1, "found 11 tab-separated columns"),
    "spaces": ("1 x _ X", 1, "found 1 tab-separated column in '1 x _ X', expected 10"),
    "a tab": (block(row(1)) + "\t", 3, "found 2 tab-separated columns"),
    "no form": (row(1, ""), 1, "found nothing in column FORM, expected at least '_'"),
    "blank form": (row(1, "\xa0"), 1, "found nothing in column FORM"),
    "no tag": (row(1, "x", ""), 1, "found nothing in column UPOS"),
    "no number": (row("a"), 1, "found the ID 'a', expected a number, like 1"),
    "negative": (row("-1"), 1, "found the ID '-1'"),
    "Arabic digits": (row("١"), 1, "found the ID '١'"),
    "huge": (row("9" * 5000), 1, "found the ID '99999999999999999999', expected"),
    "from 0": (row(0), 1, "found the ID 0, expected the word 1"),
    "from 2": (row(2), 1, "found the ID 2, expected the word 1"),
    "a gap": (block(row(1), row(3)), 2, "found the ID 3, expected the word 2"),
    "no blank line": (block(row(1), row(1)), 2, "or the blank line between two sentences?"),
    "comment inside": (row(1) + "\n# text = x", 2, "a comment inside a sentence"),
    "range backwards": (row("2-1"), 1, "found the ID 2-1"),
    "range elsewhere": (block(row(1), row("3-4")), 2, "found the ID 3-4"),
    "range inside another": (block(row("1-3"), row(1), row("2-3")), 3, "found the ID 2-3"),
    "empty node elsewhere": (block(row(1), row("2.1")), 2, "found the ID 2.1"),
    "empty nodes from 2": (block(row(1), row("1.2")), 2, "found the ID 1.2"),
    "range cut off": (block(row("1-2"), row(1)), 3, "after 1 word, expected word 2; is the file"),
    "no words": (block(row("0.1")), 2, "after 0 words, expected word 1"),
}
CHAT_ERRORS = {
    "text": ("the cat sat .\n", 1, "found 'the cat sat .', expected a line that begins with @"),
    "nothing": ("", 1, "found no @Begin, expected a CHAT transcript"),
    "headers only": ("@UTF8\n@Languages:\teng\n", 1, "found no @Begin"),
    "no @Begin": ("@UTF8\n*MOT:\thi .\n", 2, "found an utterance of MOT, expected @Begin before"),
    "no @Begin but @End": ("@UTF8\n@End\n", 2, "found @End, expected @Begin before it"),
    "cut off": (CHAT.replace("@End\n", ""), 3, "found no @End after this @Begin, expected one"),
    "twice begun": ("@Begin\n@Begin\n", 2, "found a second @Begin, expected @End after line 1"),
    "after the end": (CHAT + "*MOT:\thi .", 22, "found an utterance of MOT, expected @Begin"),
    "no colon": ("@Begin\n*MOT hi .\n", 2, "found '*MOT hi .', expected a speaker and a colon"),
    "no code": ("@Begin\n*: hi .\n", 2, "found '*: hi .', expected a speaker"),
    "garbage": (CHAT.replace("%com", "com"), 14, "found 'com:\\tpoints at it ,', expected a line"),
    "continues nothing": ("\thello\n@Begin", 1, "found '\\thello', expected a line"),
}
PENN_ERRORS = {
    "unclosed": ("(V go)\n(S (V go)", "2:1", "found the end of the text"),
    "no tree": ("no tree", "1:1", "found 'no tree' outside"),
}


def cases():
    """The format, a text with one mistake, its line, what is said, and the lines to skip."""
    for name, ((before, after), line, message) in ALPINO_ERRORS.items():
        assert before in ALPINO_SENTENCE
        wrong = ALPINO_SENTENCE.replace(before, after)
        text = alpino(ALPINO_SENTENCE, wrong, ALPINO_SENTENCE)
        yield "alpino", name, text, line + 18 if line else r"\d+", message, None
    lines = TIGER_SENTENCE.count("\n")
    for name, ((before, after), line, message) in TIGER_ERRORS.items():
        assert before in TIGER_SENTENCE
        wrong = TIGER_SENTENCE.replace(before, after, 1 if before == "</nt>\n<nt" else 2)
        text = TIGER_HEAD + TIGER_SENTENCE + wrong + TIGER_SENTENCE + TIGER_TAIL
        yield (
            *("tigerxml", name, text, line + 4 + lines, message),
            (5 + lines, 4 + lines + wrong.count("\n")),
        )
    for name, (wrong, line, message) in EXPORT_ERRORS.items():
        skipped = (5, 4 + wrong.count("\n"))
        yield "export", name, BLOCK + wrong, line + 4, message, skipped
    for wrong, message in SINICA_ERRORS:
        text = SINICA + wrong + "\n" + SINICA
        yield "sinica", wrong, text, 5, message, (5, 5)
    for name, (wrong, line, message) in CONLLU_ERRORS.items():
        yield "conllu", name, wrong, line, message, None
        yield "conllu", f"{name}, later", CONLLU + wrong, line + CONLLU.count("\n"), message, None
    for name, (text, line, message) in CHAT_ERRORS.items():
        yield "chat", name, text, line, message, None
    for name, (text, line, message) in PENN_ERRORS.items():
        yield "penn", name, text, line, message, None
    yield "cess", "unclosed", CESS + "(S (a b b)\n", "17:1", "found the end of the text", (17, 17)


CASES = {f"{format}, {name}": (format, *rest) for format, name, *rest in cases()}


@pytest.mark.parametrize(("format", "text", "line", "message", "lines"), CASES.values(), ids=CASES)
def test_the_error_names_file_and_line(format, text, line, message, lines):
    with pytest.raises(DbpcfgError) as caught:
        read_as(format, text)
    said = str(caught.value)
    assert re.match(rf"f:{line}: found ", said), said
    assert message in said
    assert len(said) < 400
    assert "--skip-broken" in said or "found no @Begin" in said
    try:
        found, source = read_as(format, text, skip_broken=True)
    except DbpcfgError:  # nothing is left
        assert format == "chat"
        return
    assert source.skipped
    assert source.removed.total() >= len(source.skipped)
    for part in source.skipped:
        assert not any(part.line <= sentence.line <= part.last_line for sentence in found)
    if lines is not None:
        assert [(part.line, part.last_line) for part in source.skipped] == [lines]
        assert found


def test_a_missing_end_breaks_one_sentence():
    text = BLOCK.replace("#EOS 7\n", "") + BLOCK
    found, source = read_as("export", text, skip_broken=True)
    assert [sentence.line for sentence in found] == [4]
    assert source.skipped[0].reason == "f:4: found #BOS, expected #EOS '7' first"


@pytest.mark.parametrize(
    "edges", [('"b"', '<edge idref="a"/><edge idref="t"/>'), ('"a"', '<edge idref="t"/>')]
)
def test_cycles(edges):
    text = """<s><graph><terminals><t id="t" word="w" pos="W"/></terminals>
<nonterminals>
<nt id="a" cat="A"><edge idref={}/></nt>
<nt id="b" cat="B">{}</nt></nonterminals></graph></s>"""
    with pytest.raises(DbpcfgError, match="f:3: found 'A' in a cycle of constituents, expected"):
        read_as("tigerxml", text.format(*edges))


FUZZED = {
    "alpino": (alpino(ALPINO_SENTENCE, ALPINO_GAPS), '<>/="0123 \n&'),
    "tigerxml": (TIGER_HEAD + TIGER_SENTENCE + TIGER_SENTENCE + TIGER_TAIL, '<>/="s1_ \n&'),
    "export": (EXPORT + EXPORT_4, "#0125\t\n-%BEOS"),
    "sinica": (SINICA, "()|#:\nab"),
    "penn": (PENN, "()-=< \nNP*"),
    "cess": (CESS, "()-=< \nNP*"),
    "conllu": (CONLLU, "0123.-_#\t\n\r"),
    "chat": (CHAT, "@*%:\n\t <>[]"),
}


def attempt(format, text, **options):
    """The sentences or the error, and the parts that were skipped."""
    try:
        sentences, source = read_as(format, text, **options)
    except DbpcfgError as error:
        return str(error), []
    return sentences, source.skipped


@pytest.mark.parametrize("format", FUZZED)
@settings(max_examples=200)
@given(st.data())
def test_any_text_is_sentences_or_an_error(format, data):
    text = data.draw(texts(*FUZZED[format]))
    strict, _ = attempt(format, text)
    found, skipped = attempt(format, text, skip_broken=True)
    assert isinstance(strict, str) if isinstance(found, str) or skipped else strict == found
    messages = [message for message in (strict, found) if isinstance(message, str)]
    for message in [*messages, *(part.reason for part in skipped)]:
        assert re.match(r"f(:\d+)*: found ", message)
    for sentence in [] if isinstance(found, str) else found:
        assert sentence.words
        if sentence.tree is not None:
            assert sentence.tree.words() == list(sentence.words)
            str(sentence.tree)
