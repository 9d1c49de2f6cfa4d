"""The reference: documented parameters are those of the signatures."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module

import pytest

import dbpcfg
from tests.docs.pages import PACKAGE, TEXTS, blocks

VERBS = ["read", "induce", "resume", "load", "evaluate", "compare"]
METHODS = ["parse", "surprisal", "beam_error", "probability", "generate", "show", "save"]
AUTODOC = re.compile(r"^\.\. auto(module|function|class):: (\S+)\n((?:   :\S.*\n)*)", re.MULTILINE)


def shown_in_reference() -> dict[str, object]:
    """Every function, class and method that the pages in docs/api show, by its dotted name."""
    found: dict[str, object] = {}
    for page, text in TEXTS.items():
        for kind, name, _ in AUTODOC.findall(text) if page.startswith("api/") else ():
            if kind == "module":
                module = import_module(name)
                for member in getattr(module, "__all__", list(vars(module))):
                    value = getattr(module, member)
                    if not member.startswith("_") and getattr(value, "__module__", "") == name:
                        found[f"{name}.{member}"] = value
            else:
                home, _, member = name.rpartition(".")
                found[name] = getattr(import_module(home), member)
    for name, value in list(found.items()):
        if isinstance(value, type):
            for member, function in inspect.getmembers_static(value):
                if not member.startswith("_"):
                    function = getattr(function, "__func__", function)
                    if inspect.isfunction(function):
                        found[f"{name}.{member}"] = function
    return found


def documented(docstring: str | None) -> list[str] | None:
    """The names in the section Parameters of a docstring, if there is one."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    if "Parameters" not in lines:
        return None
    section = lines[lines.index("Parameters") + 2 :]
    ends = [n for n, line in enumerate(section) if re.fullmatch("-{3,}", line)]
    names = section[: ends[0] - 1] if ends else section
    return [
        name.strip()
        for line in names
        if line and not line.startswith(" ")
        for name in line.partition(" : ")[0].split(",")
    ]


def parameters(item: object) -> list[str]:
    """The names in a signature, with their stars, without ``self``."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = inspect.signature(item).parameters.values()
    return [stars.get(p.kind, "") + p.name for p in found if p.name not in ("self", "cls")]


def test_documented_parameters_are_those_of_the_signature():
    shown = shown_in_reference()
    assert len(shown) > 200
    sections = {name: names for name, item in shown.items() if (names := documented(item.__doc__))}
    wrong = {
        name: (names, parameters(shown[name]))
        for name, names in sections.items()
        if names != parameters(shown[name])
    }
    assert wrong == {}
    public = [f"dbpcfg.{verb}" for verb in VERBS]
    public += [f"dbpcfg.Model.{method}" for method in METHODS]
    assert [name for name in public if name not in sections] == []
    assert {*VERBS, "Model", "Tree", "__version__"} == set(dbpcfg.__all__)


def signature_of(function: ast.FunctionDef) -> list[str]:
    """The same as ``parameters``, from source."""
    a = function.args
    names = [x.arg for x in (*a.posonlyargs, *a.args)] + ([f"*{a.vararg.arg}"] if a.vararg else [])
    names += [x.arg for x in a.kwonlyargs] + ([f"**{a.kwarg.arg}"] if a.kwarg else [])
    return [name for name in names if name not in ("self", "cls")]


@pytest.mark.parametrize("layer", sorted(p.name for p in PACKAGE.iterdir() if p.is_dir()))
def test_parameters_are_right_outside_the_reference_too(layer):
    wrong = {}
    for file in (PACKAGE / layer).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                names = documented(ast.get_docstring(node))
                if names is not None and names != signature_of(node):
                    wrong[f"{file.name}: {node.name}"] = names, signature_of(node)
    assert wrong == {}


def test_wrong_parameters_are_noticed():
    def right(a: int, *b: int, c: int = 0, **d: int) -> None:
        """Do.

        Parameters
        ----------
        a
            One.

            And more of it.
        *b, c
            Two.
        **d
            Three.

        Returns
        -------
        None
            Nothing.
        """

    assert documented(right.__doc__) == parameters(right) == ["a", "*b", "c", "**d"]
    assert documented("No section.") is None
    assert documented(right.__doc__.replace("*b, c", "*b, e")) != parameters(right)
    (node,) = ast.parse("def f(self, a, *b, c=0, **d): ...").body
    assert signature_of(node) == parameters(right)


def test_every_page_of_the_reference_is_in_its_table_of_contents():
    (listed,) = blocks(TEXTS["api/index.md"], "toctree")
    pages = {page.removeprefix("api/").removesuffix(".md") for page in TEXTS if "/" in page}
    assert set(listed.split("\n\n")[1].split()) == pages - {"index"}
