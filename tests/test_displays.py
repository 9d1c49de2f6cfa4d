"""What Python and notebooks show of corpora, runs, models and results: short, and escaped."""

import sys
import types
from html.parser import HTMLParser

import pytest

import dbpcfg
from dbpcfg.corpus.preprocessing import Preprocessing, preprocess
from dbpcfg.errors import DbpcfgError
from dbpcfg.io.tables import Column, Table
from dbpcfg.model.columns import DEFAULT

HOSTILE = ["<script>alert`1`</script>", "a&b", '"><img/src=http://x.example/y>']
VOID = {"br", "img", "hr"}


class Page(HTMLParser):
    """Collects tags and text, and checks that what is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        assert {name for name, _ in attributes} <= {"style", "class", "title"}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    path = tmp_path_factory.mktemp("displays") / "hostile <b>.trees"
    words = HOSTILE
    trees = [f"(S (NP (D {words[0]}) (N {words[1]})) (V {words[2]}))", "(S (N a&b) (V ran))"]
    path.write_text("\n".join(trees * 400))
    corpus = dbpcfg.read(path)
    run = dbpcfg.induce(corpus, K=2, D=1, chains=2, iterations=4, learner="gibbs")
    systems = ["right", "left", "balanced"]
    return {
        "corpus": corpus,
        "prepared": preprocess(corpus, Preprocessing()),
        "run": run,
        "chain": run.chains[0],
        "model": run.model,
        "evaluation": dbpcfg.evaluate(corpus, run.trees()),
        "comparison": dbpcfg.compare(corpus, systems),
    }


def test_reprs_are_short(shown):
    for name, item in shown.items():
        assert len(repr(item).splitlines()[0]) <= 200, name
        assert repr(item).startswith(f"<{type(item).__name__}"), repr(item)
    first, *verdict = repr(shown["run"]).splitlines()
    assert first == "<Run: K = 2, D = 1, 800 sentences, 2 chains of 4 iterations, finished>"
    assert [line.partition(":")[0] for line in verdict] == ["learned", "trust", "next"]
    assert repr(shown["model"]) == "<Model: K = 2, D = 1, 4 words, 2 samples>"
    assert repr(shown["corpus"]).startswith("<Corpus: Read 800 sentences (2,000 tokens) from")
    assert repr(shown["evaluation"]).startswith("<Evaluation of 800 sentences: P ")


def test_notebooks_show_tables_without_scripts_or_links(shown):
    for name in ("corpus", "run", "model", "evaluation", "comparison"):
        text = shown[name]._repr_html_()
        page = Page(text)
        assert "table" in page.tags
        assert not {"script", "img", "link", "iframe", "a"} & set(page.tags)
        assert len(text) < 20_000
    assert HOSTILE[0] in Page(shown["corpus"]._repr_html_()).text
    assert "and 795 sentences more" in Page(shown["corpus"]._repr_html_()).text
    assert HOSTILE[2] in Page(shown["model"]._repr_html_()).text
    assert shown["run"].verdict.trust in Page(shown["run"]._repr_html_()).text
    assert "NP recall" in Page(shown["evaluation"]._repr_html_()).text
    assert "balanced" in Page(shown["comparison"]._repr_html_()).text


def test_a_run_that_has_not_begun_is_shown(shown, tmp_path):
    begun = dbpcfg.induce(
        [["a", "b"]], K=2, chains=1, iterations=9, checkpoint=0, should_stop=lambda: True
    )
    begun.chains[0].best = None
    assert "not finished" in repr(begun)
    assert Page(begun._repr_html_()).text


def test_a_cell_is_text():
    table = Table(HOSTILE[0], [Column("a<b"), Column("n", "count")], [(HOSTILE[2], 3)], ["x & y"])
    page = Page(table._repr_html_())
    assert page.tags == [
        *("table", "caption", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"),
        *("div", "small"),
    ]
    assert page.text == f"{HOSTILE[0]}a<bn{HOSTILE[2]}3x & y"


# --- data frames ----------------------------------------------------------------------------------


def frames(shown):
    model = shown["model"]
    return {
        "surprisal": lambda: model.surprisal(["a&b ran"]).to_frame(),
        "probability": lambda: model.probability(["a&b ran"]).to_frame(),
        "evaluation": lambda: shown["evaluation"].to_frame(),
        "comparison": lambda: shown["comparison"].to_frame(),
        "run": lambda: shown["run"].to_frame(),
        "grammar": lambda: shown["model"].grammar.to_frame(),
        "corpus": lambda: shown["corpus"].to_frame(),
    }


def test_without_pandas_the_message_says_what_to_install(shown, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for make in frames(shown).values():
        with pytest.raises(DbpcfgError, match="pip install pandas"):
            make()


def test_frames_have_every_row_and_unrounded_numbers(shown, monkeypatch):
    class Frame:
        def __init__(self, rows, columns):
            self.rows, self.columns = rows, columns
            assert {len(row) for row in rows} == {len(columns)}

    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=Frame))
    made = {name: make() for name, make in frames(shown).items()}
    rows = shown["model"].surprisal(["a&b ran"])
    assert isinstance(rows, list)
    assert repr(made["surprisal"].rows) == repr([tuple(row.values()) for row in rows])
    assert made["surprisal"].columns == list(DEFAULT)
    (text,) = made["probability"].rows
    found = dict(zip(made["probability"].columns, text))
    assert found["log_probability"] == shown["model"].probability(["a&b ran"]).log_probability
    scores = {row[0]: row[1] for row in made["evaluation"].rows}
    assert scores["F1"] == shown["evaluation"].score.f1
    assert [row[0] for row in made["comparison"].rows] == ["right", "left", "balanced"]
    means = [chain.mean_log_likelihood for chain in shown["run"].chains]
    at = made["run"].columns.index("mean_log_likelihood")
    assert [(row[0], row[at]) for row in made["run"].rows] == list(enumerate(means))
    probabilities = [row[-1] for row in made["grammar"].rows]
    assert sum(probabilities) == pytest.approx(3)  # those of T and of two categories
    assert min(probabilities) > 0
    file = shown["corpus"].sources[0]
    assert made["corpus"].rows[1] == (file, 2, None, "a&b ran", 2, "(S (N a&b) (V ran))")


def test_frames_of_pandas_itself(shown):
    pytest.importorskip("pandas")
    for make in frames(shown).values():
        assert len(make())


def test_measured_words_are_shown_as_a_table(shown):
    page = Page(shown["model"].surprisal(["a&b ran"])._repr_html_())
    assert "3 rows" in page.text
    assert "next_word_entropy" in page.text


def test_arrays_are_not_printed(shown):
    run = shown["run"]
    assert repr(run.grammar) == "<Grammar: 2 categories, 4 words>"
    assert repr(run.corpus) == "<RunCorpus: 800 sentences, 4 forms>"


# --- plots, pages, files --------------------------------------------------------------------------


def test_plots_are_pictures(shown, monkeypatch):
    tree = shown["run"].trees()[1]
    assert tree.plot(size=20)._repr_svg_().startswith("<svg")
    assert 'font-size="20"' in tree.plot(size=20)
    pytest.importorskip("matplotlib")
    figure = shown["run"].plot()
    traces, shared = figure.axes
    assert len(traces.get_lines()) == 3  # two chains and the end of their burn-in
    assert [text.get_text() for text in shared.texts][0::3] == ["100", "100"]
    assert figure._repr_png_().startswith(b"\x89PNG")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DbpcfgError, match=r"pip install 'dbpcfg\[report\]'"):
        shown["run"].plot()


def test_a_run_in_memory_writes_its_page(shown, tmp_path):
    page = tmp_path / "mine.html"
    shown["run"].report(page, gold=shown["corpus"], quiet=True)
    text = page.read_text()
    assert '"name":"mine"' in text
    assert '"scores":{' in text
    page.write_text("other")
    with pytest.raises(DbpcfgError, match="is not a report"):
        shown["run"].report(page)


def test_a_saved_run_is_the_same_as_one_with_a_directory(tmp_path):
    text, options = ["the dog saw a cat", "a cat ran"] * 4, {"K": 2, "chains": 2, "seed": 1}
    gold = [dbpcfg.Tree("S", one.split()) for one in text]
    run = dbpcfg.induce(text, iterations=6, gold=gold, learner="gibbs", **options)
    run.save(tmp_path / "saved")
    dbpcfg.induce(text, iterations=6, gold=gold, learner="gibbs", out=tmp_path / "out", **options)
    for one in ("trees.txt", "model.npz", "chains.tsv", "chains/1/chain.npz", "chains/1/trace.tsv"):
        assert (tmp_path / "saved" / one).read_bytes() == (tmp_path / "out" / one).read_bytes()
    longer = dbpcfg.resume(tmp_path / "saved", iterations=12, quiet=True)
    again = dbpcfg.induce(text, iterations=12, learner="gibbs", **options)
    assert longer.trees() == again.trees()
    with pytest.raises(DbpcfgError, match="not empty"):
        run.save(tmp_path / "saved")


@pytest.mark.parametrize("version", ["0.23.1", "1.1.0"])
def test_arviz_gets_chains_and_draws(shown, monkeypatch, version):
    def old(*, posterior):
        return posterior

    def new(groups):
        return groups["posterior"]

    arviz = types.SimpleNamespace(__version__=version, from_dict=old if version < "1" else new)
    monkeypatch.setitem(sys.modules, "arviz", arviz)
    run = shown["run"]
    found = run.to_arviz()
    assert found["log_likelihood"].tolist() == [chain.logs[2:] for chain in run.chains]
    assert {"posterior", "variance"} <= set(found)
    assert "beta" not in found
    options = {"learner": "gibbs", "sample_beta": True, "iterations": 4, "chains": 2}
    sampled = dbpcfg.induce(["a b", "b a"], K=2, D=1, quiet=True, **options)
    assert sampled.to_arviz()["beta"].tolist() == [chain.betas[2:] for chain in sampled.chains]
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(DbpcfgError, match=r"pip install 'dbpcfg\[arviz\]'"):
        run.to_arviz()
