"""The page of ``dbpcfg explore`` as people use it, in a real browser."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from dbpcfg.report.explore import MAX_WORDS, Explored, Question, new_server
from tests.report.browser import OpenPage
from tests.report.small import HOSTILE
from tests.stores import store_states

pytest.importorskip("dbpcfg.report.server")

TEXT = "a1 b2 c3 a2 b1"


@pytest.fixture(scope="module")
def one(run_path):
    return Explored.of_path(str(run_path))


@pytest.fixture(scope="module")
def other(run):
    """Another grammar, without a run: that of another chain, which sees no punctuation."""
    model = run.models[1 if run.best is run.survivors[0] else 0]
    preprocessing = replace(model.preprocessing, no_punctuation=True)
    return Explored(replace(model, preprocessing=preprocessing, depth=None), "other")


@pytest.fixture(scope="module")
def server(one):
    running = new_server([one])
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def both(one, other):
    running = new_server([one, other])
    running.start()
    yield running
    running.stop()


class Typed(OpenPage):
    """The page, with what people do."""

    def __init__(self, browser, server, state: str = f"#text={TEXT.replace(' ', '+')}", **options):
        super().__init__(browser, server.address + state, **options)
        self.tab.wait_for_selector("#choices-0 button")

    def type(self, text: str) -> None:
        """Type a sentence, and wait for its tree."""
        self.tab.fill("#text", text)
        self.wait_for_words(text.split())

    def wait_for_words(self, words: list[str], panel: int = 0) -> None:
        self.tab.wait_for_function(
            """([words, panel]) => JSON.stringify([...document.querySelectorAll(
                `#figure-mbr-tree-${panel} .word`)].map((one) => one.textContent)
            ) === JSON.stringify(words)""",
            arg=[words, panel],
        )

    def tree(self, panel: int = 0) -> list[str]:
        """The labels and words of the tree that is shown."""
        figure = self.tab.locator(".panel").nth(panel).locator("figure").first
        labels = figure.locator("svg .category.middle, svg .category .strong").all_text_contents()
        return sorted(labels) + figure.locator(".word").all_text_contents()

    def percentages(self, panel: int = 0) -> list[int]:
        figure = self.tab.locator(".panel").nth(panel).locator("figure").first
        texts = figure.locator("g.category .tiny").all_text_contents()
        return sorted(int(text.rstrip("%")) for text in texts)

    def expect(self, answer: dict, choice: int = 0, panel: int = 0) -> None:
        """Wait until a tree of an answer is shown, with its certainties."""
        nodes = answer["trees"][choice]["nodes"]
        labels = sorted(label for label, _, _ in nodes) + list(answer["words"])
        shares = sorted(share for _, children, share in nodes if children)
        for _ in range(600):
            if self.tree(panel) == labels and self.percentages(panel) == shares:
                return
            self.tab.wait_for_timeout(20)
        assert (self.tree(panel), self.percentages(panel)) == (labels, shares)

    def choose(self, first: int, last: int) -> None:
        """Drag from one word to another."""
        boxes = [self.tab.locator(f"#word-{n}").bounding_box() for n in (first, last)]
        (x, y), (u, v) = ((b["x"] + b["width"] / 2, b["y"] + b["height"] / 2) for b in boxes)
        self.tab.mouse.move(x, y)
        self.tab.mouse.down()
        self.tab.mouse.move((x + u) / 2, v)
        self.tab.mouse.move(u, v)
        self.tab.mouse.up()

    def close(self) -> None:
        assert self.complaints == []
        self.tab.close()


@pytest.fixture
def opened(browser, server):
    found = Typed(browser, server)
    yield found
    found.close()


def test_a_sentence_is_typed_and_understood(opened, one, server):
    opened.expect(one.answer(Question(TEXT, 2)))
    for text in ("a1 b2", "c3", "A1 b2 c3 a2"):
        opened.type(text)
        opened.expect(one.answer(Question(text, 2)))
    answer = one.answer(Question("A1 b2 c3 a2", 2))
    bars = opened.tab.locator(".bars").all_text_contents()
    assert len(bars) == 5
    for n, bar in enumerate(bars):
        assert f"surprisal {answer['surprisal'][n]:.2f} bits" in bar
        assert f"entropy before it {answer['entropy'][n]:.2f} bits" in bar
    opened.tab.click("summary:has-text('Word by word')")
    rows = opened.texts(".panel tbody tr")
    assert [float(row.split("\t")[-2]) for row in rows] == [
        round(x, 2) for x in answer["surprisal"]
    ]
    assert {request.split("#")[0] for request in opened.requests} == {
        server.address,
        f"{server.address}parse",
    }


def test_the_best_trees(opened, one):
    answer = one.answer(Question(TEXT, 2))
    buttons = opened.texts("#choices-0 button")
    assert buttons[0] == "MBR"
    assert len(buttons) == len(answer["trees"]) == 11
    for n in (1, 4, 10):
        opened.tab.locator("#choices-0 button").nth(n).click()
        opened.expect(answer, n)
        share = 100 * answer["trees"][n]["posterior"]
        assert float(buttons[n].split()[1].rstrip("%")) == pytest.approx(share, abs=0.5)
        assert opened.tab.locator("#choices-0 [aria-pressed=true]").inner_text() == buttons[n]
    copy = Typed(opened.tab.context.browser, _Address(opened.tab.url), "")
    copy.expect(answer, 10)
    copy.close()


class _Address:
    def __init__(self, address: str) -> None:
        self.address = address


def test_the_store_is_stepped_through_and_plays(opened, one):
    (tree,) = one.model.parse([TEXT])
    for t, store in enumerate(store_states(tree)):
        opened.tab.locator("#time-0").fill(str(t))
        said = opened.text("#store-now-0")
        assert re.findall(r"(X\d)/(X\d) at depth \d", said) == [tuple(f) for f in store]
    opened.tab.click("#word-back-0")
    assert opened.tab.input_value("#time-0") == "4"
    assert "read0=4" in opened.tab.url
    opened.tab.click("#word-on-0")
    opened.tab.clock.install(time=0)
    opened.tab.clock.pause_at(10**7)  # from here on it stands still, but for run_for
    opened.tab.click("#play-0")  # from the beginning, as it is at the end
    assert opened.tab.input_value("#time-0") == "0"
    assert "Pause" in opened.text("#play-0")
    opened.tab.clock.run_for(2_000)
    assert opened.tab.input_value("#time-0") == "2"
    opened.tab.click("#play-0")
    opened.tab.clock.run_for(9_000)
    assert opened.tab.input_value("#time-0") == "2"
    opened.tab.click("#play-0")
    opened.tab.clock.run_for(9_000)
    assert opened.tab.input_value("#time-0") == "5"
    assert "Play" in opened.text("#play-0")


def test_a_category_says_what_it_stands_for(opened, one):
    category = opened.tab.locator("g.category").first
    label = category.get_attribute("data-category")
    category.click()
    shown = opened.text("#category-0")
    entry = next(c for c in one.data["categories"] if c["name"] == label)
    assert shown.startswith(label)
    for text, times in entry["phrases"] + entry["contexts"]:
        assert " ".join(f"{text} {times}×".split()) in " ".join(shown.split())
    for item in entry["rules"][:1]:
        assert " ".join(item["rule"]) in shown
    copy = Typed(opened.tab.context.browser, _Address(opened.tab.url), "")
    assert copy.text("#category-0") == shown
    copy.close()
    opened.tab.click("#category-0 button")
    assert opened.text("#category-0") == ""
    assert "category" not in opened.tab.url
    opened.tab.click("summary:has-text('as a list')")  # as the keyboard and screen readers do
    items = opened.tab.locator(".as-list li")
    items.first.wait_for()
    nodes = one.answer(Question(TEXT, 2))["trees"][0]["nodes"]
    assert items.count() == len(nodes)
    assert [items.nth(n).locator("button").first.inner_text() for n in range(len(nodes))] == [
        label for label, _, _ in nodes
    ]
    items.last.locator("button").focus()
    opened.tab.keyboard.press("Enter")
    assert opened.text("#category-0").startswith(nodes[-1][0])


def test_words_are_marked_as_a_phrase_and_as_none(opened, one):
    free = one.answer(Question(TEXT, 2))
    span = next(
        (i, j)
        for i, j in ((0, 2), (1, 3), (2, 4), (3, 5))
        if one.answer(Question(TEXT, 2, ((i, j),)))["trees"][0] != free["trees"][0]
    )
    assert opened.tab.is_disabled("#is-phrase")
    opened.choose(span[0], span[1] - 1)
    opened.tab.click("#is-phrase")
    known = one.answer(Question(TEXT, 2, (span,)))
    opened.expect(known)
    assert opened.tab.locator(".box.known").count() == 1
    assert f"yes={span[0]}-{span[1]}" in opened.tab.url
    copy = Typed(opened.tab.context.browser, _Address(opened.tab.url), "")
    copy.expect(known)
    assert copy.texts("#marks button") == opened.texts("#marks button")
    copy.close()

    opened.choose(span[1] - 1, span[0])  # backwards
    opened.tab.click("#is-none")
    opened.expect(one.answer(Question(TEXT, 2, (), (span,))))
    words = " ".join(TEXT.split()[span[0] : span[1]])
    assert opened.texts("#marks button") == [f"✗ {words} ×"]
    opened.tab.click("#marks button")
    opened.expect(free)
    assert "no=" not in opened.tab.url

    opened.choose(0, 4)  # the whole sentence is a phrase of every tree
    assert opened.tab.is_disabled("#is-phrase")
    opened.tab.focus("#words")
    opened.tab.keyboard.press("Home")
    opened.tab.keyboard.press("ArrowRight")
    opened.tab.keyboard.press("Shift+ArrowRight")
    opened.tab.keyboard.press("Shift+ArrowRight")
    opened.tab.keyboard.press("n")
    opened.expect(one.answer(Question(TEXT, 2, (), ((1, 4),))))
    opened.type("a1 b2 c3")  # of other words nothing is known
    assert opened.texts("#marks button") == []
    opened.expect(one.answer(Question("a1 b2 c3", 2)))


def test_marks_that_no_tree_has_are_explained(opened):
    for first, last in ((0, 1), (1, 2)):
        opened.choose(first, last)
        opened.tab.click("#is-phrase")
    opened.tab.wait_for_selector("#problem-0:has-text('[a1 b2] [b2 c3] cross: take one back')")
    opened.tab.locator("#marks button").first.click()
    opened.tab.wait_for_selector("#choices-0 button")
    assert opened.tab.locator("#problem-0").is_hidden()
    _refused(opened)


def _refused(opened: Typed) -> None:
    """The browser's own notes on requests that were refused are no complaints."""
    noted = [text for text in opened.complaints if "422" in text]
    assert noted == opened.complaints != []
    opened.complaints.clear()


