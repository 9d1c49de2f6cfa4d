"""The project itself: its version, dependencies and files, its layers, one name for each thing."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Container, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import dbpcfg

ROOT = Path(__file__).parents[1]
PACKAGE = Path(dbpcfg.__file__).parent
MODULES = {module: ast.parse(module.read_text("utf-8")) for module in sorted(PACKAGE.rglob("*.py"))}
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = CONFIGURATION["project"]


def dotted(module: Path) -> str:
    name = ".".join(["dbpcfg", *module.relative_to(PACKAGE).with_suffix("").parts])
    return name.removesuffix(".__init__")


# --- the version ----------------------------------------------------------------------------------


def test_the_version_is_in_one_place():
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
    assert CONFIGURATION["tool"]["hatch"]["version"]["path"] == "src/dbpcfg/version.py"
    files = [module for module in MODULES if dbpcfg.__version__ in module.read_text("utf-8")]
    assert [dotted(module) for module in files] == ["dbpcfg.version"]


def test_the_citation_has_the_version():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [dbpcfg.__version__]


def test_python_versions_agree():
    """What is declared, and what CI runs: the oldest and the newest."""
    named = [c.rpartition(" :: ")[2] for c in PROJECT["classifiers"]]
    versions = [name for name in named if re.fullmatch(r"3\.\d+", name)]
    assert f">={versions[0]}" == PROJECT["requires-python"]
    workflow = ROOT / ".github" / "workflows" / "ci.yml"
    if not workflow.exists():
        pytest.skip("the workflows are not here: .github/ is in the repository only")
    text = workflow.read_text("utf-8")
    assert f'python: ["{versions[0]}", "{versions[-1]}"]' in text
    assert set(re.findall(r'python-version: "([\d.]+)"', text)) <= set(versions)


# --- dependencies ---------------------------------------------------------------------------------


def imports(node: ast.AST, at_once: bool = True) -> Iterator[tuple[str, bool]]:
    """The top-level packages that code imports, and whether it does so when it is loaded."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name.partition(".")[0], at_once) for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and not child.level:
            yield (child.module or "").partition(".")[0], at_once
        elif isinstance(child, ast.stmt | ast.ExceptHandler):
            later = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.If)
            yield from imports(child, at_once and not later)


IMPORTED_AS = {"scikit_learn": "sklearn"}
EXTRAS = ["nltk", "report", "cluster", "explore", "sklearn"]
ONLY_FOR = {
    "dbpcfg.estimator": {"sklearn"},
    "dbpcfg.report.server": {"starlette", "uvicorn"},
}
"""Modules that are of no use without an extra, and may import it at once."""


def distributions(requirements: list[str]) -> set[str]:
    """The packages that requirements bring, by the names under which they are imported."""
    named = [re.split(r"[\[<>=!~; ]", one, maxsplit=1)[0].replace("-", "_") for one in requirements]
    return {IMPORTED_AS.get(name, name) for name in named}


def undeclared(tree: ast.Module, base: set[str], extras: set[str]) -> list[str]:
    """What code imports without right: an extra may be missing until a function needs it."""
    known = {*sys.stdlib_module_names, "dbpcfg", *base}
    return [
        name
        for name, at_once in imports(tree)
        if name not in known and (at_once or name not in extras)
    ]


def test_every_import_is_declared():
    base = distributions(PROJECT["dependencies"])
    optional = PROJECT["optional-dependencies"]
    extras = distributions([one for extra in EXTRAS for one in optional[extra]])
    missing = {
        dotted(m): undeclared(tree, base | ONLY_FOR.get(dotted(m), set()), extras)
        for m, tree in MODULES.items()
    }
    assert {module: names for module, names in missing.items() if names} == {}


def test_every_dependency_is_imported():
    used = {name for tree in MODULES.values() for name, _ in imports(tree)}
    optional = PROJECT["optional-dependencies"]
    extras = [one for extra in EXTRAS for one in optional[extra]]
    declared = distributions(PROJECT["dependencies"] + extras)
    assert declared <= used


def test_an_import_that_is_not_declared_is_noticed():
    source = (
        "import os, pandas\nimport nltk\ndef f():\n    import nltk.tree\n    from numpy import x\n"
    )
    assert undeclared(ast.parse(source), {"numpy"}, {"nltk"}) == ["pandas", "nltk"]
    assert distributions(["arviz-stats>=0.6", "a[b]", "c ; python_version < '3'"]) == {
        "arviz_stats",
        "a",
        "c",
    }
    assert distributions(["scikit-learn>=1"]) == {"sklearn"}


