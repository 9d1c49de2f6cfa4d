"""The notebooks of examples/: they run, what they assert holds, and they are kept clean."""

import ast
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import dbpcfg

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(path.name for path in EXAMPLES.glob("*.ipynb"))
EFFECTS = ["constant", "letters", "surprisal", "surprisal of the word before", "depth"]


def notebook(name: str) -> nbformat.NotebookNode:
    return nbformat.read(EXAMPLES / name, as_version=4)


def code(book: nbformat.NotebookNode) -> list[str]:
    return [cell.source for cell in book.cells if cell.cell_type == "code"]


@pytest.fixture
def execute(tmp_path, monkeypatch):
    """Run a notebook in a folder of its own, with this Python and nobody's settings."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    folder = tmp_path / "work"
    folder.mkdir()

    def run(book: nbformat.NotebookNode) -> Path:
        resources = {"metadata": {"path": str(folder)}}
        NotebookClient(book, timeout=1800, kernel_name="python3", resources=resources).execute()
        return folder

    return run


def printed(book: nbformat.NotebookNode) -> str:
    outputs = [output for cell in book.cells for output in cell.get("outputs", ())]
    return "".join(output.text for output in outputs if output.output_type == "stream")


def pictures(book: nbformat.NotebookNode, kind: str) -> int:
    return sum(
        kind in output.get("data", ()) for cell in book.cells for output in cell.get("outputs", ())
    )


def test_a_transcript_becomes_a_report(execute):
    book = notebook("child_directed_speech.ipynb")
    folder = execute(book)
    text = printed(book)
    assert "fillers and events (95), utterances of CHI (80)." in text
    assert pictures(book, "image/png") == 1  # the chains
    assert "NP recall 100.0" in text
    assert pictures(book, "image/svg+xml") == 4
    assert (folder / "output" / "run" / "report.html").exists()


def test_a_regression_finds_the_effects_that_were_put_in(execute):
    book = notebook("surprisal_regression.ipynb")
    execute(book)
    _, _, table = printed(book).partition("true  estimate")
    rows = [line.rsplit(maxsplit=4) for line in table.splitlines()[1:6]]
    assert [row[0] for row in rows] == EFFECTS
    for _, true, estimate, error, _ in rows:
        assert abs(float(estimate) - float(true)) < 3 * float(error)
    assert pictures(book, "image/png") == 2


def test_an_assertion_that_does_not_hold_is_noticed(execute):
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell("assert 1 == 2")]
    with pytest.raises(CellExecutionError, match="AssertionError"):
        execute(book)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_are_kept_without_outputs(name):
    book = notebook(name)
    nbformat.validate(book)
    assert all(cell.metadata == {} for cell in book.cells)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)
    assert any(cell.source.startswith("assert ") for cell in cells)
    assert name in (EXAMPLES / "README.md").read_text("utf-8")


def names_used(source: str) -> Iterator[str]:
    """What code takes from the package, by its dotted name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dbpcfg":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("dbpcfg."))
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "dbpcfg":
            yield ast.unparse(node)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_use_the_public_names_only(name):
    public = {f"dbpcfg.{name}" for name in dbpcfg.__all__}
    used = {used for source in code(notebook(name)) for used in names_used(source)}
    assert used
    assert used <= public
    hidden = "import dbpcfg.trees.tree\nfrom dbpcfg.corpus import chat\ndbpcfg.read()"  # a control
    assert set(names_used(hidden)) - public == {"dbpcfg.trees.tree", "dbpcfg.corpus.chat"}
