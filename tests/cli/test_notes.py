"""Notes about a text: the same for all commands, one that fits, and before the results."""

from pathlib import Path

import pytest

from tests.inprocess import run

RAW = ["Look, the dog barks.", "What is that?", "It is a dog, I think.", "Where is the dog?"]
APART = ["Look , the dog barks .", "What is that ?", "It is a dog , I think .", "Where is it ?"]
JAPANESE = ["今日は天気がいいですね。", "猫が好きです。", "明日は学校に行きます。"]
BRACKETED = ["he [mele nui] kēia", "[[[ka wahine] nui] loa] ia", "aloha [kāua i]"]
ATTACHED = "because punctuation is attached, such as 'Look,': set it apart with --tokens"
SMALL = ("-K", 2, "-D", 2, "--learner", "gibbs", "--iterations", 4, "--chains", 1)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """Texts, and a run over one that is ready."""
    folder = tmp_path_factory.mktemp("notes")
    texts = {"raw": RAW, "apart": APART, "japanese": JAPANESE, "bracketed": BRACKETED}
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines * 33))
    (folder / "cells.tsv").write_text("s\n" + "".join(f"{line}\n" for line in RAW))
    (folder / "broken.txt").write_text("[the dog] barks\nthe [dog barks\n" * 2)
    for name, more in (("run", ()), ("bare", ("--no-punctuation",))):
        code, _, err = run("induce", folder / "apart.txt", "--out", folder / name, *SMALL, *more)
        assert code == 0
        assert "note:" not in err
    return folder


@pytest.mark.parametrize("arguments", [("parse",), ("probability",), ("surprisal",)])
@pytest.mark.parametrize("model", ["run", "bare"])
def test_the_same_note_before_the_results(files, arguments, model):
    given = (*arguments, files / model, files / "raw.txt")
    code, out, err = run(*given)
    assert code == 0
    assert err.count("note: ") == 1
    assert ATTACHED in err
    only = "words that are only punctuation are left out"
    assert (only in err) == (model == "bare")
    mixed = run(*given, mixed=True)[1]
    assert mixed.index("note: ") < mixed.index(out.splitlines()[1])
    for more in (("-q",), ("--tokens", "punctuation")):
        assert "note: " not in run(*given, *more)[2]


def test_notes_about_a_table_come_before_it(files):
    given = ("surprisal", files / "run", files / "cells.tsv", "--text", "s")
    _, out, err = run(*given)
    assert ATTACHED in err
    assert "17 words; 6 unknown to the model, 0 replaced by classes" in err
    assert run(*given, mixed=True)[1] == err + out


def test_what_is_known_before_the_results_is_said_before_them(files):
    for given in (
        ("export", files / "run", "-", "--threshold", 0.01),
        ("parse", files / "run", files / "japanese.txt"),
    ):
        code, out, err = run(*given)
        assert code == 0
        assert out
        assert err
        assert run(*given, mixed=True)[1] == err + out


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("raw", "words have punctuation attached, such as 'Look,'"),
        ("japanese", "99 of 99 sentences look like a single long word"),
        ("bracketed", "such as '[mele nui]', and are read as parts of words: if they are const"),
    ],
)
def test_one_note_about_a_small_text_to_learn_from(files, tmp_path, text, note):
    code, _, err = run("induce", files / f"{text}.txt", "--out", tmp_path / "run", *SMALL)
    assert code == 0
    assert err.count("note: ") == 1
    assert note in err


def test_known_brackets_are_not_json_and_need_no_note(tmp_path):
    text, out = tmp_path / "text.txt", tmp_path / "run"
    text.write_text("[[[the dog] barks] loudly]\n" * 9)
    code, _, err = run("induce", text, "--out", out, *SMALL, "--brackets", "text")
    assert code == 0
    assert "note: " not in err
    text.write_text("[[[the dog] barks] loudly]\n")
    code, trees, err = run("parse", out, text, "--brackets", "text")
    assert (code, err) == (0, "")
    assert "[" not in trees
    text.write_text('["the", "dog"]\n')
    assert "found JSON" in run("parse", out, text)[2]
    assert run("parse", out, text, "--brackets", "text")[0] == 0


def test_a_bracket_that_is_not_closed(files, tmp_path):
    """The message has the place, what was expected, and the option, which works."""
    learning = ("induce", files / "broken.txt", *SMALL, "--brackets", "text")
    parsing = ("parse", files / "run", files / "broken.txt", "--brackets", "text")
    for given in ((*learning, "--out", tmp_path / "no"), parsing):
        code, _, err = run(*given)
        assert code == 2
        said = " ".join(err.split())
        assert (
            "broken.txt:2: found '[dog barks', a bracket that is not closed, expected a ]" in said
        )
        assert "--skip-broken (in Python skip_broken=True) skips such sentences" in said
    code, _, err = run(*learning, "--out", tmp_path / "run", "--skip-broken")
    assert code == 0
    assert "sentences with broken brackets (2)" in err
    code, out, err = run(*parsing, "--skip-broken")
    assert code == 0
    assert [bool(line) for line in out.split("\n")[:4]] == [True, False] * 2
    assert err.count("; skipped") == 2
    assert "--skip-broken" not in err
