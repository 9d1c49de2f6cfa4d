"""What is chosen for a text, if nobody says."""

import pytest

import dbpcfg
from dbpcfg.corpus.preprocessing import Preprocessing
from dbpcfg.corpus.sentence import Sentence
from dbpcfg.corpus.synthetic import synthetic_trees
from dbpcfg.errors import DbpcfgError
from dbpcfg.induction.auto import TextFigures, choose, possible
from dbpcfg.induction.learners import learner_with
from dbpcfg.induction.plan import InductionPlan
from dbpcfg.induction.settings import load_configuration
from dbpcfg.numerics.philox import stream
from dbpcfg.options import ModelOptions, SearchOptions
from dbpcfg.systems.branching import branching_tree
from tests.induction.small import SENTENCES

BOTH = ["gibbs", "neural"]


def text(sentences: int, words: int, forms: int) -> list[Sentence]:
    """Sentences of so many words, with a full stop each."""
    numbered = (f"w{n % forms}" for n in range(sentences * words))
    others = [[next(numbered) for _ in range(words - 1)] for _ in range(sentences)]
    return [Sentence(("the", *some, ".")) for some in others]


@pytest.mark.parametrize(
    ("size", "learner", "rare", "teacher", "depth"),
    [
        ((500, 6, 200), "neural", 0, "none", 2),  # speech, but little of it
        ((5000, 8, 2000), "neural", 0, "none", 3),
        ((5000, 9, 2000), "neural", 0, "ccl", 3),
        ((2000, 6, 9000), "neural", 1, "ccl", 3),
        ((2000, 13, 500), "neural", 0, "ccl", 3),
        ((99, 6, 20), "gibbs", 0, None, 2),
        ((199, 20, 400), "neural", 0, "ccl", 3),
        ((200, 5, 99), "neural", 0, "none", 2),  # with "the", 10 tokens for each form
        ((200, 5, 100), "neural", 1, "none", 2),
    ],
)
def test_the_rule(size, learner, rare, teacher, depth):
    figures = TextFigures.of(text(*size), Preprocessing())
    assert (figures.sentences, figures.mean_length) == (size[0], size[1])
    assert str(figures).startswith(f"{size[0]:,} sentences of {size[1]}.0 words")
    assert choose(figures, BOTH) == learner
    corpus, _, settings, chains, why = InductionPlan().preprocess(text(*size))
    assert settings.learner.name == learner
    assert (getattr(settings.learner, "teacher", None), settings.depth) == (teacher, depth)
    assert chains == (8 if (teacher, depth) == ("none", 2) else 4)
    chosen = corpus.preprocessing
    without = learner == "neural"
    assert (chosen.rare, chosen.no_punctuation) == (rare, without)
    assert chosen.punctuation_brackets == without
    assert why.startswith(f"{figures}: learner {learner}")
    assert ("without punctuation" in why) == without
    assert ("taught by CCL" in why) == (teacher == "ccl")


@pytest.mark.parametrize("size", [(500, 6, 200), (300, 13, 500)])
def test_a_learner_is_the_same_whether_named_or_chosen(size):
    chosen, named = (
        InductionPlan(learner=name).preprocess(text(*size)) for name in ("auto", "neural")
    )
    assert chosen[2:] == named[2:]
    assert chosen[0].preprocessing == named[0].preprocessing


@pytest.mark.parametrize("words", [6, 9], ids=["speech", "written"])
def test_the_same_bytes_whether_named_or_chosen(words, tmp_path):
    some = text(120, words, 40)
    options = {"K": 6, "iterations": 2, "quiet": True}
    for name in ("auto", "neural"):
        dbpcfg.induce(some, learner=name, out=tmp_path / name, **options)
    for file in ("config.toml", "corpus.npz", "trees.txt", "model.npz", "chains.tsv"):
        one, other = ((tmp_path / name / file).read_bytes() for name in ("auto", "neural"))
        assert one == other, file


def test_what_is_asked_for_is_kept():
    given = {"no_punctuation": False, "rare": 0, "max_length": 3}
    asked = {"preprocessing": given, "search": SearchOptions(chains=3)}
    plan = InductionPlan(learner_options={"teacher": "none", "stretch": 4}, **asked)
    corpus, _, settings, chains, _ = plan.preprocess(text(2000, 3, 4000))
    assert {name: getattr(corpus.preprocessing, name) for name in given} == given
    assert (settings.learner.teacher, settings.learner.stretch, chains) == ("none", 4, 3)
    deep = InductionPlan(model=ModelOptions(depth=4)).preprocess(text(500, 6, 200))
    assert deep[2].depth == 4
    assert choose(TextFigures(2000, 6000, 50), ["gibbs"]) == "gibbs"


def test_known_brackets_are_the_teacher():
    some = [Sentence((*one.words, "[the", "dog]")) for one in text(200, 12, 500)]
    plan = InductionPlan(preprocessing={"brackets": "text"})
    _, lessons, settings, *_ = plan.preprocess(some)
    assert (settings.learner.teacher, settings.learner.stretch) == ("none", 0)
    assert lessons is None


