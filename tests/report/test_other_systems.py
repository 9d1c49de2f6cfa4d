"""Other systems beside a run: what is taken from a comparison, what is refused, what is shown."""

import json
import xml.etree.ElementTree as ET

import pytest

from dbpcfg.corpus.reading import read
from dbpcfg.errors import DbpcfgError
from dbpcfg.experiments.compare import compare
from dbpcfg.experiments.comparison import comparison_data
from dbpcfg.experiments.corpora import Task
from dbpcfg.report import figures
from dbpcfg.report.assemble import collect, write_page
from dbpcfg.report.scores import match_comparison, read_comparison
from dbpcfg.systems.registry import SystemSpec
from tests.command import printed, refused
from tests.report.browser import OpenPage
from tests.report.small import HOSTILE, TREES

EVIL = HOSTILE[1]


def tampered(directory, change, to):
    """The same comparison in another directory, after a change to its data."""
    content = comparison_data(directory)
    change(content)
    to.mkdir()
    (to / "comparison.json").write_text(json.dumps(content))
    return to


def rename_and_fail(content):
    """A system of a hostile name whose third run failed in a hostile way, and a best one."""
    evil = content["systems"][1]
    evil["name"] = evil["summary"] = EVIL
    evil["failures"] = [{"seed": 2, "message": f"{HOSTILE[0]}\nand more"}]
    content["tests"][0]["against"] = EVIL
    content["systems"][2]["name"] = "a very long name " * 9


def _absent():
    raise DbpcfgError("it is not installed")


@pytest.fixture(scope="module")
def directory(treebank, tmp_path_factory):
    """Left and right branching, two runs of random trees, and a system that is not there."""
    path = tmp_path_factory.mktemp("comparison") / "here"
    absent = SystemSpec("absent", _absent)
    compare(Task.of(read(treebank)), ["right", "random", "left", absent], runs=2, out=path)
    return path


@pytest.fixture(scope="module")
def others(directory, run, gold, data):
    return match_comparison(read_comparison(directory), run, gold, data["scores"])


@pytest.fixture(scope="module")
def hostile(directory, run, run_path, gold, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    found = read_comparison(tampered(directory, rename_and_fail, folder / "comparison"))
    return collect(run, run_path, gold, comparison=found)


def test_systems_are_in_order_and_agree_with_the_runs_own_scores(others, directory, data):
    means = [one["f1"]["mean"] for one in others["systems"]]
    assert others["systems"][-1]["name"] == "absent"
    assert means[:-1] == sorted(means[:-1], reverse=True)
    assert means[-1] is None
    assert others["systems"][-1]["failures"][0]["message"]
    reached = {one["name"]: one for one in others["systems"]}
    for one in data["scores"]["systems"]:
        if one["name"] in ("right-branching", "left-branching"):
            theirs = reached[one["name"].split("-")[0]]
            assert [theirs[m]["mean"] for m in ("precision", "recall", "f1")] == pytest.approx(
                [one["precision"], one["recall"], one["f1"]]
            )
    runs = [run["f1"] for run in comparison_data(directory)["systems"][1]["runs"]]
    assert reached["random"]["f1"]["min"] == min(runs)
    assert reached["random"]["f1"]["max"] == max(runs)
    assert reached["random"]["runs"] == 2


def test_the_same_text_is_known(others, data):
    assert others["same"] is True
    assert others["differences"] == []
    chosen = next(one for one in data["scores"]["systems"] if one.get("selected"))
    assert others["own"] == {"chain": chosen["chain"], "f1": chosen["f1"]}


def test_without_gold_trees_only_numbers_are_compared(directory, run):
    found = match_comparison(read_comparison(directory), run, None, None)
    assert found["same"] is None
    assert found["own"] is None


def test_another_text_is_noted(directory, run, gold, data, tmp_path):
    def changed(**corpus):
        change = lambda content: content["corpus"].update(corpus)  # noqa: E731
        return read_comparison(tampered(directory, change, tmp_path / "-".join(corpus)))

    found = match_comparison(changed(sentences=7, lowercase=False), run, None, None)
    assert found["same"] is False
    assert found["differences"] == [f"it has 7 sentences, the run {len(TREES)}"]
    assert not found["same_case"]
    found = match_comparison(changed(digest="sha256:0"), run, gold, data["scores"])
    assert found["same"] is False
    assert "gold trees" in found["differences"][0]
    assert found["own"] is None


def test_scores_by_another_convention_are_not_put_beside(directory, run, gold, data):
    content = read_comparison(directory)
    for old, new, beside in (("length:any", "length:<=99", True), ("counted", "ignored", False)):
        changed = {**content, "signature": content["signature"].replace(old, new)}
        assert changed != content
        assert bool(match_comparison(changed, run, gold, data["scores"])["own"]) is beside


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["systems"][0]["spread"]["f1"].update(mean="<b>"),
        lambda content: content["tests"][0].update(p=float("nan")),
        lambda content: content.update(systems=[]),
        lambda content: content.pop("signature"),
        lambda content: content["systems"][0].update(settings=[1]),
    ],
    ids=["wrong number", "not finite", "no system", "no signature", "list for dict"],
)
def test_damaged_data_is_refused(directory, change, tmp_path):
    path = tampered(directory, change, tmp_path / "damaged")
    with pytest.raises(DbpcfgError, match="not as `dbpcfg compare --out` writes it"):
        read_comparison(path)


