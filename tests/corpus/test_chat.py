"""CHAT transcripts: lines, headers, speakers; and each code of main lines."""

import re

import pytest
from hypothesis import given

from dbpcfg.corpus.readers import AgeRange, Speakers, chat
from dbpcfg.corpus.readers.chat import LEFT_OUT, clean_utterance
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.errors import DbpcfgError
from tests.corpus.helpers import read_as, texts
from tests.corpus.samples import CHAT


def read(text=CHAT, **options):
    return read_as("chat", text, "f.cha", **options)


def words(text=CHAT, **options):
    return [" ".join(sentence.words) for sentence in read(text, **options)[0]]


def test_a_transcript():
    sentences, source = read()
    assert sentences == [
        Sentence(
            ("yes", ",", "that's", "the", "kitty", "on", "the", "mat", "."),
            speaker="MOT",
            source="f.cha",
            line=11,
        ),
        Sentence(("look", "!"), speaker="MOT", source="f.cha", line=18),
        Sentence(("me", "too", "."), speaker="CHI", source="f.cha", line=20),
    ]
    assert source.removed == {
        LEFT_OUT: 3,
        "utterances of KID": 1,
        "utterances with untranscribed words only": 1,
    }


@pytest.mark.parametrize(
    ("speakers", "speaking"),
    [
        (Speakers(), ["MOT", "MOT", "CHI"]),
        (Speakers(exclude=()), ["KID", "MOT", "MOT", "CHI"]),
        (Speakers(include=("MOT",)), ["MOT", "MOT"]),
        (Speakers(include=("mother",)), ["MOT", "MOT"]),
        (Speakers(include=("Ada", "Mother"), exclude=("MOT",)), ["KID"]),
        (Speakers(include=("Target_Child",)), ["KID"]),
        (Speakers(exclude=("Target_Child", "CHI")), ["MOT", "MOT"]),
        (Speakers(include=("Bo_Li",)), []),
    ],
)
def test_speakers(speakers, speaking):
    assert [sentence.speaker for sentence in read(speakers=speakers)[0]] == speaking
    assert {"KID", "Ada", "Target_Child", "MOT", "Mother", "CHI"} <= set(speakers.seen)
    assert "Child" not in speakers.seen


def test_the_target_child_is_known_from_either_header():
    either = [
        "@Participants:	AAA Target_Child , CHI Child\n",
        "@ID:	eng|x|AAA|||||Target_Child|||\n",
        "@Participants:	AAA Al Target_Child\n@ID:	eng|x|AAA|||||Target_Child|||\n",
    ]
    for header in either:
        assert words(f"@Begin\n{header}*AAA:\ta .\n*CHI:\tb .\n@End") == ["b ."]


def test_without_roles_the_target_child_is_chi():
    for header in ("", "@Participants:	CHI , MOT\n", "@ID:	broken|CHI\n", "@Participants:\n"):
        assert words(f"@Begin\n{header}*AAA:\ta .\n*CHI:\tb .\n@End") == ["a ."]


@pytest.mark.parametrize(
    ("ages", "number"), [("24-26", 3), ("2;01-", 3), ("-25", 3), ("-24", 0), ("25.1-", 0)]
)
def test_the_age_of_the_target_child(ages, number):
    found, source = read(ages=AgeRange.parse(ages))
    assert len(found) == number
    outside = source.removed[f"utterances at ages outside {ages}"]
    assert outside == (0 if number else 4)  # the child's own is not counted twice


def test_without_an_age_nothing_is_of_that_age():
    found, source = read(CHAT.replace("2;1.", ""), ages=AgeRange.parse("1-99"))
    assert not found
    assert source.removed["utterances of transcripts without an age"] == 4


def test_transcripts_may_follow_each_other():
    second = "@UTF8\n@Begin\n@Participants:\tMOT Target_Child\n*MOT:\tme .\n*KID:\tyou .\n@End\n"
    assert words(CHAT + second) == [*words(), "you ."]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.rstrip("\n"),
        lambda text: "\n" + text,
        lambda text: text.replace(":\t", ": "),
        lambda text: text.replace("\n\t", "\n   "),
    ],
)
def test_shapes_of_lines(change):
    assert words(change(CHAT)) == words()


def test_nothing_after_the_colon():
    sentences, source = read("@Begin\n*MOT:\n*MOT:\t\n@End")
    assert sentences == []
    assert source.removed == {"utterances without words": 2}


