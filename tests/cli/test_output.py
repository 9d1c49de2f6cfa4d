"""Where commands write."""

import os

import pytest

from dbpcfg.cli.output import open_output
from tests.command import printed

ASCII = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}


@pytest.mark.parametrize("arguments", ["parse {run}", "convert - -"])
def test_output_is_utf8_wherever_it_goes(center_run, arguments):
    command = arguments.format(run=center_run).split()
    assert "häuser" in printed(*command, input="häuser .\n", env=ASCII, encoding="utf-8")


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "words.txt"
    with open_output(str(path)) as out:
        out.write("häuser\n")
        assert not path.exists()
    assert path.read_bytes() == "häuser\n".encode()

    def interrupted():
        yield "more\n" * 10_000
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), open_output(str(path)) as out:
        out.writelines(interrupted())
    assert path.read_bytes() == "häuser\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_standard_output_is_flushed_and_stays_open(capsys):
    with open_output("-") as out:
        out.write("one\n")
    with open_output("-") as out:
        out.write("two\n")
    assert capsys.readouterr().out == "one\ntwo\n"