def test_the_command_shows_them_and_refuses_other_directories(
    run_path, directory, treebank, tmp_path
):
    out = tmp_path / "page.html"
    for wrong, why in ((run_path, "is not a comparison"), (treebank, "is a file")):
        said = refused("report", run_path, "--comparison", wrong, "--out", out)
        assert why in said
        assert "the directory that `dbpcfg compare --out` wrote" in said
    assert "does not exist" in refused("report", run_path, "--comparison", tmp_path / "no")
    assert not out.exists()
    printed("report", run_path, "--comparison", directory, "--out", out)
    assert '"others":{' in out.read_text()
    printed("report", run_path, "--out", out)
    assert '"others":null' in out.read_text()


@pytest.mark.filterwarnings("error")  # as that there is no room left for the plot
def test_the_figure_for_papers(hostile, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(figures, "_FIGURES", {"systems": figures._FIGURES["systems"]})
    written = {path.name: path for path in figures.write_figures(hostile, tmp_path)}
    text = "".join(ET.parse(written["systems.svg"]).getroot().itertext())
    assert EVIL in text
    assert "systems.pdf" in written


@pytest.fixture(scope="module")
def shown(browser, hostile, tmp_path_factory):
    path = tmp_path_factory.mktemp("shown") / "page.html"
    write_page(hostile, path)
    return lambda **options: OpenPage(browser, path, **options)


def test_the_section_is_in_the_page(shown, hostile):
    found = shown()
    others = hostile["others"]
    assert found.texts("nav.sections a")[3:5] == ["Scores", "Other systems"]
    rows = found.tab.locator("#others table").first.locator("tbody tr")
    cells = [rows.nth(n).locator("th, td").all_inner_texts() for n in range(rows.count())]
    names = [cell[0] for cell in cells]
    assert names[0] == f"{others['systems'][0]['name'].strip()} ★ best"
    assert names[1:] == [one["name"].strip() for one in others["systems"][1:]]
    for cell, one in zip(cells, others["systems"], strict=True):
        mean, sd = one["f1"]["mean"], one["f1"]["sd"]
        expected = "–" if mean is None else f"{100 * mean:.1f}"
        expected += "" if sd is None else f" ± {100 * sd:.1f}"
        assert " ".join(cell[4].split()) == expected
        assert cell[8] == str(len(one["failures"]))
    tests = found.tab.locator("#others table").nth(1).locator("tbody tr")
    assert tests.count() == len(others["tests"]) == 2
    assert f"{others['tests'][0]['p']:.4f}" in tests.nth(0).inner_text()
    assert others["signature"] in found.text("#others")
    drawn = found.tab.locator("#figure-systems svg").text_content()
    assert f"this run {100 * others['own']['f1']:.1f}" in drawn
    assert found.tab.locator("#figure-systems path.dot").count() == 3
    assert drawn.count("no score") == 1
    with found.tab.expect_download() as saved:
        found.tab.click("#figure-systems button")
    assert saved.value.suggested_filename == "systems.svg"
    assert EVIL[:12] in "".join(ET.parse(saved.value.path()).getroot().itertext())
    assert found.complaints == []


@pytest.mark.parametrize("options", [{}, {"width": 380}, {"color_scheme": "dark"}])
def test_hostile_names_are_text_on_every_screen(shown, options):
    found = shown(**options)
    assert EVIL in found.text("#others")
    assert HOSTILE[0] in found.text("#others .failures")
    assert found.tab.locator("img, #others script, #others b").count() == 0
    assert found.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert found.complaints == []


def test_names_in_the_figure_stay_within_it(shown):
    for width in (380, 1200):
        found = shown(width=width)
        frame = found.tab.locator("#figure-systems svg").bounding_box()
        for text in found.tab.locator("#figure-systems svg text").all():
            box = text.bounding_box()
            assert frame["x"] <= box["x"]
            assert box["x"] + box["width"] <= frame["x"] + frame["width"]


def test_nothing_is_cut_off_in_print(browser, directory, run, run_path, tmp_path):
    write_page(
        collect(run, run_path, comparison=read_comparison(directory)), tmp_path / "page.html"
    )
    found = OpenPage(browser, tmp_path / "page.html", width=718)  # A4 with the usual margins
    found.tab.emulate_media(media="print")
    for table in found.tab.locator("#others table").all():
        box = table.bounding_box()
        assert box["x"] + box["width"] <= 718 - 24  # and those of the page


def test_without_a_comparison_there_is_no_section(browser, page):
    found = OpenPage(browser, page)
    assert "Other systems" not in found.texts("nav.sections a")
    assert found.tab.locator("#others").count() == 0


def test_another_text_is_noted_on_the_page(browser, directory, run, run_path, tmp_path):
    change = lambda content: content["corpus"].update(sentences=9)  # noqa: E731
    found = read_comparison(tampered(directory, change, tmp_path / "fewer"))
    write_page(collect(run, run_path, comparison=found), tmp_path / "page.html")
    shown = OpenPage(browser, tmp_path / "page.html")
    assert f"it has 9 sentences, the run {len(TREES)}" in shown.text("#others .verdict.wary")
    assert shown.complaints == []