def test_the_extra_all_has_every_extra_for_users():
    optional = PROJECT["optional-dependencies"]
    (named,) = optional["all"]
    inside = re.fullmatch(r"dbpcfg\[(.*)\]", named)[1].split(",")
    assert set(inside) == optional.keys() - {"all", "dev", "docs", "release"}


# --- what is released -----------------------------------------------------------------------------


def test_the_sdist_has_what_its_tests_need():
    """pyproject.toml is always in it; the guide and benchmarks are not, and no test needs them."""
    included = CONFIGURATION["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"src", "tests", "examples", "CITATION.cff", PROJECT["readme"]} <= set(included)
    assert set(PROJECT["license-files"]) <= set(included)
    assert [name for name in included if not (ROOT / name).exists()] == []


def test_all_files_of_the_package_are_in_the_repository_or_made_by_python():
    """A kind of file that nobody expects would be in the wheel by accident."""
    kinds = {path.suffix for path in PACKAGE.rglob("*") if path.is_file()}
    assert [path.name for path in PACKAGE.rglob("*.npz")] == ["example.npz"]
    assert kinds <= {
        ".npz",
        ".py",
        ".typed",
        "",
        ".js",
        ".css",
        ".html",
        ".toml",
        ".pyc",
        ".nbi",
        ".nbc",
    }
    assert (PACKAGE / "py.typed").exists()


# --- layers ---------------------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path) -> Path:
    """The package and its contract, to be spoiled."""
    shutil.copytree(
        PACKAGE, tmp_path / "src" / "dbpcfg", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def check_layers(copy: Path) -> subprocess.CompletedProcess[str]:
    code = (
        "import sys; sys.path.insert(0, 'src'); from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(no_cache=True))"
    )
    return subprocess.run(
        [sys.executable, "-c", code], cwd=copy, capture_output=True, text=True, encoding="utf-8"
    )


def test_the_layers_hold(copy):
    result = check_layers(copy)
    assert result.returncode == 0, result.stdout
    assert "1 kept, 0 broken" in result.stdout


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("trees/tree.py", "def late():\n    from dbpcfg.cli import app\n"),
        ("trees/tree.py", "if TYPE_CHECKING:\n    from dbpcfg.cli import app\n"),
        ("loose.py", ""),
    ],
    ids=["lazy", "for types only", "outside the layers"],
)
def test_what_breaks_the_contract_is_noticed(copy, module, code):
    with (copy / "src" / "dbpcfg" / module).open("a") as file:
        file.write(code)
    result = check_layers(copy)
    assert result.returncode == 1, result.stdout
    assert module.removesuffix(".py").replace("/", ".") in result.stdout + result.stderr


def loaded_by(module: Path, tree: ast.Module, known: Container[str]) -> list[str]:
    """The modules of the package that a module imports when it is loaded."""
    found = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
    inside = [(n.module, f"{n.module}.{a.name}") for n in found for a in n.names]
    named = [full if full in known else short for short, full in inside]
    return [name for name in named if name in known and name != dotted(module)]


def test_modules_do_not_load_each_other_in_a_circle():
    known = {dotted(module) for module in MODULES}
    graph = {dotted(m): loaded_by(m, tree, known) for m, tree in MODULES.items()}
    TopologicalSorter(graph).prepare()
    assert sum(map(len, graph.values())) > 200
    with pytest.raises(CycleError):  # negative control
        TopologicalSorter({**graph, "dbpcfg.errors": ["dbpcfg.trees.tree"]}).prepare()


# --- names ----------------------------------------------------------------------------------------


def repeated(named: Iterator[tuple[str, str]]) -> dict[str, list[str]]:
    """Each name that stands for several things, and where."""
    places = defaultdict(list)
    for name, place in named:
        places[name].append(place)
    return {name: where for name, where in places.items() if len(where) > 1}


def test_no_two_classes_have_one_name():
    found = repeated(
        (node.name, dotted(module))
        for module, tree in MODULES.items()
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    )
    assert found == {}


def test_names_that_are_repeated_are_noticed():
    assert repeated(iter([("A", "x"), ("B", "x"), ("A", "y")])) == {"A": ["x", "y"]}
