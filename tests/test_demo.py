"""The demonstration: what it shows, on small versions of itself, and what it claims, in full."""

from dataclasses import replace

import pytest

import dbpcfg.experiments.demo
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.experiments.demo import (
    CENTER,
    LANGUAGE,
    LEFT,
    RIGHT,
    branching_table,
    difference,
    language_table,
    pairs,
    pictures,
    run_demo,
)
from tests.command import dbpcfg as command


@pytest.fixture
def small(monkeypatch):
    """A demonstration that learns next to nothing, at once."""
    for name in ("CENTER", "LEFT", "RIGHT", "LANGUAGE"):
        short = replace(
            getattr(dbpcfg.experiments.demo, name), chains=2, iterations=10, budget=None
        )
        monkeypatch.setattr(dbpcfg.experiments.demo, name, short)


def shown(seed: int = 0, **options) -> str:
    texts: list[str] = []
    run_demo(seed, texts.append, **options)
    return "\n".join(texts)


def rows(text: str, name: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.startswith(name)]


@pytest.mark.usefixtures("small")
def test_rows_of_the_paper_are_marked_as_quoted():
    text = shown(quiet=True)
    assert rows(text, "CCL") == ["CCL 83.2 71.1 76.7 quoted from the paper"]
    assert rows(text, "UPPARSE") == ["UPPARSE 91.4 80.7 85.7 quoted from the paper"]
    assert rows(text, "UHHMM") == ["UHHMM 37.7 37.7 37.7 quoted from the paper"]
    assert rows(text, "BMMM+DMV") == ["BMMM+DMV 99.2 83.2 90.5 quoted from the paper"]
    theirs, ours = rows(text, "DB-PCFG")
    assert theirs == "DB-PCFG 100.0 100.0 100.0 quoted from the paper"
    assert ours.endswith("this run")
    assert "this run's are on its own draw" in text


@pytest.mark.usefixtures("small")
def test_every_chain_and_every_form_of_sentence_is_shown():
    text = shown(quiet=True, width=200)
    assert all(rows(text, f"    {chain}  ") for chain in range(2))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    first = {len(tree): tree for tree in reversed(synthetic_trees("center", seed=0))}
    assert sorted(first) == [3, 4, 5, 7]
    for tree in first.values():  # the last line of its picture
        assert any(" ".join(tree.words()) in line for line in lines)


@pytest.mark.usefixtures("small")
def test_progress_is_not_among_the_results(capsys):
    loud = shown()
    assert "learning the corpus 'center': 2 chains of 10" in capsys.readouterr().err
    assert shown(quiet=True) == loud
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("small")
def test_plain_output_is_ascii():
    assert shown(quiet=True, ascii=True).isascii()


@pytest.mark.usefixtures("small")
def test_utterances_have_their_trees_beside_gold_trees_and_baselines():
    texts: list[str] = []
    language = run_demo(0, texts.append, quiet=True, width=200)
    text = "\n".join(texts)
    gold = {len(tree): tree for tree in reversed(language.gold)}
    lines = [" ".join(line.split()) for line in pairs(language, 200, False).splitlines()]
    for length in dbpcfg.experiments.demo.DRAWN:  # the words of both trees
        assert sum(line.count(" ".join(gold[length].words())) for line in lines) == 2
    for name in ("left-branching", "right-branching"):
        assert len(rows(text.split("Language")[1], name)) == 1
    assert str(language_table(language)) in text
    assert language.trees == language.run.trees()


def test_what_is_wrong_is_counted_as_wrong():
    """A chain of a few iterations has not learned the trees, and the pictures say so."""
    result = replace(CENTER, chains=1, iterations=4, budget=None).learn(seed=0)
    assert result.evaluation.score.f1 < 1
    assert result.right_chains == 0
    drawn = pictures(result, width=80, ascii=False)
    assert drawn.count(" of 50 right") == 4
    assert drawn.count("50 of 50 right") < 4


def test_nothing_is_chosen_by_gold_trees():
    result = replace(CENTER, chains=3, iterations=20, budget=None).learn(seed=0)
    chosen = max(result.run.chains, key=lambda chain: chain.mean_log_likelihood)
    assert result.trees == result.run.trees(chosen)
    assert not any(chain.scores for chain in result.run.chains)


@pytest.mark.slow
def test_the_demonstration(tmp_path, monkeypatch):
    from tests.docs.pages import ROOT
    from tests.docs.test_commands import agrees, sessions

    readme = (ROOT / "README.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    done = command("demo")
    assert done.returncode == 0, done.stderr
    (shown,) = (out for line, out in sessions(readme) if line == "dbpcfg demo")
    assert agrees(shown, done.stdout)
    assert "learning the corpus 'center'" in done.stderr
    assert rows(done.stdout, "DB-PCFG")[1] == "DB-PCFG 100.0 100.0 100.0 this run"
    assert done.stdout.count("50 of 50 right") == 4
    assert "┌" in done.stdout
    assert len(rows(done.stdout, "left-branching") + rows(done.stdout, "right-branching")) == 4
    assert str(tmp_path / "dbpcfg-demo.html") in done.stdout


@pytest.mark.slow
def test_the_chain_of_greatest_likelihood_has_the_gold_trees():
    """Another seed than the demonstration's."""
    result = CENTER.learn(3)
    assert result.evaluation.score.f1 == 1
    assert 1 <= result.right_chains < CENTER.chains  # and it takes choosing
    assert result.evaluation.constituents.score().many_to_one > 0.95


@pytest.mark.slow
def test_both_directions_of_branching_are_learned_equally_well():
    """Another seed than the demonstration's."""
    left, right = LEFT.learn(1), RIGHT.learn(1)
    assert left.evaluation.score.f1 == right.evaluation.score.f1 == 1
    assert left.right_chains >= LEFT.chains - 2
    assert right.right_chains >= RIGHT.chains - 2
    assert difference(left, right) < 0.02
    assert "left-branching" in str(branching_table(left, right))


@pytest.mark.slow
def test_utterances_are_learned_better_than_they_branch():
    scores = [row[3:] for row in language_table(LANGUAGE.learn(0)).rows]
    assert scores[2][0] > max(scores[0][0], scores[1][0]) + 0.05  # F1
    assert scores[2][1] > 0.9  # noun phrases
