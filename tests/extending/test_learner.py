"""A learner of one's own, in a few lines, with all that runs offer."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import dbpcfg
from dbpcfg.grammar.pcfg import RuleWeights, normalised
from dbpcfg.induction.criteria import held_out_sentences, measure
from dbpcfg.induction.learners import Learner, learners
from dbpcfg.options import option
from dbpcfg.parsing.chart.parser import ChartParser
from tests.induction.small import SENTENCES, TREES, written
from tests.inprocess import InProcess


@dataclass(frozen=True)
class SlowEM(Learner):
    """EM that moves only a part of the way in each iteration."""

    name: ClassVar[str] = "slow-em"
    rate: float = option(1.0, "How far each step goes.", exclusive_minimum=0, maximum=1)

    def step(self, state, corpus, settings, work, with_trees=False):
        """The grammar between the old one and that of the expected counts."""
        before = state.grammar
        chart = ChartParser(before, settings.depth, work.threads)
        logs, counts = chart.log_probabilities(corpus), chart.expected_counts(corpus)[0]
        found, parts = normalised(counts, 1e-6, before), ("root", "binary", "lexical")
        mixed = [
            (1 - self.rate) * getattr(before, n) + self.rate * getattr(found, n) for n in parts
        ]
        grammar = normalised(RuleWeights(*mixed), 0.0, before)
        measures = measure(
            logs, corpus.lengths, held_out_sentences(len(corpus), 0), None, state.beta
        )
        measures = measures._replace(posterior=measures.likelihood)
        return replace(state, iteration=state.iteration + 1, grammar=grammar, measures=measures)


@pytest.fixture(autouse=True)
def _added():
    learners.add("slow-em", SlowEM)
    yield
    del learners._added["slow-em"]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("".join(" ".join(words) + "\n" for words in SENTENCES))
    return path


def test_a_learner_of_ones_own(text, tmp_path, monkeypatch, capsys):
    command, path = InProcess(monkeypatch, capsys), tmp_path / "run"
    given = ["-K", 3, "--learner", "slow-em", "--set", "rate=0.5", "--iterations", 9, "--chains", 2]
    shown, _ = command.call("induce", text, "--out", path, *given, "--details")
    assert "selected by log-likelihood" in shown
    config = (path / "config.toml").read_text()
    assert 'learner = "slow-em"' in config
    assert "rate = 0.5" in config
    parsed, _ = command.call("parse", path, "-", stdin=b"a1 a2\n")
    assert parsed.startswith("(")

    # The same from Python, also in parts.
    options = {"iterations": 9, "chains": 2}
    run = dbpcfg.induce(text, 3, learner="slow-em", rate=0.5, out=tmp_path / "python", **options)
    assert written(tmp_path / "python") == written(path)
    assert all((np.diff(chain.logs) > 0).all() for chain in run.chains)  # it does learn
    by_object = {"learner": SlowEM(rate=0.5), "should_stop": lambda: True, "checkpoint": 0}
    dbpcfg.induce(text, 3, out=tmp_path / "parts", **by_object, **options)
    assert dbpcfg.resume(tmp_path / "parts").finished
    assert written(tmp_path / "parts") == written(path)
    other = dbpcfg.induce(SENTENCES, 3, learner="slow-em", gold=TREES, budget=90)
    assert other.finished


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--set", "rate=2"], "rate must be a number above 0, at most 1, got 2"),
        (["--set", "rat=1"], "--set rat=1: the learner slow-em has rate"),
        (["--set", "rate"], "the learner slow-em has rate"),
        (["--beta", "0.5"], "beta is an option of the learners gibbs, em, vb, not of slow-em"),
    ],
)
def test_mistakes(text, tmp_path, monkeypatch, capsys, given, said):
    command = InProcess(monkeypatch, capsys)
    given = ["--out", tmp_path / "run", "--learner", "slow-em", *given]
    assert said in command.refuse("induce", text, *given)


def test_help_knows_its_options(monkeypatch, capsys):
    shown, _ = InProcess(monkeypatch, capsys).call("induce", "--learner", "slow-em", "--help")
    assert "Options of slow-em:" in shown
    assert "--set rate=RATE" in shown
    assert "How far each step goes.  [default: 1.0]" in shown
    assert "--beta" not in shown