def test_the_bound_is_a_slider(opened, one):
    assert opened.text("output") == "2, as learned"
    for place, depth in enumerate(one.depths):
        opened.tab.locator("#depth-0").fill(str(place))
        opened.expect(one.answer(Question(TEXT, depth)))
        assert opened.text("output").startswith("none" if depth is None else str(depth))
        expected = "" if depth == 2 else f"&D0={'none' if depth is None else depth}"
        assert re.search(r"&D0=\w+|$", opened.tab.url)[0] == expected
    copy = Typed(opened.tab.context.browser, _Address(opened.tab.url), "")
    copy.expect(one.answer(Question(TEXT, None)))
    copy.close()


def test_sentences_are_generated_and_taken(opened, one):
    opened.tab.click("#say-0")
    opened.tab.wait_for_selector("#said-0 button")
    assert opened.tab.locator("#said-0 button").all_text_contents() == one.say(2, 0)
    longest = max(one.say(2, 0), key=len)
    opened.tab.locator("#said-0 button", has_text=longest).first.click()
    opened.expect(one.answer(Question(longest, 2)))
    opened.tab.click("#say-0")
    opened.tab.wait_for_function(
        "text => document.querySelector('#said-0').textContent !== text", arg="".join(one.say(2, 0))
    )
    assert opened.tab.locator("#said-0 button").all_text_contents() == one.say(2, 1)


