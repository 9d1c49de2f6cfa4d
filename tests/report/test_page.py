"""The page as people use it, in a real browser."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.induction.directory import finished_run
from dbpcfg.report.assemble import collect, write_page
from tests.report.browser import OpenPage
from tests.report.small import HOSTILE, TREES, make_run, unpack
from tests.stores import store_states


def _ends(tree):
    return [(span.start, span.end) for span in tree.spans()]


@pytest.fixture
def opened(browser, page):
    found = OpenPage(browser, page)
    yield found
    found.tab.close()


def test_it_loads_nothing_and_complains_of_nothing(opened, page):
    for section in ("trees", "grammar", "scores", "chains", "modes", "memory", "settings"):
        assert len(opened.text(f"#{section}")) > 100
    for word in range(len(HOSTILE)):  # look at every one of them
        opened.tab.keyboard.press("j")
        assert opened.text("#where").startswith(f"{word + 2} of")
    assert opened.requests == [page.as_uri()]
    assert opened.complaints == []


def test_the_check_for_requests_can_fail(browser, tmp_path):
    path = tmp_path / "bad.html"
    path.write_text(
        "<html data-ready><img src='other.png'><script>console.error('no')</script></html>"
    )
    bad = OpenPage(browser, path)
    bad.tab.wait_for_load_state()
    assert len(bad.requests) > 1
    assert "no" in bad.complaints


def test_hostile_words_are_shown_as_they_are(opened):
    for tree, hostile in zip(TREES, HOSTILE, strict=False):
        assert hostile in tree.words()
        opened.tab.fill("#sentence-search", hostile)
        assert hostile in opened.tab.locator("#tree-view svg text").all_text_contents()
        sentence = opened.tab.locator("#tree-view .sentence").text_content()
        assert sentence == " ".join(tree.words())
    assert opened.tab.locator("img, b i, main script").count() == 0
    assert opened.complaints == []


def test_sentences_are_filtered_and_stepped_through(opened, run, data):
    where = lambda: opened.text("#where")  # noqa: E731
    count = len(TREES)
    assert where().startswith(f"1 of {count}: sentence 1")
    opened.tab.click("#next")
    assert where().startswith(f"2 of {count}: sentence 2")
    opened.tab.keyboard.press("k")
    opened.tab.focus("#sentence-list")
    opened.tab.keyboard.press("End")
    assert where().startswith(f"{count} of {count}")
    opened.tab.keyboard.press("ArrowUp")
    assert where().startswith(f"{count - 1} of {count}")
    chosen = opened.tab.locator("#sentence-list [aria-selected=true]")
    assert chosen.inner_text().startswith(" ".join(TREES[-2].words()))

    sizes = np.array([len([tag for tag in tree.tags() if tag not in ",."]) for tree in TREES])
    opened.tab.fill("#shortest", "4")
    opened.tab.fill("#longest", "5")
    assert where().startswith(f"1 of {((sizes >= 4) & (sizes <= 5)).sum()}:")
    opened.tab.click("#trees button:has-text('Clear')")
    f1 = unpack(data["sentences"]["f1"])
    opened.tab.fill("#best", "50")
    assert where().startswith(f"1 of {(f1 <= 50).sum()}:")
    opened.tab.click("#trees button:has-text('Clear')")
    trees = run.trees()
    for c in range(4):
        having = [t for t in trees if f"X{c}" in {node.label for node in t.nodes()}]
        opened.tab.select_option("#has-category", str(c))
        assert where().startswith(f"1 of {len(having)}:" if having else "no sentence")
    opened.tab.select_option("#has-category", "")
    opened.tab.select_option("#sentence-sort", "long")
    opened.tab.locator("#sentence-sort").blur()
    assert where().startswith(f"1 of {count}: sentence {sizes.argmax() + 1},")
    opened.tab.keyboard.press("/")  # to the search, where typing steps nowhere
    opened.tab.keyboard.type("k no such word")
    assert opened.tab.input_value("#sentence-search") == "k no such word"
    assert where() == "no sentence"
    assert opened.complaints == []


def test_crossing_brackets_are_those_that_cross(opened, run, gold):
    crossed = 0
    for s, (mine, theirs) in enumerate(zip(run.trees()[:12], TREES, strict=False)):
        before = np.concatenate([[0], np.cumsum(~np.array(gold.punctuation[s]))])
        ours, others = (
            [(before[i], before[j]) for i, j in _ends(tree) if before[j] - before[i] > 1]
            for tree in (mine, theirs)
        )
        cross = [(i, j) for i, j in ours if any(i < k < j < l or k < i < l < j for k, l in others)]
        panel = f"#figure-induced-{s + 1}"
        assert opened.tab.locator(f"{panel} .box.cross").count() == len(cross)
        assert opened.tab.locator(f"{panel} .crossed").count() == len(cross)  # not by colour only
        assert opened.tab.locator(f"{panel} .box.same").count() == sum(o in others for o in ours)
        crossed += len(cross)
        opened.tab.keyboard.press("j")
    assert crossed


def test_the_store_is_the_left_corner_parsers(opened, run):
    for tree in run.trees()[:3]:
        for t, store in enumerate(store_states(tree)):
            opened.tab.locator("#time").fill(str(t))
            said = opened.text("#store-now")
            assert re.findall(r"(X\d)/(X\d) at depth \d", said) == [tuple(f) for f in store]
        opened.tab.click("#word-back")
        assert opened.tab.input_value("#time") == str(len(tree) - 1)
        opened.tab.click("#next")


def test_the_store_plays_word_by_word(opened, run):
    words = len(run.trees()[0])
    opened.tab.clock.install(time=0)
    opened.tab.clock.pause_at(10**7)  # from here on it stands still, but for run_for
    opened.tab.locator("#time").fill(str(words))
    opened.tab.click("#play")
    for t in range(words + 1):
        assert opened.tab.input_value("#time") == str(t)
        opened.tab.clock.run_for(900)
    assert opened.text("#play") == "▶ Play"
    assert "the store is empty" in opened.text("#store-now")


def test_trees_can_be_read_as_lists(opened, run):
    tree = run.trees()[0]
    opened.tab.click("#figure-induced-1 summary")
    items = opened.tab.locator("#figure-induced-1 li")
    items.first.wait_for()
    for node, item in zip(tree.nodes(), items.all(), strict=True):
        text = item.text_content()
        assert text.startswith(node.label)
        assert item.locator("li").count() == sum(1 for _ in node.nodes()) - 1
        if node.preterminal:
            assert text == f"{node.label} {node.words()[0]}"


def test_categories_are_searched_and_sorted(opened, data):
    names = lambda: opened.texts("#categories h4")  # noqa: E731
    assert names() == [one["name"] for one in data["grammar"]["categories"]]
    opened.tab.select_option("#category-sort", "name")
    assert names() == ["X0", "X1", "X2", "X3"]
    opened.tab.select_option("#category-sort", "root")
    roots = sorted(data["grammar"]["categories"], key=lambda one: -one["root"])
    assert names()[0] == roots[0]["name"]
    opened.tab.fill("#category-search", "x2")
    assert "X2" in names()
    opened.tab.fill("#category-search", "no such thing")
    assert names() == []


def test_every_figure_can_be_saved_as_svg(browser, page):
    opened = OpenPage(browser, page)
    buttons = opened.tab.locator("button:has-text('SVG')")
    assert buttons.count() >= 9
    for n in range(buttons.count()):
        if n and n % 10 == 0:  # the browser asks whether a page may save more
            assert opened.complaints == []
            opened.tab.close()
            opened = OpenPage(browser, page)
            buttons = opened.tab.locator("button:has-text('SVG')")
        with opened.tab.expect_download() as saved:
            buttons.nth(n).click()
        assert saved.value.suggested_filename.endswith(".svg")
        root = ET.parse(saved.value.path()).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        text = next(root.iter("{http://www.w3.org/2000/svg}text"))
        assert text.get("fill") == "rgb(28, 35, 33)" or text.get("fill") == "rgb(86, 96, 93)"
    assert opened.complaints == []


def test_the_verdict_and_three_trees_come_first(opened, run):
    assert opened.tab.locator("main > section").first.get_attribute("id") == "glance"
    assert opened.tab.locator("main > section").last.get_attribute("id") == "settings"
    shown = opened.text("#verdict")
    for words in (run.verdict.learned, run.verdict.trust, run.verdict.advice):
        assert words in shown
    assert opened.tab.locator("#verdict.wary").count() == (run.verdict.level == "poor")
    children = opened.tab.locator("#glance > *").evaluate_all(
        "all => all.map(one => one.classList[0])"
    )
    assert children.index("verdict") < children.index("first") < children.index("facts")
    first = opened.tab.locator("#glance figure")
    assert first.count() == 3
    for n in range(3):
        s = int(first.nth(n).get_attribute("id").rpartition("-")[2])
        assert first.nth(n).locator(".word").all_text_contents() == TREES[s - 1].words()


def test_sections_are_within_a_phone(browser, page):
    found = OpenPage(browser, page, width=360)
    ends = found.tab.locator("nav.sections a").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().right)"
    )
    assert len(ends) == 8
    assert max(ends) <= 360
    assert found.complaints == []


@pytest.mark.parametrize("options", [{"width": 360}, {"color_scheme": "dark"}])
def test_phone_and_dark(browser, page, options):
    found = OpenPage(browser, page, **options)
    assert found.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    paper = found.tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(19, 23, 22)") == ("color_scheme" in options)
    assert found.complaints == []


def test_the_navigation_marks_the_section_in_sight(opened):
    for section in ("memory", "chains", "grammar"):
        opened.tab.evaluate(
            "id => document.getElementById(id).scrollIntoView({behavior: 'instant'})", section
        )
        opened.tab.wait_for_selector(f"nav a[href='#{section}'][aria-current]")
        assert opened.tab.locator("nav a[aria-current]").count() == 1


def test_without_gold_trees(browser, run, run_path, tmp_path):
    path = tmp_path / "plain.html"
    write_page(collect(run, run_path), path)
    found = OpenPage(browser, path)
    assert "--gold TREEBANK" in found.text("#scores")
    assert found.tab.locator("#figure-induced-1").count() == 1
    assert found.tab.locator("#figure-gold-1").count() == 0
    assert found.complaints == []


@pytest.fixture
def race_opened(browser, race_data, tmp_path):
    path = tmp_path / "race.html"
    write_page(race_data, path)
    found = OpenPage(browser, path)
    yield found
    assert found.complaints == []
    assert found.requests == [path.as_uri()]
    found.tab.close()


def test_a_race_shows_who_was_dropped_and_when(race_opened, race):
    dropped = [chain for chain in race.chains if chain not in race.survivors]
    first, last = race.configuration.rungs
    assert race_opened.text("#race") == (
        f"A race: 5 chains began. After {first.iterations} iterations the best 2 went on, "
        f"which ran to {last.iterations}."
    )
    traces = race_opened.tab.locator("#figure-traces")
    assert traces.locator(".rung").count() == 1
    assert "5 → 2" in traces.locator("svg").text_content()
    assert traces.locator("g.dropped").count() == len(dropped) == 3
    titles = traces.locator("g.dropped title").all_text_contents()
    assert sorted(titles) == [
        f"chain {chain.settings.chain}, dropped after {first.iterations} iterations"
        for chain in dropped
    ]
    assert "selected by mean log-posterior after burn-in" in race_opened.text("#chains")
    rows = race_opened.texts("#chains > .scroll tbody tr")
    assert len(rows) == 2
    head = race_opened.text("#chains > .scroll thead")
    for name in ("posterior", "variance", "held out", "agreement"):
        assert name in head
    share = race.shared.agreement(race.best.settings.chain)
    assert all(row.endswith(f"{100 * share:.1f}%") for row in rows)
    assert race_opened.text("#dropped summary") == "3 chains that were dropped"
    race_opened.tab.click("#dropped summary")
    assert len(race_opened.texts("#dropped tbody tr")) == 3
    race_opened.tab.check("#late")  # chains that were dropped before have no points then
    assert traces.locator("g.dropped, .rung").count() == 0
    assert traces.locator(".curve").count() == 2


def test_a_learner_without_samples_has_its_own_columns(browser, gold, tmp_path):
    path = make_run(tmp_path / "run", learner="neural", iterations=3, trees="consensus")
    run = finished_run(path)
    write_page(collect(run, path, gold), tmp_path / "page.html")
    found = OpenPage(browser, tmp_path / "page.html")
    head = found.texts("#chains > .scroll thead th")
    assert head == ["chain", "iterations", "log-likelihood", "per token", "agreement"]
    assert found.tab.locator("#late, #figure-traces .burn").count() == 0
    named = ("glance", "chains", "scores", "modes", "settings")
    text = " ".join(found.text(f"#{name}") for name in named)
    assert "β" not in text
    assert "Variance" not in text
    assert "burn-in" not in text
    assert "R-hat" not in text
    assert "Of the last iteration." in text
    assert "iterations done" in text
    agreement = f"{100 * run.shared.agreement():.1f}%"
    assert agreement in found.text("#glance")
    assert found.complaints == []
    found.tab.close()


@pytest.mark.parametrize(
    ("made", "shown", "there"),
    [("run", "opened", {"some", "none"}), ("race", "race_opened", {"all", "none"})],
)
def test_brackets_show_how_many_other_chains_have_them(made, shown, there, request):
    run, found = request.getfixturevalue(made), request.getfixturevalue(shown)
    others = [run.trees(chain) for chain in run.survivors if chain is not run.best]
    seen = set()
    for s, tree in enumerate(run.trees()[:9]):
        counts = [
            sum((span.start, span.end) in _ends(trees[s]) for trees in others)
            for span in tree.spans()
            if span.end - span.start < len(tree)
        ]
        kinds = ["all" if n == len(others) else "some" if n else "none" for n in counts]
        panel = found.tab.locator(f"#figure-induced-{s + 1}")
        for kind in ("all", "some", "none"):  # each bracket has two branches
            assert panel.locator(f".shared-{kind}").count() == 2 * kinds.count(kind)
        titles = [t for t in panel.locator("title").all_text_contents() if "shared" in t]
        noun = "chain" if len(others) == 1 else "chains"
        said = [f"shared by {n} of {len(others)} {noun}" for n in counts]
        assert [title.split("; ")[-1] for title in titles] == said
        line = found.tab.locator("#sentence-list [aria-selected=true]").inner_text()
        share = run.shared.sentences()[s] if counts else None
        percentage = re.search(r"shared (\d+)%", line)
        assert (percentage is None) == (share is None)
        if percentage is not None:
            assert int(percentage[1]) == pytest.approx(100 * share, abs=0.51)
        now = found.text("#shared-now")
        assert now.count("“") == sum(n < len(others) for n in counts)
        seen.update(kinds)
        found.tab.keyboard.press("j")
    assert there <= seen
    assert found.complaints == []


def test_the_least_shared_sentences_come_first(opened, run):
    opened.tab.select_option("#sentence-sort", "apart")
    opened.tab.locator("#sentence-sort").blur()
    shares = np.round(100 * run.shared.sentences())
    order = np.argsort(np.nan_to_num(shares, nan=255), kind="stable")
    for place in range(8):
        assert opened.text("#where").startswith(f"{place + 1} of 41: sentence {order[place] + 1}")
        opened.tab.keyboard.press("j")


def test_other_modes(opened, run, data):
    rows = opened.texts("#modes tbody tr")
    assert len(rows) == 3
    assert rows[0].startswith(f"{run.best.settings.chain} ★ selected")
    first, second = data["modes"]
    for row, mode in zip(rows[1:], (first, second), strict=True):
        chain = next(c for c in run.chains if c.settings.chain == mode["chain"])
        assert row.startswith(f"{mode['chain']}\t")
        for number in (
            chain.mean_log_likelihood,
            np.mean(chain.trace("posterior")[-chain.retained :]),
        ):
            assert f"{number:,.1f}".replace("-", "−") in row
        assert f"{100 * mode['agreement']:.1f}%" in row
    assert opened.tab.locator(f"#mode-{first['chain']} svg").count() == 2 * len(first["examples"])
    closed = opened.tab.locator(f"#mode-{second['chain']}")
    assert closed.locator("svg").count() == 0  # drawn when it is opened
    closed.locator("summary").click()
    closed.locator("svg").first.wait_for()
    assert closed.locator("svg").count() == 2 * len(second["examples"])
    for example in second["examples"]:
        s, number = example["sentence"] + 1, second["chain"]
        for name in (f"mode-{number}-selected", f"mode-{number}"):
            panel = opened.tab.locator(f"#figure-{name}-{s}")
            assert panel.locator(".word").all_text_contents() == TREES[s - 1].words()
            # The whole sentence is in both trees.
            assert panel.locator(".box.same").count() == example["common"] + 1
    assert opened.complaints == []


def test_of_one_chain_nothing_is_compared(browser, tmp_path):
    run_path = make_run(tmp_path / "run", chains=1, iterations=4)
    path = tmp_path / "one.html"
    write_page(collect(finished_run(run_path), run_path), path)
    found = OpenPage(browser, path)
    assert "Only one chain ran to the end" in found.text("#modes")
    assert found.tab.locator("#shared-now, #dropped, #race").count() == 0
    assert found.tab.locator("#sentence-sort option[value=apart]").count() == 0
    assert "shared" not in found.text("#trees")
    assert found.complaints == []
    found.tab.close()


def test_of_four_thousand_sentences_few_are_drawn_at_once(browser, tmp_path):
    text = TREES * (4_000 // len(TREES) + 1)
    path = make_run(tmp_path / "run", text, chains=1, iterations=2)
    run = finished_run(path)
    sentences = [Sentence(tuple(t.words()), tuple(t.tags()), t) for t in text]
    page = tmp_path / "large.html"
    write_page(collect(run, path, run.match_gold(sentences, "text")), page)
    assert page.stat().st_size < 1.3e6
    found = OpenPage(browser, page)
    assert found.tab.locator("[role=option]").count() < 100  # the rest is not there yet
    found.tab.focus("#sentence-list")
    found.tab.keyboard.press("End")
    assert found.text("#where").startswith(f"{len(text):,} of")
    assert found.complaints == []
