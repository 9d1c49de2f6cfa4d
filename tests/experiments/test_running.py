"""One cell: run, kept, stopped and resumed, failed."""

import pytest

import dbpcfg
from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.comparison import comparison_data
from dbpcfg.experiments.corpora import forget_corpora
from dbpcfg.experiments.results import CellRecord, runs_in
from dbpcfg.experiments.running import run_cell
from tests.experiments.small import cells_of, files_in, times_in

TWO = 'corpus = "adam.trees"\nK = 2\n'


@pytest.fixture(autouse=True)
def _nothing_is_cached():
    forget_corpora()


def test_a_cell_is_the_run_of_induce(place, monkeypatch):
    (cell,) = cells_of(place, TWO)
    outcome = run_cell(cell, threads=1)
    assert outcome.state == "finished"
    corpus, same = dbpcfg.read(place / "adam.trees"), {"chains": 1, "iterations": 6}
    run = dbpcfg.induce(corpus, K=2, learner="gibbs", **same, out=place / "plain")
    assert files_in(cell.directory) == files_in(place / "plain")
    score = dbpcfg.evaluate(place / "adam.trees", run.trees())
    assert outcome.result.f1 == pytest.approx(score.score.f1)
    assert outcome.result.phrase_recall == pytest.approx(score.recall.recall)
    tokens = len(run.corpus.forms.tokens)
    assert outcome.result.per_token == run.best.mean_log_likelihood / tokens
    assert outcome.result.sentences == 12


def test_a_cell_may_leave_the_choice_to_the_text(place, monkeypatch):
    monkeypatch.setattr("dbpcfg.induction.auto.MIN_SENTENCES", 5)
    (cell,) = cells_of(place, 'corpus = "adam.trees"\nlearner = "auto"\nlowercase = false\n')
    assert cell.name == "adam-Kauto-Dauto-s0"
    assert run_cell(cell, threads=1).state == "finished"
    corpus, same = dbpcfg.read(place / "adam.trees"), {"chains": 1, "iterations": 6}
    run = dbpcfg.induce(corpus, lowercase=False, **same, out=place / "plain")
    assert run.configuration.model.learner.name == "neural"
    assert run.configuration.preprocessing.no_punctuation
    assert files_in(cell.directory) == files_in(place / "plain")


def test_a_finished_cell_is_kept(place):
    (cell,) = cells_of(place, TWO)
    first = run_cell(cell)
    before = times_in(cell.directory.parent)
    assert run_cell(cell) == first
    (place / "adam.trees").unlink()  # it is not needed any more
    forget_corpora()
    assert run_cell(cell) == first
    assert times_in(cell.directory.parent) == before


def test_a_cell_that_was_stopped_is_resumed_to_the_same_bytes(place, monkeypatch):
    monkeypatch.setattr("dbpcfg.induction.chains.BLOCK_SECONDS", 0.01)
    text = 'chains = 2\niterations = 200\nout = "{}"\n' + TWO
    whole, broken = (cells_of(place, text.format(out), short="")[0] for out in ("a", "b"))
    done = run_cell(whole, threads=1)
    shares: list[float] = []
    stopped = run_cell(broken, threads=1, on_progress=shares.append, should_stop=lambda: True)
    assert stopped.state == "unfinished"
    assert 0 < shares[-1] < 1
    assert CellRecord(broken).outcome(None).state == "unfinished"
    assert not (broken.directory / "trees.txt").exists()
    assert run_cell(broken, on_progress=shares.append) == done
    assert shares[-1] == 1
    assert files_in(broken.directory) == files_in(whole.directory)


def test_other_systems_are_trees_and_comparisons(place):
    ccl, one, other = cells_of(place, TWO + 'systems = ["ccl", "random"]\nseeds = [0, 7]')
    assert run_cell(ccl).state == run_cell(one).state == run_cell(other).state == "finished"
    assert comparison_data(ccl.directory)["systems"][0]["name"] == "ccl"
    assert (other.directory / "trees.txt").exists()
    (row,) = comparison_data(other.directory)["systems"][0]["runs"]
    outcome = CellRecord(other).outcome(None)
    assert (outcome.result.f1, outcome.result.per_token) == (row["f1"], None)
    before = times_in(place)
    run_cell(other)
    assert {k: v for k, v in times_in(place).items() if ".cells" not in k} == {
        k: v for k, v in before.items() if ".cells" not in k
    }


def test_gold_trees_of_their_own(place):
    text = '[[corpus]]\npath = "words.txt"\ngold = "adam.trees"\n'
    own, right = cells_of(place, 'K = 2\nsystems = ["dbpcfg", "right"]\n' + text)
    (of_trees,) = cells_of(place, TWO)
    assert run_cell(own).result.f1 == run_cell(of_trees).result.f1
    assert run_cell(right).result.phrase_recall is not None


