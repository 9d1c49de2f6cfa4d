"""What a chain keeps; and a chain as a file: nothing is lost, nothing else is taken for one."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from dbpcfg.corpus.encoded import Encoded
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction import checkpoint
from dbpcfg.induction import trees as decoding
from dbpcfg.induction.chain import Sample, advance, new_chain, trees_of
from dbpcfg.induction.checkpoint import load_chain, save_chain
from dbpcfg.induction.corpus import gold_spans
from dbpcfg.induction.learners.gibbs import Gibbs
from dbpcfg.induction.search import Schedule, levelled_off
from dbpcfg.io.archive import read_archive, write_archive
from dbpcfg.parsing import mbr
from dbpcfg.parsing.chart.parser import ChartParser
from dbpcfg.parsing.mbr import mbr_trees
from tests.induction.small import (
    CORPUS,
    SENTENCES,
    TREES,
    chain_bits,
    first,
    grammar_bits,
    run,
    settings,
    states,
)
from tests.oracle import log_probability


def log_likelihood(sample: Sample, depth: int | None = 2) -> float:
    return float(ChartParser(sample.grammar, depth).log_probabilities(CORPUS).sum())


def test_the_trace_is_that_of_the_gibbs_sampler():
    chain = run(12, seed=3)
    plain = [first(CORPUS, chain.settings), *itertools.islice(states(CORPUS, chain.settings), 12)]
    assert chain.logs == [state.measures.likelihood for state in plain[1:]]
    assert grammar_bits(chain.state.grammar) == grammar_bits(plain[-1].grammar)
    assert chain.betas == [0.2] * 12
    for method, sample in (("last", chain.last), ("best", chain.best)):  # drawn again
        drawn = plain[sample.iteration].derivations.nodes
        assert (trees_of(chain, CORPUS, method).nodes == drawn).all()
    # The grammars kept are those that trees were drawn under.
    kept = [grammar_bits(grammar) for grammar in chain.grammars]
    assert kept == [grammar_bits(state.grammar) for state in plain[6:12]]


@pytest.mark.parametrize(("iterations", "burn_in"), [(1, 0), (2, 1), (7, 3), (10, 5)])
def test_the_second_half_counts(iterations, burn_in):
    chain = run(iterations)
    assert (chain.iteration, chain.burn_in) == (iterations, burn_in)
    assert chain.retained == iterations - burn_in
    assert chain.spans.counts.sum() == chain.retained * (2 * len(CORPUS.tokens) - len(CORPUS))
    assert chain.mean_log_likelihood == pytest.approx(np.mean(chain.logs[burn_in:]), rel=1e-12)


def test_the_papers_rule():
    schedule = Schedule(minimum=12, window=4, after=9, maximum=60)
    chain = run(schedule)
    flat = [n for n in range(12, 60) if levelled_off(chain.logs[:n], 4)]
    assert chain.burn_in == flat[0]
    assert chain.iteration == flat[0] + 9
    assert chain.finished(schedule)
    assert run(Schedule(minimum=1, window=50, after=9, maximum=60)).iteration == 60


def test_before_anything_counts():
    chain = new_chain(CORPUS, settings(categories=3))
    assert (chain.iteration, chain.retained, chain.mean_log_likelihood) == (0, 0, -np.inf)
    advance(chain, CORPUS, Schedule(), seconds=0)
    assert (chain.iteration, chain.burn_in, chain.retained) == (1, None, 0)
    assert chain.mean_log_likelihood == chain.logs[0]
    assert not chain.spans.counts.any()
    assert trees_of(chain, CORPUS, "mbr") is trees_of(chain, CORPUS, "last")


@pytest.mark.parametrize("options", [{}, {"depth": None}], ids=str)
def test_best_and_last(options):
    chain = run(20, **options)
    counted = chain.logs[chain.burn_in :]
    assert chain.best.log_likelihood == max(counted)
    assert chain.best.iteration == chain.burn_in + counted.index(max(counted)) + 1
    assert (chain.last.iteration, chain.last.log_likelihood) == (20, chain.logs[-1])
    for sample in (chain.best, chain.last):
        found = log_likelihood(sample, options.get("depth", 2))
        assert found == pytest.approx(sample.log_likelihood, rel=1e-12)
        method = "best" if sample is chain.best else "last"
        used = trees_of(chain, CORPUS, method).counts(3)
        assert np.isfinite(log_probability(sample.grammar, used))
    # Negative control: the grammar drawn from the best sample's trees is another one.
    after = run(chain.best.iteration, **options).state
    assert log_likelihood(Sample(0, 0, after.grammar)) != pytest.approx(chain.best.log_likelihood)
    assert (trees_of(chain, CORPUS, "mbr").nodes == chain.spans.decode().nodes).all()


def test_the_best_of_burn_in_does_not_count():
    chain = run(60, seed=6)
    assert max(chain.logs[:30]) > max(chain.logs[30:]) == chain.best.log_likelihood


def test_scores_are_logged_and_change_nothing():
    gold = gold_spans(TREES, [(False,) * len(tree) for tree in TREES])
    scored = advance(new_chain(CORPUS, settings(categories=3)), CORPUS, Schedule(25), 99, gold=gold)
    assert list(scored.scores) == [10, 20]
    assert scored.scores[20] == gold.f1(CORPUS.starts, trees_of(run(20), CORPUS, "last").nodes)
    scored.scores.clear()
    assert chain_bits(scored) == chain_bits(run(25))


def test_a_corpus_whose_spans_are_too_many(monkeypatch, tmp_path):
    """Nothing is counted then, and trees follow from the posteriors of the chain's grammars."""
    counted = run(40)
    expected = trees_of(counted, CORPUS, "mbr")
    monkeypatch.setattr(mbr, "MAX_BYTES", 1000)
    monkeypatch.setattr(decoding, "BATCH", 7)
    chain = run(40)
    assert chain.spans.counts.size == 0
    assert chain.logs == counted.logs
    found = trees_of(chain, CORPUS, "mbr")
    weights = sum(ChartParser(G, 2).posteriors(CORPUS)[0] for G in chain.grammars)
    assert found.nodes.tobytes() == mbr_trees(CORPUS, weights).nodes.tobytes()
    same = (found.nodes == expected.nodes).all(axis=1).mean()
    assert same > 0.5  # another estimate of the same thing
    save_chain(chain, CORPUS, tmp_path / "chain.npz")
    read = load_chain(tmp_path / "chain.npz", CORPUS, chain.settings)
    assert chain_bits(read) == chain_bits(chain)