def test_two_grammars_side_by_side(browser, both, one, other):
    text = "a1 b2 , c3 a2"
    found = Typed(browser, both, f"#text={text.replace(' ', '+')}&yes=0-2&of=5")
    found.expect(one.answer(Question(text, 2, ((0, 2),))))
    found.wait_for_words(["a1", "b2", "c3", "a2"], panel=1)
    assert found.texts(".panel h2") == ["small", "other"]
    assert found.tab.locator(".panel").nth(1).locator("output").inner_text() == "none, as learned"
    found.tab.locator("#problem-1", has_text="does not know what was said of phrases").wait_for()
    found.type("a1 b2 c3 a2")
    answers = [model.answer(Question("a1 b2 c3 a2", model.model.depth)) for model in (one, other)]
    for panel, answer in enumerate(answers):
        found.expect(answer, panel=panel)
    for panel in (0, 1):  # compared with each other
        figure = found.tab.locator(".panel").nth(panel).locator("figure").first
        assert figure.locator(".box.same").count() >= 1
    found.tab.locator("#depth-1").fill("0")
    found.expect(other.answer(Question("a1 b2 c3 a2", 1)), panel=1)
    found.expect(answers[0], panel=0)
    found.tab.locator(".panel").nth(1).locator("g.category").first.click()
    assert "in sentences that it generates" in found.text("#category-1")
    found.close()


def test_pictures_are_saved(opened):
    for name, picture in (("mbr-tree-0", 0), ("store-0", 1)):
        with opened.tab.expect_download() as saved:
            opened.tab.locator("button:has-text('SVG')").nth(picture).click()
        assert saved.value.suggested_filename == f"{name}.svg"
        root = ET.parse(saved.value.path()).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
        assert set(TEXT.split()) <= set(texts)
        rect = next(root.iter("{http://www.w3.org/2000/svg}rect"))
        assert rect.get("fill", "").startswith("rgb")


