"""The demonstration: what it shows, on small versions of itself, and what it claims, in full."""

from dataclasses import replace

import pytest

import dbpcfg.experiments.demo
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.evaluation.evaluate import evaluate
from dbpcfg.experiments.demo import (
    CENTER,
    LEFT,
    RECIPE,
    RIGHT,
    branching_table,
    difference,
    language_table,
    other_systems,
    pairs,
    pictures,
    run_demo,
)
from dbpcfg.experiments.recipe import quick_version
from dbpcfg.systems.branching import Right
from dbpcfg.systems.ccl import CCL
from dbpcfg.systems.upparse import UpparsePRLG
from tests.command import dbpcfg as command


def branching_for_all(gold, seed):
    """The scores of right-branching trees for all other systems."""
    found = evaluate(gold, Right().fit([tree.words() for tree in gold]).trees())
    return dict.fromkeys(("CCL", "UPPARSE", "UHHMM", "BMMM+DMV"), found.score)


def broken(gold, seed):
    raise ZeroDivisionError


def make_small(monkeypatch) -> None:
    monkeypatch.setattr(dbpcfg.experiments.demo, "other_systems", branching_for_all)
    for name in ("CENTER", "LEFT", "RIGHT", "LANGUAGE"):
        short = replace(
            getattr(dbpcfg.experiments.demo, name), chains=2, iterations=10, budget=None
        )
        monkeypatch.setattr(dbpcfg.experiments.demo, name, short)


@pytest.fixture
def small(monkeypatch):
    """A demonstration that learns next to nothing, at once."""
    make_small(monkeypatch)


@pytest.fixture(scope="module")
def small_demo():
    """What the small one finds on language, and what it shows on 200 columns, without progress."""
    texts: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        make_small(patch)
        language = run_demo(0, texts.append, quiet=True, width=200)
    return language, "\n".join(texts)


def shown(seed: int = 0, **options) -> str:
    texts: list[str] = []
    run_demo(seed, texts.append, **options)
    return "\n".join(texts)


def rows(text: str, name: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.startswith(name)]


def test_the_papers_figures_are_beside_those_of_the_same_system(small_demo):
    _, text = small_demo
    assert rows(text, "CCL") == ["CCL 40.0 40.0 40.0 83.2 71.1 76.7"]
    assert rows(text, "UPPARSE") == ["UPPARSE 40.0 40.0 40.0 91.4 80.7 85.7"]
    assert rows(text, "UHHMM") == ["UHHMM 40.0 40.0 40.0 37.7 37.7 37.7"]
    assert rows(text, "BMMM+DMV") == ["BMMM+DMV 40.0 40.0 40.0 99.2 83.2 90.5"]
    (ours,) = rows(text, "DB-PCFG")
    assert ours.endswith(" 100.0 100.0 100.0")
    assert "40.0" not in ours
    assert "The paper's figures are quoted" in text


def test_the_note_says_how_long_other_systems_ran():
    short = {row.name: row.settings.get("iterations") for row in quick_version(RECIPE).rows}
    assert {name for name, number in short.items() if number} == {"UHHMM", "BMMM+DMV"}
    assert short["UHHMM"] == short["BMMM+DMV"] == 100


def test_other_systems_run_on_the_same_sentences():
    gold = CENTER.gold(0)
    sentences = [tree.words() for tree in gold]
    found = other_systems(gold, 0)
    assert list(found) == ["CCL", "UPPARSE", "UHHMM", "BMMM+DMV"]
    for name, system in (("CCL", CCL()), ("UPPARSE", UpparsePRLG())):
        assert found[name] == evaluate(gold, system.fit(sentences).trees()).score


@pytest.mark.usefixtures("small")
def test_what_goes_wrong_in_the_other_process_is_raised(monkeypatch):
    monkeypatch.setattr(dbpcfg.experiments.demo, "other_systems", broken)
    with pytest.raises(ZeroDivisionError):
        shown(quiet=True)


def test_every_chain_and_every_form_of_sentence_is_shown(small_demo):
    _, text = small_demo
    assert all(rows(text, f"    {chain}  ") for chain in range(2))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    first = {len(tree): tree for tree in reversed(synthetic_trees("center", seed=0))}
    assert sorted(first) == [3, 4, 5, 7]
    for tree in first.values():  # the last line of its picture
        assert any(" ".join(tree.words()) in line for line in lines)


@pytest.mark.usefixtures("small")
def test_progress_is_not_among_the_results(small_demo, capsys):
    assert capsys.readouterr() == ("", "")
    assert shown(width=200) == small_demo[1]
    assert "learning the corpus 'center': 2 chains of 10" in capsys.readouterr().err


@pytest.mark.usefixtures("small")
def test_plain_output_is_ascii():
    assert shown(quiet=True, ascii=True).isascii()


@pytest.mark.usefixtures("small")
def test_utterances_have_their_trees_beside_gold_trees_and_baselines(small_demo):
    language, text = small_demo
    gold = {len(tree): tree for tree in reversed(language.gold)}
    lines = [" ".join(line.split()) for line in pairs(language, 200, False).splitlines()]
    for length in dbpcfg.experiments.demo.DRAWN:  # the words of both trees
        assert sum(line.count(" ".join(gold[length].words())) for line in lines) == 2
    for name in ("left-branching", "right-branching"):
        assert len(rows(text.split("Is one direction")[0], name)) == 1
    assert str(language_table(language)) in text
    assert language.trees == language.run.trees()


def test_language_comes_first_with_its_verdict(small_demo):
    language, text = small_demo
    assert text.startswith("Language\n")
    assert text.index(str(language_table(language))) < text.index("Is one direction")
    said = " ".join(text.split("PARSEVAL")[0].split())
    for name, words in language.run.verdict.lines():
        assert (words in said) == (name != "next")


@pytest.mark.slow
def test_language_is_learned_better_than_by_branching_with_another_seed():
    language = dbpcfg.experiments.demo.LANGUAGE.learn(2)
    (*_, right), (*_, ours) = language_table(language).rows[1:]
    f1 = [row[3] for row in language_table(language).rows]
    assert f1[2] > f1[1] + 0.05
    assert ours > right + 0.2  # of the noun phrases


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
    assert rows(done.stdout, "DB-PCFG") == ["DB-PCFG" + 6 * " 100.0"]
    assert done.stdout.count("50 of 50 right") == 4
    assert "┌" in done.stdout
    systems = ("left-branching", "right-branching", "this run")
    left, right, ours = (rows(done.stdout, name)[0].split()[-2:] for name in systems)
    assert float(ours[0]) > max(float(left[0]), float(right[0])) + 5  # F1 of the utterances
    assert float(ours[1]) > 90  # their noun phrases
    assert str(tmp_path / "dbpcfg-demo.html") in done.stdout


def test_a_race_finds_the_gold_trees_though_few_chains_do():
    """Another seed than the demonstration's, and an eighth of its budget."""
    result = replace(CENTER, chains=None, budget=1500).learn(3)
    assert result.evaluation.score.f1 == 1
    every = [result.evaluate(result.run.trees(chain)).score.f1 for chain in result.run.chains]
    assert sum(score < 0.95 for score in every) > 10  # so it takes choosing
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
