"""One note about a text that is not ready, and none about a text that is."""

import warnings

import pytest

import dbpcfg
from dbpcfg.corpus.checks import TextCheck, check_text, has_attached_punctuation
from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.trees.brackets import read_tree

UNSPLIT = "is the text split into words?"
ATTACHED = "have punctuation attached, such as"
BRACKETS = "give --brackets text to induce or parse (in Python brackets='text')"
DIFFERENT = "words are different"
NOTES = (UNSPLIT, ATTACHED, BRACKETS, DIFFERENT)

JAPANESE = [
    "今日は天気がいいですね。",
    "猫が好きです。",
    "明日は学校に行きます。",
    "お茶を飲みました。",
]
RAW = ["Look, the dog barks.", "What is that?", "It's a cat, I think.", "Where did it go?"]
HAWAIIAN = ["he [mele nui] kēia", "ua ['ike au] i [ka wahine]", "[aloha kāua]", "hele ia"]
ORDINARY = [
    "the dog barks .",
    "what 's that ?",
    "the dogs ' cat -- a tabby -- sleeps , I think .",
    "Mr. Smith went to Smith and Co. in the U.S. in Oct. last year .",
    "put the the dog there",
]


def sentences(lines: list[str], number: int) -> list[Sentence]:
    """That many sentences, made of these lines."""
    return [Sentence(tuple(lines[n % len(lines)].split())) for n in range(number)]


def noted(given: list[Sentence]) -> list[str]:
    """Which notes are said of a text to learn from."""
    said = TextCheck().update(given) or ""
    return [note for note in NOTES if note in said]


@pytest.mark.parametrize("number", [5, 20, 99, 250, 1000])
@pytest.mark.parametrize(
    ("lines", "note"),
    [
        (JAPANESE, UNSPLIT),
        (["今日は、 天気がいいですね 。", "明日は、 学校に行きます 。"], UNSPLIT),
        (["ฉันชอบกินข้าวผัดมาก", "วันนี้อากาศดี"], UNSPLIT),
        (["lookatthedoggy", "whatisthisthing"], UNSPLIT),
        (RAW, ATTACHED),
        (["¿Qué es eso?", "«Oui», dit-il."], ATTACHED),
        (HAWAIIAN, BRACKETS),
        ([*HAWAIIAN, "a broken [one", "so, that is that."], BRACKETS),
        (["[ the dog ] barks .", "it barks ."], BRACKETS),
    ],
)
def test_one_note_that_fits_a_text_of_any_size(lines, note, number):
    assert noted(sentences(lines, number)) == [note]


@pytest.mark.parametrize("number", [1, 3, 10, 100, 1000])
@pytest.mark.parametrize(
    "lines",
    [
        ORDINARY,
        ["'o ka 'ohana kēia", "ua hele 'o ia", "no ka mo'o"],  # apostrophes are letters
        ["walk -ed home", "pre- fix -es it"],  # morphemes
        ["the <unk> barks", "a [laughs] dog", "N <unk> of [noise]"],
        ["the dog [= the black one] barks", "<the dog> [/] the dog barks ."],  # codes of CHAT
        ["猫 が 好き です 。", "コンピューター は 高い"],
        ["goodness", "oh dear", "hello"],
        ["a broken [one here", "another] one"],
    ],
)
def test_no_note_about_an_ordinary_text(lines, number):
    assert noted(sentences(lines, number)) == []


def test_words_that_are_not_repeated():
    def fresh(number: int) -> list[Sentence]:
        return [Sentence((f"v{n}", f"w{n}")) for n in range(number)]

    assert noted(fresh(49)) == []  # of so few words most are different in any text
    assert noted(fresh(50)) == [DIFFERENT]
    assert noted(fresh(400)) == [DIFFERENT]
    assert noted(fresh(400) + sentences(["a b"], 250)) == []


def test_a_treebank_has_its_words():
    tree = read_tree("(S (N what,) (V barks.))")
    assert noted([Sentence.from_tree(tree)] * 20) == []
    assert noted([Sentence(tree.words())] * 20) == [ATTACHED]


