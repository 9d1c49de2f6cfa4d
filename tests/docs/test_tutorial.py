"""The tutorial runs, and prints what it says."""

import ast
import contextlib
import io
from collections.abc import Iterator

import pytest

from dbpcfg.trees.tree import Tree
from tests.docs.pages import TEXTS, blocks


def run_cells(text: str, namespace: dict[str, object]) -> Iterator[tuple[str, object]]:
    """Run the cells of a page as a notebook does; what each printed, and the value at its end."""
    for number, cell in enumerate(blocks(text, "code-cell"), start=1):
        code = ast.parse(cell, f"cell {number}")
        last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, f"cell {number}", "exec"), namespace)
            value = last and eval(
                compile(ast.Expression(last.value), f"cell {number}", "eval"), namespace
            )
        yield out.getvalue(), value


@pytest.mark.slow
def test_the_tutorial_runs_and_says_what_comes_out():
    namespace: dict[str, object] = {}
    found = list(run_cells(TEXTS["tutorial.md"], namespace))
    printed = "".join(out for out, _ in found)
    trees = [value for _, value in found if isinstance(value, Tree)]
    grammars = [value for _, value in found if hasattr(value, "_repr_html_")]
    assert len(trees) == 4
    assert all((tree._repr_svg_() or "").startswith("<svg") for tree in trees)
    assert [grammar._repr_html_().count("<tr>") for grammar in grammars] == [6]

    # What the text around the cells says of these.
    likelihoods = [chain.mean_log_likelihood for chain in namespace["run"].chains]
    good = [x for x in likelihoods if x > max(likelihoods) - 5]
    assert len(good) == 2, likelihoods
    assert "\ntrust:  " in printed
    assert "chain 0: F1 100.0" in printed
    assert likelihoods[0] == max(likelihoods)
    learned, wug, shallow = trees[1:]
    assert [s[:2] for s in learned.spans()] == [s[:2] for s in trees[0].spans()]
    assert [s[:2] for s in shallow.spans()] != [s[:2] for s in trees[0].spans()]
    b = namespace["one"].tags()[1]
    assert namespace["two"].tags()[1] == b
    assert wug == namespace["one"]


def test_cells_share_a_namespace_and_mistakes_are_not_hidden():
    page = "```{code-cell} ipython3\nx = 1\n```\n\n```{code-cell} ipython3\nprint(x)\nx + 1\n```\n"
    assert list(run_cells(page, {})) == [("", None), ("1\n", 2)]
    with pytest.raises(NameError):
        list(run_cells("```{code-cell} ipython3\nundefined\n```\n", {}))
