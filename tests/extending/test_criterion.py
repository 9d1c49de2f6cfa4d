"""A criterion of one's own, by which chains are selected."""

import pytest

import dbpcfg
from dbpcfg.induction.criteria import Criterion, criteria
from tests.induction.small import SENTENCES
from tests.inprocess import InProcess


class FewestRules(Criterion):
    """How few rules the trees use: more is better."""

    words = "fewest rules"

    def of_iterations(self, chain, begin, end):
        """While chains race: by the likelihood, as trees of every iteration are not kept."""
        return criteria["likelihood"].of_iterations(chain, begin, end)

    def of_chain(self, chain, run):
        """The rules of the chain's trees."""
        nodes = [node for tree in run.trees(chain) for node in tree.nodes()]
        return -len({(n.label, *(getattr(c, "label", c) for c in n.children)) for n in nodes})


@pytest.fixture(autouse=True)
def _added():
    criteria.add("rules", FewestRules())
    yield
    del criteria._added["rules"]


def test_a_criterion_of_ones_own(tmp_path, monkeypatch, capsys):
    text, path = tmp_path / "text.txt", tmp_path / "run"
    text.write_text("".join(" ".join(words) + "\n" for words in SENTENCES))
    given = ["-K", 3, "--iterations", 10, "--chains", 4, "--select", "rules", "--details"]
    shown, _ = InProcess(monkeypatch, capsys).call("induce", text, "--out", path, *given)
    assert "selected by fewest rules; trees" in shown
    run = dbpcfg.induce(text, 3, iterations=10, chains=4, select="rules")
    goodness = [run.goodness(chain) for chain in run.chains]
    assert run.goodness(run.best) == max(goodness) > min(goodness)
    assert (path / "trees.txt").read_text().splitlines() == [str(tree) for tree in run.trees()]
    assert dbpcfg.induce(text, 3, budget=280, chains=4, select="rules").finished