@given(texts(CHAT, "@*%:\n\t <>[]"))
def test_every_utterance_of_any_text_is_read_or_counted(text):
    try:
        found, source = read(text)
    except DbpcfgError:
        return
    lines = text.removeprefix("\ufeff").split("\n")
    assert len(found) + source.removed.total() - source.removed[LEFT_OUT] == sum(
        line.startswith("*") for line in lines
    )
    for sentence in found:
        assert lines[sentence.line - 1].startswith(f"*{sentence.speaker}:")


def test_a_transcript_that_is_cut_off_is_read_to_its_end():
    text = "@Begin\n*MOT:\tyes .\n@Begin\n*MOT:\tno .\n"
    found, source = read(text, skip_broken=True)
    assert [sentence.words for sentence in found] == [("yes", "."), ("no", ".")]
    assert [part.line for part in source.skipped] == [3, 3]
    found, source = read("@End\n" + text + "@End", skip_broken=True)
    assert len(found) == 2
    assert [part.line for part in source.skipped] == [1, 4]
    with pytest.raises(DbpcfgError, match="found no @Begin"):
        read("@UTF8\n", skip_broken=True)


# --- main lines -----------------------------------------------------------------------------------

CASES = {
    # retracing
    "the [/] the cat .": "the cat .",
    "<the cat> [/] the cat .": "the cat .",
    "<it is> [//] it was [///] will be .": "it will be .",
    "<I want> [/-] go [/?] stop .": "stop .",
    "<I <want to> [/] want> [//] I need it .": "I need it .",
    "<a <b>> [/] c <d> [?] .": "c d .",
    "<the cat>[/] the cat.": "the cat .",
    "I have 1.+": "I have 1 .",
    "I have +1.+": "I have 1 .",
    "a dog.^": "a dog .",
    "the [?] [/] the cat .": "the cat .",
    "the (.) [/] the cat .": "the cat .",
    "well , [/] well , yes .": "well , yes .",
    "&-uh [/] the cat .": "the cat .",
    "<a b> [e] c .": "c .",
    "[/] yes .": "yes .",
    "<> [/] yes .": "yes .",
    "<yes> [/] <yes> [/] yes .": "yes .",
    # replacements
    "he goed [: went] [*] home .": "he went home .",
    "<he goed> [: he went] home .": "he went home .",
    "whyncha [: why don't you] go ?": "why don't you go ?",
    "a [: b , c] [//] d .": "d .",
    "goed [: xxx] home .": "home .",
    "[: went] home .": "went home .",
    "piece [:: peach] pie .": "piece pie .",
    # other codes
    "what [= the toy] is that [=! whispers] [?] ?": "what is that ?",
    "cat [!] dog [!!] [% looks] [>] [<] [>1] [*] [* p:w] .": "cat dog .",
    "[- spa] hola [+ exc] .": "hola .",
    "woof [x 3] ( ) .": "woof .",
    "dog . [+ bch]": "dog .",
    'cat [=? hat] [# 2.1] [^ x] [$ y] ["] [] .': "cat .",
    "<a b> [=! laughing] c .": "a b c .",
    # what nobody said
    "&-um &+fr &=laughs:loud,long &~x &um the cat &*MOT:yes .": "the cat .",
    "0is he 0 going xxx yyy www xx ?": "he going ?",
    "(.) so (..) (...) (1.5) (2:03.5) (1.) # ##2 yes .": "so yes .",
    # words
    "(be)cause sit(ting) (you) (un)til .": "because sitting you until .",
    "woof@o b@l hola@s:spa bird@c x@z:y@q .": "woof b hola bird x .",
    "run$v fast .": "run fast .",
    "ice+cream ice_cream choo+choo+train .": "ice_cream ice_cream choo_choo_train .",
    "no:: ba^by ↑yes↓ ∙well ˈtwo ˌone °soft° .": "no baby yes well two one soft .",
    "⌈2 yes ⌉2 ≈no↫b-b↫boy sit(.)ting .": "yes noboy sitting .",
    '“hello” she said "yes" ‹x› .': "hello she said yes x .",
    "dog's don't uh-oh o'clock don’t .": "dog's don't uh-oh o'clock don’t .",
    "two \x02\x01cats\x02\x02 .": "two cats .",
    "犬 été naïve .": "犬 été naïve .",
    # punctuation
    "yes ‡ Mary „ right ?": "yes , Mary , right ?",
    "well ,, you know , dear; look : here !": "well , you know , dear ; look : here !",
    "hello,there .": "hello , there .",
    "and then +...": "and then ...",
    "and then +..?": "and then ?",
    "what +!?": "what ?",
    "stop +/.": "stop .",
    "stop +//.": "stop .",
    "stop +/?": "stop ?",
    "stop +//?": "stop ?",
    "stop +.": "stop .",
    'she said +"/.': "she said .",
    'she said +".': "she said .",
    '+" go away !': "go away !",
    "+< yes .": "yes .",
    "+<yes .": "yes .",
    "++ and +, so +^ yes +≈ no .": "and so yes no .",
    "dog.": "dog .",
    "dog...": "dog ...",
    "dog?!": "dog !",
    "dog+...": "dog ...",
    "U.S. cars .": "U.S. cars .",
    "go . go .": "go . go .",
    "no end": "no end",
    "dog . \x15100_200\x15": "dog .",
    "dog \x15100_200\x15 cat .": "dog cat .",
    "dog \x15 .": "dog .",
}


