"""CHAT transcripts: lines, headers, speakers, errors."""

import re
from collections import Counter

import pytest
from hypothesis import given

from dbpcfg.corpus.readers.chat import Speakers, read_chat
from dbpcfg.corpus.sentence import Notes, Sentence
from dbpcfg.errors import DbpcfgError
from tests.corpus.fuzz import texts

GOOD = """\
@UTF8
@PID:	1/2
@Begin
@Languages:	eng
@Participants:	KID Ada Target_Child , MOT Mother ,
	INV Bo_Li Investigator
@ID:	eng|made|KID|2;1.|female|||Target_Child|||
@ID:	eng|made|MOT|||||Mother|||
*KID:	kitty !
%mor:	n|kitty !
*MOT:	yes , that's the
	kitty &=laughs
	on the mat .
%com:	points at it ,
	twice
*INV:	xxx .
@Comment:	a break
*MOT:	<look at> [/] look [?] !

*CHI:	me too .
@End
"""


def read(text=GOOD, **options):
    return list(read_chat(text, "f.cha", **options))


def words(text=GOOD, **options):
    return [" ".join(sentence.words) for sentence in read(text, **options)]


def test_a_transcript():
    dropped = Counter()
    assert read(dropped=dropped) == [
        Sentence(
            ("yes", ",", "that's", "the", "kitty", "on", "the", "mat", "."),
            speaker="MOT",
            source="f.cha",
            line=11,
        ),
        Sentence(("look", "!"), speaker="MOT", source="f.cha", line=18),
        Sentence(("me", "too", "."), speaker="CHI", source="f.cha", line=20),
    ]
    assert dropped == {
        "utterances of KID": 1,
        "utterances with untranscribed words only": 1,
    }


@pytest.mark.parametrize(
    ("speakers", "speaking"),
    [
        (Speakers(), ["MOT", "MOT", "CHI"]),
        (Speakers(without=()), ["KID", "MOT", "MOT", "CHI"]),
        (Speakers(only=("MOT",)), ["MOT", "MOT"]),
        (Speakers(only=("mother",)), ["MOT", "MOT"]),
        (Speakers(only=("Ada", "Mother"), without=("MOT",)), ["KID"]),
        (Speakers(only=("Target_Child",)), ["KID"]),
        (Speakers(without=("Target_Child", "CHI")), ["MOT", "MOT"]),
        (Speakers(only=("Bo_Li",)), []),
    ],
)
def test_speakers(speakers, speaking):
    assert [sentence.speaker for sentence in read(speakers=speakers)] == speaking
    assert {"KID", "Ada", "Target_Child", "MOT", "Mother", "CHI"} <= set(speakers.heard)
    assert "Child" not in speakers.heard


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


def test_transcripts_may_follow_each_other():
    second = "@UTF8\n@Begin\n@Participants:\tMOT Target_Child\n*MOT:\tme .\n*KID:\tyou .\n@End\n"
    assert words(GOOD + second) == [*words(), "you ."]


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
    assert words(change(GOOD)) == words()


def test_nothing_after_the_colon():
    dropped = Counter()
    assert read("@Begin\n*MOT:\n*MOT:\t\n@End", dropped=dropped) == []
    assert dropped == {"utterances without words": 2}


ERRORS = {
    "text": ("the cat sat .\n", 1, "found 'the cat sat .', expected a line that begins with @"),
    "nothing": ("", 1, "found no @Begin, expected a CHAT transcript"),
    "headers only": ("@UTF8\n@Languages:\teng\n", 1, "found no @Begin"),
    "no @Begin": ("@UTF8\n*MOT:\thi .\n", 2, "found an utterance of MOT, expected @Begin before"),
    "no @Begin but @End": ("@UTF8\n@End\n", 2, "found @End, expected @Begin before it"),
    "cut off": (GOOD.replace("@End\n", ""), 3, "found no @End after this @Begin, expected one"),
    "twice begun": ("@Begin\n@Begin\n", 2, "found a second @Begin, expected @End after line 1"),
    "after the end": (GOOD + "*MOT:\thi .", 22, "found an utterance of MOT, expected @Begin"),
    "no colon": ("@Begin\n*MOT hi .\n", 2, "found '*MOT hi .', expected a speaker and a colon"),
    "no code": ("@Begin\n*: hi .\n", 2, "found '*: hi .', expected a speaker"),
    "garbage": (GOOD.replace("%com", "com"), 14, "found 'com:\\tpoints at it ,', expected a line"),
    "continues nothing": ("\thello\n@Begin", 1, "found '\\thello', expected a line"),
}


@pytest.mark.parametrize(("text", "line", "message"), ERRORS.values(), ids=ERRORS)
def test_errors_say_where_and_what(text, line, message):
    with pytest.raises(DbpcfgError) as caught:
        read(text)
    assert str(caught.value).startswith(f"f.cha:{line}: found ")
    assert message in str(caught.value)
    assert "between the lines @Begin and @End" in str(caught.value)


@given(texts(GOOD, "@*%:\n\t <>[]"))
def test_any_text_is_a_transcript_or_an_error(text):
    dropped = Counter()
    try:
        found = read(text, dropped=dropped)
    except DbpcfgError as error:
        found = str(error)
    if isinstance(found, str):
        assert re.match(r"f\.cha:\d+: found ", found)
        return
    lines = text.removeprefix("\ufeff").split("\n")
    assert len(found) + dropped.total() == sum(line.startswith("*") for line in lines)
    for sentence in found:
        assert lines[sentence.line - 1].startswith(f"*{sentence.speaker}:")


def test_a_transcript_that_is_cut_off_is_read_to_its_end():
    notes = Notes()
    text = "@Begin\n*MOT:\tyes .\n@Begin\n*MOT:\tno .\n"
    found = read_chat(text, "f", broken="skip", notes=notes)
    assert [sentence.words for sentence in found] == [("yes", "."), ("no", ".")]
    assert [part.line for part in notes.skipped] == [3, 3]
    with pytest.raises(DbpcfgError, match="found no @Begin"):
        list(read_chat("@UTF8\n", "f", broken="skip"))
    notes = Notes()
    assert len(list(read_chat("@End\n" + text + "@End", "f", broken="skip", notes=notes))) == 2
    assert [str(part)[:16] for part in notes.skipped] == ["f:1: found @End,", "f:4: found a sec"]
