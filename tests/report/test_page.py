"""The page as people use it, in a real browser."""

from __future__ import annotations

import re
import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from dbpcfg.corpus.sentence import Sentence
from dbpcfg.induction.directory import finished_run
from dbpcfg.report.assemble import write_page
from dbpcfg.report.collect import collect
from tests.report.browser import Opened, chromium
from tests.report.small import HOSTILE, TREES, make_run
from tests.report.unpacking import unpack
from tests.stores import store_states


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def opened(browser, page):
    found = Opened(browser, page)
    yield found
    found.tab.close()


def test_it_loads_nothing_and_complains_of_nothing(opened, page):
    for section in ("glance", "chains", "scores", "grammar", "trees", "memory"):
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
    bad = Opened(browser, path)
    bad.tab.wait_for_load_state()
    assert len(bad.requests) > 1
    assert "no" in bad.complaints


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_hostile_word_is_shown_as_it_is(opened, number):
    words = TREES[number].words()
    assert HOSTILE[number] in words
    opened.tab.fill("#sentence-search", HOSTILE[number])
    shown = opened.tab.locator("#tree-view svg text").all_text_contents()
    assert HOSTILE[number] in shown
    assert opened.tab.locator("#tree-view .sentence").text_content() == " ".join(words)
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
    assert where().startswith(f"1 of {count}: sentence {sizes.argmax() + 1},")
    opened.tab.fill("#sentence-search", "no such word")
    assert where() == "no sentence"
    assert opened.complaints == []


def test_slash_goes_to_the_search_and_typing_steps_nowhere(opened):
    opened.tab.keyboard.press("/")
    opened.tab.keyboard.type("c1")
    assert opened.tab.input_value("#sentence-search") == "c1"
    assert opened.text("#where").startswith("1 of ")


def test_crossing_brackets_are_those_that_cross(opened, run, gold):
    def words(span, before):
        return before[span.start], before[span.end]

    crossed = 0
    for s, (mine, theirs) in enumerate(zip(run.trees(), TREES, strict=True)):
        if s == 12:
            break
        before = np.concatenate([[0], np.cumsum(~np.array(gold.punctuation[s]))])
        ours = [words(span, before) for span in mine.spans()]
        gold_spans = {words(span, before) for span in theirs.spans()}
        ours = [(i, j) for i, j in ours if j - i > 1]
        cross = [
            (i, j) for i, j in ours if any(i < k < j < l or k < i < l < j for k, l in gold_spans)
        ]
        panel = f"#figure-induced-{s + 1}"
        assert opened.tab.locator(f"{panel} .box.cross").count() == len(cross)
        assert opened.tab.locator(f"{panel} .crossed").count() == len(cross)  # not by colour only
        same = [span for span in ours if span in gold_spans]
        assert opened.tab.locator(f"{panel} .box.same").count() == len(same)
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


def test_every_figure_can_be_saved_as_svg(opened):
    buttons = opened.tab.locator("button:has-text('SVG')")
    assert buttons.count() >= 9
    for n in range(buttons.count()):
        with opened.tab.expect_download() as saved:
            buttons.nth(n).click()
        assert saved.value.suggested_filename.endswith(".svg")
        root = ET.parse(saved.value.path()).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        text = next(root.iter("{http://www.w3.org/2000/svg}text"))
        assert text.get("fill") == "rgb(28, 35, 33)" or text.get("fill") == "rgb(86, 96, 93)"
    assert opened.complaints == []


@pytest.mark.parametrize("options", [{"width": 380}, {"color_scheme": "dark"}])
def test_phone_and_dark(browser, page, options):
    found = Opened(browser, page, **options)
    assert found.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    paper = found.tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(19, 23, 22)") == ("color_scheme" in options)
    assert found.complaints == []


def test_the_navigation_marks_the_section_in_sight(opened):
    for section in ("memory", "chains", "grammar"):
        opened.tab.evaluate(
            "id => document.getElementById(id).scrollIntoView({behavior: 'instant'})", section
        )
        opened.tab.wait_for_selector(f"nav a[href='#{section}'][aria-current]", timeout=2000)
        assert opened.tab.locator("nav a[aria-current]").count() == 1


def test_without_gold_trees(browser, run, run_path, tmp_path):
    path = tmp_path / "plain.html"
    write_page(collect(run, run_path), path)
    found = Opened(browser, path)
    assert "--gold TREEBANK" in found.text("#scores")
    assert found.tab.locator("#figure-induced-1").count() == 1
    assert found.tab.locator("#figure-gold-1").count() == 0
    assert found.complaints == []


@pytest.mark.slow
def test_sixteen_thousand_sentences_open_in_three_seconds(browser, tmp_path):
    text = TREES * (16_000 // len(TREES) + 1)
    path = make_run(tmp_path / "run", text, chains=1, iterations=2)
    run = finished_run(path)
    sentences = [Sentence(tuple(t.words()), tuple(t.tags()), t) for t in text]
    page = tmp_path / "large.html"
    write_page(collect(run, path, run.match_gold(sentences, "text")), page)
    assert page.stat().st_size < 5e6
    before = time.monotonic()
    found = Opened(browser, page)
    assert time.monotonic() - before < 3
    assert found.tab.locator("[role=option]").count() < 100  # the rest is not there yet
    found.tab.focus("#sentence-list")
    found.tab.keyboard.press("End")
    assert found.text("#where").startswith(f"{len(text):,} of")
    assert found.complaints == []
