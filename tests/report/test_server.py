"""The server of ``dbpcfg explore``: who is answered, and with what limits."""

import http.client
import json
import re
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from dbpcfg.errors import DbpcfgError
from dbpcfg.report import explore
from dbpcfg.report.explore import MAX_WORDS, Explored, new_server
from tests.report.small import HOSTILE
from tests.report.test_assemble import Elements

server_module = pytest.importorskip("dbpcfg.report.server")

QUESTION = {"run": 0, "text": "a1 b2 c3", "depth": 2, "yes": [], "no": [], "words": 0}


@pytest.fixture(scope="module")
def server(run_path):
    running = new_server([Explored.of_path(str(run_path))])
    running.start()
    yield running
    running.stop()


def ask(server, path="parse", body=QUESTION, method="POST", token=None, **headers):
    """Status, headers and text of an answer."""
    place = urlsplit(server.address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=600)
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    whole = f"/{server.token if token is None else token}/{path}"
    connection.request(method, whole, sent if method == "POST" else None, headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, response.headers, text


def test_questions_of_the_page_are_answered(server):
    status, headers, text = ask(server)
    assert status == 200
    assert json.loads(text)["words"] == ["a1", "b2", "c3"]
    assert headers["Content-Type"] == "application/json"
    status, _, text = ask(server, "say", {"run": 0, "depth": 2, "seed": 1})
    assert status == 200
    assert len(json.loads(text)) == explore.SAID


@pytest.mark.parametrize("token", ["", "wrong", "%C3%BC", "%FF", "parse", "../parse"])
def test_without_the_token_nothing_is_answered(server, token):
    for path, method in (("", "GET"), ("parse", "POST"), ("say", "POST")):
        status, _, text = ask(server, path, method=method, token=token)
        assert status == 403
        assert "a1" not in text
    with socket.create_connection(server.socket.getsockname()) as raw:
        raw.sendall(b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b" 403 " in raw.recv(100)
    for almost in (server.token[:-1], server.token + "x", server.token.swapcase()):
        assert ask(server, token=almost)[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "localhost@evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1"},
    ],
)
def test_pages_of_others_are_not_answered(server, headers):
    for path, method in (("", "GET"), ("parse", "POST")):
        status, answered, text = ask(server, path, method=method, **headers)
        assert status == 403
        assert "a1" not in text
        assert "Access-Control-Allow-Origin" not in answered


def test_its_own_page_is_answered_also_through_another_port(server):
    """As with ``ssh -L``: the port of the address is then another."""
    own = urlsplit(server.address).netloc
    for host in (own, "localhost:9999", "127.0.0.1:9999"):
        status, headers, _ = ask(server, Host=host, Origin=f"http://{host}")
        assert status == 200
        assert "Access-Control-Allow-Origin" not in headers
    assert ask(server, method="OPTIONS", Origin=f"http://{own}")[0] == 405


def test_answers_say_what_browsers_may_do(server):
    for path, method in (("", "GET"), ("parse", "POST"), ("nowhere", "GET")):
        _, headers, _ = ask(server, path, method=method)
        assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "server" not in headers


def test_the_page_loads_nothing_and_holds_words_as_data(server):
    _, _, page = ask(server, "", method="GET")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy[1].split("; "))
    assert rules.pop("script-src").startswith("'sha256-")
    assert rules == {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }

    found = Elements(page).found
    tags = [tag for tag, _ in found]
    assert tags.count("script") == 2
    assert not {"img", "b", "link", "iframe"} & set(tags)
    assert not [a for _, a in found if {"src", "onerror", "onclick", "style"} & set(a)]
    held = page.partition('id="data">')[2].partition("</script>")[0]
    categories = json.loads(held)["runs"][0]["categories"]
    assert {item["word"] for one in categories for item in one["words"]} & set(HOSTILE)
    for dangerous in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert dangerous not in page


def test_mistakes_are_explained_and_what_is_too_much_is_refused(server):
    status, _, text = ask(server, body={**QUESTION, "text": "a1 " * 10_000})
    assert status == 422
    assert f"10,000 words; at most {MAX_WORDS} fit here" in json.loads(text)["error"]
    status, _, text = ask(server, body={**QUESTION, "text": "x " * server_module.MAX_BYTES})
    assert status == 413
    assert f"at most {MAX_WORDS} words fit here" in json.loads(text)["error"]
    status, _, text = ask(server, "say", {"run": 0, "depth": 2, "seed": -1})
    assert status == 422


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b"[" * 100_000,
        {**QUESTION, "run": 7},
        {**QUESTION, "run": "x"},
        {**QUESTION, "yes": [[0, "x"]]},
        {**QUESTION, "yes": [[0, 1e400]]},
        {**QUESTION, "no": 1},
        {**QUESTION, "words": None},
        {"run": 0},
    ],
)
def test_nonsense_is_refused(server, body):
    assert ask(server, body=body)[0] == 400


@pytest.mark.parametrize("change", [{"depth": 99}, {"depth": [2]}, {"yes": [[0, 9]]}])
def test_impossible_questions_are_refused(server, change):
    assert ask(server, body={**QUESTION, **change})[0] == 422


def test_fifty_at_once_are_answered_as_one_by_one(server):
    bodies = [
        {**QUESTION, "text": f"a{1 + n % 4} b{1 + n % 3} c{1 + n % 2} a1", "depth": 1 + n % 5}
        for n in range(50)
    ]
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda body: ask(server, body=body), bodies))
    assert [status for status, *_ in answers] == [200] * 50
    alone = [ask(server, body=body)[2] for body in bodies]
    assert [text for *_, text in answers] == alone
    assert len(set(alone)) == 50


def test_any_characters_come_back(server):
    for word in ("\ud800", "\x00", "\U0001f600", "</script>", "\u202e"):
        status, _, text = ask(server, body={**QUESTION, "text": f"a1 {word} c3"})
        assert status == 200
        assert json.loads(text)["words"][1] == word
        body = {**QUESTION, "text": f"a1 {word} c3 a2", "yes": [[0, 2], [1, 3]]}
        status, _, text = ask(server, body=body)
        assert status == 422
        assert word in json.loads(text)["error"]


def test_an_answer_that_waits_too_long_is_given_up(server, monkeypatch):
    monkeypatch.setattr(server_module, "SECONDS", 0.0)
    status, _, text = ask(server)
    assert status == 503
    assert "ask again" in json.loads(text)["error"]


def test_a_port_in_use_is_an_error_with_advice(server):
    port = urlsplit(server.address).port
    with pytest.raises(DbpcfgError, match=f"port {port} is in use: choose another with --port"):
        new_server([], port)


def test_it_listens_on_this_machine_only(server):
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert server.socket.family is socket.AF_INET
    assert server.socket.proto == socket.IPPROTO_TCP  # or asyncio would delay answers


def test_without_starlette_the_error_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "dbpcfg.report.server")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(DbpcfgError, match=r"pip install 'dbpcfg\[explore\]'"):
        new_server([])


def test_in_a_notebook_it_is_a_frame(run):
    exploration = run.explore(height=700)
    try:
        frame = exploration._repr_html_()
        assert f'<iframe src="{exploration.address}" width="100%" height="700">' in frame
        assert exploration.address in repr(exploration)
        place = urlsplit(exploration.address)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=600)
        connection.request("GET", place.path)
        response = connection.getresponse()
        assert response.status == 200
        assert "http://localhost:*" in response.headers["Content-Security-Policy"]
        assert b'"phrases":[["' in response.read()
        connection.close()
    finally:
        exploration.stop()