def test_hostile_and_unknown_words_are_text(opened):
    for word in [*HOSTILE, "<script>alert(1)</script>", '"><img', "zorp"]:
        if word.split() != [word]:  # it has a separator, and is several words
            continue
        opened.type(f"a1 {word} c3")
        assert opened.tab.locator("#word-1").text_content().startswith(word)
        assert opened.tab.locator(".panel svg .word").nth(1).text_content() == word
        kind = opened.tab.locator("#word-1").get_attribute("class")
        assert (kind == "unknown") == (word not in HOSTILE)
    assert opened.text("#word-1") == "zorp\nunknown"
    assert opened.tab.locator(".panel svg .word.unknown").first.text_content() == "zorp"
    assert opened.tab.locator("img, b i, main script").count() == 0


def test_ten_thousand_words_are_refused_kindly(opened, one):
    opened.tab.fill("#text", "a1 " * 10_000)
    opened.tab.locator("#problem-0", has_text=f"at most {MAX_WORDS} fit here").wait_for()
    assert "10,000 words" in opened.text("#problem-0")
    _refused(opened)
    opened.type("a1 b2")
    opened.expect(one.answer(Question("a1 b2", 2)))
    opened.tab.fill("#text", "")
    opened.tab.locator("#words").wait_for(state="hidden")
    assert opened.tab.locator("#problem-0").is_hidden()


def test_two_tabs_at_once(browser, server, one):
    first, second = Typed(browser, server), Typed(browser, server)
    for n in range(4):
        texts = [" ".join(TEXT.split()[n % 3 :]), " ".join(TEXT.split()[: 2 + n % 3])]
        for tab, text in zip((first, second), texts, strict=True):
            tab.tab.fill("#text", text)
        for tab, text in zip((first, second), texts, strict=True):
            tab.expect(one.answer(Question(text, 2)))
    first.close()
    second.close()


def test_an_address_that_is_pasted_is_read(opened, one):
    opened.tab.evaluate("location.hash = '#text=c3+a1&D0=1&no=0-9'")
    opened.tab.locator("#problem-0", has_text="beyond the sentence").wait_for()
    _refused(opened)
    opened.tab.evaluate(
        "location.hash = '#text=c3+a1&D0=x&tree0=-3&read0=1e9&of=x&yes=1&no=-&category0=x'"
    )
    opened.expect(one.answer(Question("c3 a1", 2)))
    opened.tab.evaluate("location.hash = '#text=c3+a1&D0=2&tree0=2&read0=1'")
    opened.expect(one.answer(Question("c3 a1", 2)), 2)
    assert opened.tab.input_value("#text") == "c3 a1"
    assert opened.tab.input_value("#time-0") == "1"


def test_a_server_that_stops_is_noticed(browser, one):
    running = new_server([one])
    running.start()
    found = Typed(browser, running)
    assert found.tab.locator("#gone").is_hidden()
    running.stop()
    running.thread.join()
    found.tab.fill("#text", "a1 b2")
    found.tab.wait_for_selector("#gone:has-text('The server has stopped')")
    assert found.complaints
    found.tab.close()


class _Another(BaseHTTPRequestHandler):
    """A page of another server on this machine, empty."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def another():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Another) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def framing(browser, another):
    """Whether the page of a server can be shown in a frame of a page of another one."""

    def shown(address: str) -> bool:
        tab = browser.new_page()
        tab.goto(another)
        tab.evaluate(
            "address => new Promise((done) => { const frame = document.createElement('iframe'); "
            "frame.src = address; frame.onload = done; document.body.append(frame); })",
            address,
        )
        frame = tab.frames[1]
        ready = frame.locator("html[data-ready]").count() == 1
        if ready:
            frame.locator("#choices-0 button").first.wait_for()
        tab.close()
        return ready

    return shown


def test_no_other_origin_reads_answers(browser, server, another, framing):
    """A page of another port asks for everything, with the token."""
    tab = browser.new_page()
    tab.goto(another)
    ask = """async (address) => {
      const tried = [];
      const post = { method: "POST", body: "{}" };
      for (const [path, how] of [["", {}], ["parse", post], ["", { mode: "no-cors" }]]) {
        try { tried.push((await (await fetch(address + path, how)).text()).length); }
        catch { tried.push("refused"); }
      }
      return tried;
    }"""
    assert tab.evaluate(ask, server.address) == ["refused"] * 3
    assert tab.evaluate(ask, another)[0] == 0  # its own server answers
    tab.close()
    assert not framing(server.address)


def test_a_notebook_shows_it_in_a_frame(one, framing):
    running = new_server([one], framed=True)
    running.start()
    assert framing(running.address)
    running.stop()


@pytest.mark.parametrize("options", [{"width": 360}, {"color_scheme": "dark"}])
def test_phone_and_dark(browser, both, options):
    found = Typed(browser, both, **options)
    found.tab.locator("g.category").first.click()
    assert found.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    paper = found.tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(19, 23, 22)") == ("color_scheme" in options)
    found.close()