# --- a chain as a file; that every learner's is read back is in test_learners ---------------------


@pytest.fixture
def path(tmp_path):
    return tmp_path / "chain.npz"


@pytest.mark.parametrize(
    "changed",
    [
        *({"chain": 1}, {"seed": 1}, {"depth": 1}, {"categories": 4}, {"depth": None}),
        {"learner": Gibbs(beta=0.3)},
        {"learner": Gibbs(exact=True)},
    ],
    ids=str,
)
def test_other_settings(path, changed):
    chain = run(3)
    save_chain(chain, CORPUS, path)
    with pytest.raises(DbpcfgError, match=f"{path}: it is of a chain with other settings"):
        load_chain(path, CORPUS, replace(chain.settings, **changed))


def test_another_corpus(path):
    chain = run(3)
    save_chain(chain, CORPUS, path)
    shuffled = Encoded.from_sentences(SENTENCES[::-1])
    renamed = Encoded.from_sentences([[word.upper() for word in words] for words in SENTENCES])
    for corpus in (shuffled, renamed, Encoded.from_sentences(SENTENCES[1:])):
        with pytest.raises(DbpcfgError, match=f"{path}: it is of a chain over another corpus"):
            load_chain(path, corpus, chain.settings)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A chain of six iterations, of which three count; what its file has."""
    chain, path = run(6), tmp_path_factory.mktemp("chain") / "chain.npz"
    save_chain(chain, CORPUS, path)
    types = checkpoint._types(chain.settings)
    return chain, read_archive(path, checkpoint.FORMAT, {checkpoint.VERSION: types})


@pytest.mark.parametrize(
    "change",
    [
        *(
            lambda header, arrays, new=new: header.update(new)
            for new in (
                *({"burn_in": 1.5}, {"burn_in": 7}, {"burn_in": "3"}, {"burn_in": None}),
                *({"beta": float("nan")}, {"beta": -1}, {"iteration": 5}, {"iteration": "x"}),
                *({"best": [9, -3.0]}, {"best": [1]}, {"scores": [1, 2]}, {"version": 1}),
                *({"last": [1, float("nan")]}, {"last": [1.5, -3.0]}, {"format": "dbpcfg corpus"}),
            )
        ),
        *(
            lambda header, arrays, name=name: arrays.update({name: np.array(arrays[name].flat[0])})
            for name in ("likelihood", "state_binary", "spans", "grammars_binary")
        ),
        *(
            lambda header, arrays, name=name: arrays.update({name: arrays[name][:-1]})
            for name in ("betas", "spans", "state_binary", "best_root", "posterior")
        ),
        lambda header, arrays: arrays.update(likelihood=arrays["likelihood"] * np.nan),
        lambda header, arrays: arrays.update(betas=-arrays["betas"]),
        lambda header, arrays: arrays.update(grammars_root=np.array(1.0)),
        lambda header, arrays: arrays.pop("state_root"),
    ],
)
def test_content_that_cannot_be(saved, path, change):
    """Files that are whole but not what they should be: a changed header, changed arrays."""
    chain, (header, arrays) = saved
    header, arrays = dict(header), dict(arrays)
    change(header, arrays)
    write_archive(path, checkpoint.FORMAT, checkpoint.VERSION, header, arrays)
    with pytest.raises(DbpcfgError, match=f"^{path}: "):
        load_chain(path, CORPUS, chain.settings)


def test_beta_is_that_of_the_grammar_before_a_step():
    chain = run(3, sample_beta=True)
    assert chain.betas[0] == chain.settings.learner.beta
    assert chain.betas[1:] != chain.betas[:-1]
    assert chain.state.beta not in chain.betas