@pytest.mark.parametrize(
    ("options", "learners"),
    [
        ({}, BOTH),
        ({"exact": True}, BOTH),
        ({"beta": 0.1}, ["gibbs"]),
        ({"rate": 0.1, "beta": None}, ["neural"]),
    ],
)
def test_an_option_of_one_learner_chooses_it(options, learners):
    assert possible(options, SearchOptions(), scheduled=False) == learners


def test_options_of_different_learners():
    with pytest.raises(DbpcfgError, match="rate, beta: name the learner"):
        dbpcfg.induce(SENTENCES, rate=0.1, beta=0.1)
    assert possible({}, SearchOptions(inference="paper"), scheduled=False) == ["gibbs"]


def test_a_run_says_why(tmp_path):
    run = dbpcfg.induce(SENTENCES, K=1, iterations=2, chains=1, out=tmp_path / "run")
    assert "learner gibbs" in run.configuration.why
    assert load_configuration(tmp_path / "run" / "config.toml") == run.configuration
    named = dbpcfg.induce(SENTENCES, learner="gibbs", K=1, iterations=2, chains=1)
    assert named.configuration.why == run.configuration.why


def test_words_are_counted_as_they_are_split():
    sentences = [*[Sentence(("dog,", "Dog."))] * 5, Sentence(("!",))]
    figures = TextFigures.of(sentences, Preprocessing(tokens="punctuation"))
    assert str(figures) == "5 sentences of 2.0 words, 10.0 tokens per form"


def test_limits_belong_to_what_they_are_limits_of():
    sentences = [Sentence(("a", "b", ".")), Sentence(("a", "b", "c")), Sentence(("!",))]
    assert TextFigures.of(sentences, Preprocessing(max_length=2)) == (1, 2, 2)
    assert TextFigures(5000, 40_000, 4000).is_speech
    assert not TextFigures(5000, 40_000, 4001).is_speech
    assert TextFigures(100, 800, 200).is_speech
    assert not TextFigures(100, 800, 201).is_speech
    assert choose(TextFigures(100, 600, 50), BOTH) == "neural"


@pytest.mark.parametrize(
    ("least", "options"), [(10, {"chains": 2, "iterations": 10}), (500, {"budget": 200})]
)
def test_gold_trees_choose_nothing(tmp_path, monkeypatch, least, options):
    monkeypatch.setattr("dbpcfg.induction.auto.MIN_SENTENCES", least)
    text = [one.words() for one in synthetic_trees("center", sentences=20)]
    right, shuffled = (
        [branching_tree(shape, words, stream(7), n) for n, words in enumerate(text)]
        for shape in ("right", "random")
    )
    given = {"none": None, "right": right, "shuffled": shuffled}
    runs = {
        name: dbpcfg.induce(
            text, gold=trees, gold_sources=["gold"], K=3, out=tmp_path / name, **options
        )
        for name, trees in given.items()
    }
    assert runs["none"].configuration.model.learner.name == ("neural" if least == 10 else "gibbs")
    cards = [dict(dbpcfg.load(tmp_path / name / "model.npz").card) for name in given]
    f1 = [card.pop("f1_not_used_for_selection", None) for card in cards]  # only this differs
    assert (f1[0], len({str(card) for card in cards})) == (None, 1)
    for file in ("trees.txt", "samples.npz", "agreement.tsv", "corpus.npz"):
        assert len({(tmp_path / name / file).read_bytes() for name in given}) == 1, file
    models = [dbpcfg.load(tmp_path / name / "model.npz") for name in given]
    assert models[0] == models[1] == models[2]
    scores = [runs[name].best.scores for name in ("right", "shuffled")]
    assert scores[0] != scores[1]  # they are looked at, for this only


@pytest.mark.parametrize(("sentences", "batch"), [(100, 8), (1000, 16), (3000, 48), (9000, 64)])
def test_little_speech_has_small_mini_batches(sentences, batch):
    """There are as many steps as in more of it; other texts, and what is asked for, stay."""
    speech, written = (
        TextFigures(sentences, 5 * sentences, forms) for forms in (20, 3 * sentences)
    )
    assert learner_with("neural", {}).suited_to(speech, Preprocessing()).batch == batch
    assert learner_with("neural", {}).suited_to(written, Preprocessing()).batch == 64
    assert learner_with("neural", {"batch": 5}).suited_to(speech, Preprocessing()).batch == 5


@pytest.mark.parametrize(
    ("figures", "speech"),
    [
        (TextFigures(1000, 4863, 666), True),
        (TextFigures(16689, 83000, 3050), True),
        (TextFigures(200, 1000, 251), False),  # hardly a form comes four times
        (TextFigures(5000, 29000, 5370), False),  # short sentences of many words
        (TextFigures(5000, 40001, 300), False),  # long sentences
    ],
)
def test_speech_is_short_and_has_few_words(figures, speech):
    assert figures.is_speech is speech