@pytest.mark.parametrize(("line", "words"), CASES.items(), ids=CASES)
def test_cleaning(line, words):
    assert clean_utterance(line)[:2] == (tuple(words.split()), "")


@pytest.mark.parametrize(
    ("line", "number"),
    [("the [/] the dog .", 1), ("<it is> [//] it's &-um here +...", 3), ("&=laughs xxx 0is yes", 3),
     ("(.) # yes +/.", 0), ("goed [: went] [*] home .", 0), ("<a <b> [/] b> [//] c .", 3)],
)  # fmt: skip
def test_what_is_left_out_is_counted(line, number):
    assert clean_utterance(line).left_out == number


EMPTY = {
    "": "utterances without words",
    ".": "utterances without words",
    "0 .": "utterances without words",
    "0 [=! cries] .": "utterances without words",
    "&=laughs &-um , !": "utterances without words",
    "the [/] .": "utterances without words",
    "“ ” ↑ .": "utterances without words",
    "xxx .": "utterances with untranscribed words only",
    "xxx yyy@s:spa .": "utterances with untranscribed words only",
    "&=laughs WWW [=! sings] !": "utterances with untranscribed words only",
    "ok ] .": "utterances with brackets that do not match",
    "ok [ .": "utterances with brackets that do not match",
    "ok [= a [= b] c] .": "utterances with brackets that do not match",
    "<ok .": "utterances with brackets that do not match",
    "ok> .": "utterances with brackets that do not match",
    "> ok < .": "utterances with brackets that do not match",
}


@pytest.mark.parametrize(("line", "reason"), EMPTY.items(), ids=EMPTY)
def test_without_words(line, reason):
    assert clean_utterance(line)[:2] == ((), reason)


@pytest.mark.parametrize(
    "line",
    ["<a " * 80_000 + "> [/] b " * 80_000, "[" * 200_000, '+"' * 200_000, "." * 200_000],
    ids=["scopes", "brackets", "quotes", "stops"],
)
def test_long_lines_take_linear_time(line):
    clean_utterance(line)


@given(texts(" ".join([*CASES, *EMPTY]), '<>[]()/:+&0@." ,x\x15'))
def test_any_line_gives_clean_words_or_a_reason(line):
    words, why_empty, _ = clean_utterance(line)
    assert bool(words) != bool(why_empty)
    for word in words:
        assert word.split() == [word]
        assert not set(word) & set('[]<>()\x15"“”^@')
        assert any(map(str.isalnum, word)) or word in (".", "?", "!", "...", ",", ";", ":")
    assert clean_utterance(" ".join(words)).words in (words, ())


@pytest.mark.parametrize(
    "line",
    ["the dog's here", " thank_you  Élan o'clock ", "xxx", "a XXX b", "yy", "xxxl www_x", "0is it",
     "a , b", "it's", "", "_x y", "' a", "a_", "xx's", "\u02c8a b"],
)  # fmt: skip
def test_plain_words_are_cleaned_in_the_same_way(line, monkeypatch):
    found = clean_utterance(line)
    monkeypatch.setattr(chat, "_PLAIN", re.compile("(?!)"))
    assert clean_utterance(line) == found
