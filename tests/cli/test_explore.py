"""``dbpcfg explore`` as a user meets it."""

import signal
import subprocess
from urllib.request import urlopen

import pytest

from dbpcfg.cli import explore as exploring
from tests.command import COMMAND

server = pytest.importorskip("dbpcfg.report.server")


@pytest.fixture
def opened(monkeypatch) -> list[str]:
    """The addresses that are opened in a browser; the server ends at once."""
    addresses: list[str] = []
    monkeypatch.setattr(exploring.typer, "launch", addresses.append)
    monkeypatch.setattr(server.Server, "run", lambda self: self.socket.close())
    return addresses


def test_the_page_is_opened(command, center_run, opened):
    said, note = command.call("explore", center_run)
    assert said.splitlines() == opened
    assert opened[0].startswith("http://127.0.0.1:")
    assert "Ctrl-C" in note
    again, note = command.call("explore", center_run, center_run, "--no-browser", "-q")
    assert again != said  # another token
    assert note == ""
    assert len(opened) == 1


def test_a_rule_table_can_be_explored(command, rules, opened):
    command.call("explore", rules)
    assert len(opened) == 1


def test_a_port_in_use(command, center_run, opened):
    with server._listening(0) as taken:
        port = taken.getsockname()[1]
        assert "--port" in command.refuse("explore", center_run, "--port", port)
    assert opened == []
    command.call("explore", center_run, "--port", port)
    assert f":{port}/" in opened[0]


def test_it_is_served_until_an_interrupt(center_run):
    process = subprocess.Popen(
        [*COMMAND, "explore", center_run, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = process.stdout.readline().strip()
        with urlopen(address) as page:  # a connection that is kept must not keep the server
            assert "Explore a grammar" in page.read().decode()
            process.send_signal(signal.SIGINT)
            said, note = process.communicate(timeout=600)
    finally:
        process.kill()
    assert process.returncode == 0, note
    assert said == ""
    assert "Traceback" not in note
