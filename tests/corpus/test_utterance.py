"""CHAT main lines: each code of the table, alone, together and broken."""

import pytest
from hypothesis import given

from dbpcfg.corpus.readers.chat import clean_utterance
from tests.corpus.fuzz import texts

CASES = {
    # retracing
    "the [/] the cat .": "the cat .",
    "<the cat> [/] the cat .": "the cat .",
    "<it is> [//] it was [///] will be .": "it will be .",
    "<I want> [/-] go [/?] stop .": "stop .",
    "<I <want to> [/] want> [//] I need it .": "I need it .",
    "<a <b>> [/] c <d> [?] .": "c d .",
    "<the cat>[/] the cat.": "the cat .",
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
    assert clean_utterance(line) == (tuple(words.split()), "")


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
    assert clean_utterance(line) == ((), reason)


@pytest.mark.parametrize(
    "line",
    ["<a " * 200_000 + "> [/] b " * 200_000, "[" * 500_000, '+"' * 500_000, "." * 500_000],
    ids=["scopes", "brackets", "quotes", "stops"],
)
def test_long_lines_take_linear_time(line):
    clean_utterance(line)


@given(texts(" ".join([*CASES, *EMPTY]), '<>[]()/:+&0@." ,x\x15'))
def test_any_line_gives_clean_words_or_a_reason(line):
    words, why_empty = clean_utterance(line)
    assert bool(words) != bool(why_empty)
    for word in words:
        assert word.split() == [word]
        assert not set(word) & set('[]<>()\x15"“”^@')
        assert any(map(str.isalnum, word)) or word in (".", "?", "!", "...", ",", ";", ":")
    assert clean_utterance(" ".join(words)).words in (words, ())