def test_what_is_attached():
    for word in ("dog,", "that?", '"dog', "(dog)", "dog.", "狗。", "कुत्ता।", "'dog,'"):
        assert has_attached_punctuation(word), word
    for word in (
        "dog",
        "dogs'",
        "'em",
        "don't",
        "-ed",
        "Mr.",
        "<unk>",
        "[dog]",
        "*dog",
        "...",
        "$5",
    ):
        assert not has_attached_punctuation(word), word


def test_a_text_that_is_prepared_gets_no_note():
    for lines, how in ((RAW, {"tokens": "punctuation"}), (HAWAIIAN, {"brackets": "text"})):
        seen = Preprocessing(**how).apply
        assert noted(list(map(seen, sentences(lines, 40)))) == []


def kind(word: str) -> str:
    return "word" if word in ("what", "is", "that", "?", "dog", "barks") else "unknown"


@pytest.mark.parametrize(
    ("lines", "note"),
    [
        (["what is that?"], "the model does not know 1 of 3 words because punctuation is attached"),
        (["that?"], "does not know 1 of 1 word because"),
        (["is that [what barks]"], BRACKETS),
        (["what is wrong"], None),
        (["nothing at all"], "the model does not know 3 of 3 words, such as 'nothing'"),
        (JAPANESE * 2, UNSPLIT),
        (["barks"] * 9, None),
    ],
)
def test_a_text_for_a_model_is_judged_by_what_it_knows(lines, note):
    said = TextCheck(kind).update(sentences(lines, len(lines)))
    assert said is None if note is None else note in said


def test_the_note_comes_before_the_sentences_and_once():
    events: list[str] = []
    text = [None, *sentences(["what is"], 3), *sentences(["that?"], 5)]
    for one in check_text(iter(text), kind, events.append, batch_size=3):
        events.append("" if one is None else one.words[0])
    assert events[3].startswith("the model does not know 2 of 8 words because punctuation")
    assert events[:3] + events[4:] == ["" if one is None else one.words[0] for one in text]
    assert len(events) == len(text) + 1


@pytest.mark.parametrize(("lines", "note"), [(RAW, "attached"), (JAPANESE, "split into words")])
def test_python_warns_at_the_line_that_calls(lines, note):
    with pytest.warns(UserWarning, match=note) as caught:
        run = dbpcfg.induce(lines * 25, K=2, iterations=2, chains=1, tokens="space")
    assert [one.filename for one in caught] == [__file__]
    known = run.model.parse([line.split() for line in lines])
    assert known
    calls = (run.parse, run.model.parse, run.model.parses, run.model.probability)
    for call in (*calls, run.model.surprisal):
        with pytest.warns(UserWarning, match="does not know 4 of 4 words, such as 'zzz'") as caught:
            call(["zzz zzz", "zzz zzz"])
        assert [one.filename for one in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (*calls, run.model.surprisal):
            call(["zzz zzz"], quiet=True)


WHOLE, SPLIT = "that's it don't you can", "that 's do n't can it you"


def noted_of(known: str, line: str, **options) -> str:
    """The note about a line for a model that knows some words."""
    known_words = set(known.split())
    check = TextCheck(lambda word: "word" if word.lower() in known_words else "unknown")
    return check.update([Sentence(tuple(line.split()), **options)]) or ""


def test_contracted_forms_that_the_model_knows_otherwise():
    note = noted_of(SPLIT, "That's it you don't can you it")
    assert '2 of 7 words are contracted forms, such as "That\'s"' in note
    assert "give --tokens penn (in Python tokens='penn')" in note
    assert "--tokens penn" in noted_of(SPLIT, "can you, that's.")
    note = noted_of(WHOLE, "that 's it you do n't can", tags=("X",) * 7)
    assert '2 of 7 words are split contracted forms, such as "that \'s"' in note
    assert "induce --tokens penn" in note


@pytest.mark.parametrize(
    ("known", "line"),
    [(SPLIT, "that 's it"), (WHOLE, "that's it"), (WHOLE + SPLIT, "that 's it that's"),
     (SPLIT, "you're it you can"), (WHOLE, "you 're it you can")],
)  # fmt: skip
def test_contracted_forms_that_say_nothing(known, line):
    assert "contracted" not in noted_of(known, line)