def test_text_without_gold_trees_has_likelihoods_only(place):
    own, right = cells_of(place, 'corpus = "words.txt"\nK = 2\nsystems = ["dbpcfg", "right"]')
    result = run_cell(own).result
    assert result.per_token < 0
    assert result.f1 is None
    outcome = run_cell(right)
    assert outcome.state == "failed"
    assert "there are no gold trees" in outcome.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('corpus = "none.txt"', "none.txt cannot be read: No such file"),
        ('corpus = "broken.trees"', "broken.trees"),
        ('corpus = "adam.trees"\nK = 1000000', "this run would need"),
        ('[[corpus]]\npath = "eve.trees"\ngold = "adam.trees"', "is not sentence 1 of the run"),
        ('corpus = "adam.trees"\nmax-length = 1', "there is no sentence of at most 1 word"),
    ],
)
def test_failures_are_reasons_and_are_tried_again(place, text, reason):
    if "gold" in text:
        (place / "eve.trees").write_text("(S (N dogs) (V bark))\n" * 12)
    (cell,) = cells_of(place, text)
    outcome = run_cell(cell)
    assert outcome.state == "failed"
    assert reason in outcome.reason
    assert CellRecord(cell).outcome(None) == outcome
    (place / "none.txt").write_text("dogs bark\ncats sleep\n")
    again = run_cell(cell)
    assert again.state == ("finished" if "none" in text else "failed")


def test_an_unexpected_error_is_a_failure(place, monkeypatch):
    def burn(*_, **__):
        raise RuntimeError("the chart is\non fire")

    monkeypatch.setattr("dbpcfg.experiments.running.induce", burn)
    outcome = run_cell(cells_of(place, TWO)[0])
    assert outcome.reason == "RuntimeError: the chart is on fire"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("chains = 2", "was run with chains = 1, not chains = 2"),
        ("max-length = 4", "was run with max-length = none, not max-length = 4"),
        ("rare = 1", "was run with rare = 0, not rare = 1"),
    ],
)
def test_other_settings_in_the_same_place_are_an_error(place, change, said):
    (cell,) = cells_of(place, TWO)
    run_cell(cell)
    before = times_in(place / "grid")
    short = "iterations = 6\n" + ("" if "chains" in change else "chains = 1\n")
    (changed,) = cells_of(place, f"{TWO}{change}\n", short=short)
    with pytest.raises(DbpcfgError, match=said):
        CellRecord(changed).outcome(None)
    assert said in run_cell(changed).reason
    assert times_in(place / "grid") == before
    assert run_cell(cell).state == "finished"


def test_another_text_in_the_same_place_is_an_error(place):
    (cell,) = cells_of(place, TWO)
    run_cell(cell)
    (place / "adam.trees").write_text("(S (N dogs) (V bark))\n")
    forget_corpora()
    assert "its corpus has changed" in run_cell(cell).reason
    assert CellRecord(cell).outcome(None).state == "finished"


def test_what_no_sweep_has_made_is_left_alone(place):
    (cell,) = cells_of(place, TWO)
    cell.directory.mkdir(parents=True)
    (cell.directory / "thesis.tex").write_text("years of work")
    assert "is not a cell" in run_cell(cell).reason
    assert (cell.directory / "thesis.tex").read_text() == "years of work"


def test_results_that_were_removed_are_made_again(place):
    (cell,) = cells_of(place, TWO)
    first, before = run_cell(cell), files_in(cell.directory)
    (cell.directory / "trees.txt").unlink()
    assert CellRecord(cell).outcome(None).state == "unfinished"
    assert run_cell(cell) == first
    assert files_in(cell.directory) == before


@pytest.mark.parametrize("content", ["", "{}", '{"format": "dbpcfg cell", "version": 1}'])
def test_a_damaged_record_is_an_error_and_not_written_over(place, content):
    (cell,) = cells_of(place, TWO)
    record = CellRecord(cell)
    record.folder.mkdir(parents=True)
    record.file.write_text(content)
    assert "cell.json" in run_cell(cell).reason
    assert record.file.read_text() == content


def test_a_cell_that_runs_elsewhere_is_not_run_twice(place):
    (cell,) = cells_of(place, TWO)
    record = CellRecord(cell)
    with record.locked():
        assert "is being run by another process" in run_cell(cell).reason
    assert not record.file.exists()


def test_the_runs_of_a_sweep(place):
    own, ccl = cells_of(place, TWO + 'systems = ["dbpcfg", "ccl"]')
    run_cell(own)
    run_cell(ccl)
    assert runs_in(place / "grid") == [own.directory]
    assert runs_in(place) is None
    assert runs_in(place / "nowhere") is None
