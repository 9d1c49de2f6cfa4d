"""The model that the package brings: what its script says it is, and good enough to look at."""

import importlib.util
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dbpcfg
from dbpcfg.corpus.synthetic import utterances
from dbpcfg.errors import GrammarError
from dbpcfg.systems.branching import Right
from tests.command import printed, refused

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("x", ROOT / "examples" / "make_example.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def model():
    return dbpcfg.load("example")


def test_it_has_the_settings_of_its_script(model, script):
    settings = {**script.SETTINGS, "iterations": 1, "seed": script.SEED}
    short = dbpcfg.induce(script.text(), **settings).model
    assert type(model.grammar) is type(short.grammar)
    assert model.grammar.categories == script.SETTINGS["K"]
    assert model.depth == script.SETTINGS["D"]
    assert model.preprocessing == short.preprocessing
    assert model.grammar.vocabulary == short.grammar.vocabulary
    different = {"iterations", "dbpcfg"}  # a later version may load an earlier file
    said = [{k: v for k, v in one.card.items() if k not in different} for one in (model, short)]
    assert said[0] == said[1]
    assert {"digest", "seed", "chains", "learner", "options"} < said[0].keys()
    assert script.TARGET.samefile(Path(dbpcfg.__file__).parent / "model" / "example.npz")
    assert script.TARGET.stat().st_size < 300_000


def test_it_knows_phrases_of_sentences_that_it_has_not_seen(model):
    gold = utterances(300, seed=17)
    words = [tree.words() for tree in gold]
    ours = dbpcfg.evaluate(gold, model.parse(words))
    right = dbpcfg.evaluate(gold, Right().fit(words).trees())
    assert ours.score.f1 > right.score.f1 + 0.1
    assert ours.recall.recall > 0.9
    (tree,) = model.parse("should the cats push some big boxes")
    assert {(1, 3), (4, 7), (3, 7)} <= {(span.start, span.end) for span in tree.spans()}


def test_surprisal_of_what_does_not_fit_is_greater(model):
    good, bad = (
        sum(row.surprisal for row in model.surprisal(text))
        for text in ("push the little cars", "the push cars little")
    )
    assert np.isfinite(bad)
    assert good < bad - 5


def test_it_has_no_other_grammars_of_its_chain():
    with pytest.raises(GrammarError, match="the example is one grammar"):
        dbpcfg.load("example", samples=True)
    assert "the example is one grammar" in refused("parse", "example", "a b", "--method=mbr-chain")


def test_a_file_or_directory_of_its_name_comes_first(tmp_path, monkeypatch, model):
    monkeypatch.chdir(tmp_path)
    assert dbpcfg.load(Path("example")) == model
    path = Path("example")
    path.mkdir()
    with pytest.raises(GrammarError, match="not a run"):
        dbpcfg.load("example")
    assert "not a run" in refused("show", "example")
    path.rmdir()
    path.write_text("the dog barks\n")
    with pytest.raises(GrammarError, match="example is text, not a model"):
        dbpcfg.load("example")
    path.unlink()
    learned = dbpcfg.induce([["a", "b"]], K=2, chains=1, iterations=2).model
    smaller = replace(learned, samples=())
    smaller.save(path)
    assert dbpcfg.load("example") == smaller


def test_threads_can_share_a_model(model):
    """As a service does: calls at the same time, each with its own sentences."""
    texts = [[tree.words() for tree in utterances(20, seed)] for seed in range(16)]
    calls = (model.parse, model.surprisal, model.parses)
    expected = [[repr(call(text)) for call in calls] for text in texts]
    fresh = dbpcfg.load("example")
    calls = (fresh.parse, fresh.surprisal, fresh.parses)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: [repr(call(text)) for call in calls], texts))
    assert found == expected
    assert len(set(map(str, found))) == len(texts)


def test_commands_take_it():
    assert "dogs" in printed("parse", "example", "the dogs run")
    assert "X0" in printed("show", "example")
    assert printed("surprisal", "example", "the dogs run").count("\n") == 5
    assert len(printed("generate", "example", "-n", 3).splitlines()) == 3
    assert "perplexity" in printed("probability", "example", "the dogs run")
