"""The project itself: its version, dependencies and files, its layers, one name for each thing."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import dbpcfg

ROOT = Path(__file__).parents[1]
PACKAGE = Path(dbpcfg.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = CONFIGURATION["project"]


def dotted(module: Path) -> str:
    return ".".join(["dbpcfg", *module.relative_to(PACKAGE).with_suffix("").parts])


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


def imports(source: str) -> Iterator[tuple[str, bool]]:
    """The top-level packages that code imports, and whether it does so when it is loaded."""
    tree = ast.parse(source)
    later = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.If)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        else:
            continue
        yield from ((name.partition(".")[0], node not in later) for name in names)


IMPORTED_AS = {"scikit_learn": "sklearn"}
EXTRAS = ["nltk", "report", "cluster", "sklearn", "spacy"]
ONLY_FOR = {"dbpcfg.estimator": {"sklearn"}, "dbpcfg.spacy_spans": {"spacy"}}
"""Modules that are of no use without an extra, and may import it at once."""


def distributions(requirements: list[str]) -> set[str]:
    """The packages that requirements bring, by the names under which they are imported."""
    named = [re.split(r"[\[<>=!~; ]", one, maxsplit=1)[0].replace("-", "_") for one in requirements]
    return {IMPORTED_AS.get(name, name) for name in named}


def undeclared(source: str, base: set[str], extras: set[str]) -> list[str]:
    """What code imports without right: an extra may be missing until a function needs it."""
    known = {*sys.stdlib_module_names, "dbpcfg", *base}
    return [
        name
        for name, at_once in imports(source)
        if name not in known and (at_once or name not in extras)
    ]


def test_every_import_is_declared():
    base = distributions(PROJECT["dependencies"])
    optional = PROJECT["optional-dependencies"]
    extras = distributions([one for extra in EXTRAS for one in optional[extra]])
    missing = {
        dotted(m): undeclared(m.read_text("utf-8"), base | ONLY_FOR.get(dotted(m), set()), extras)
        for m in MODULES
    }
    assert {module: names for module, names in missing.items() if names} == {}


def test_every_dependency_is_imported():
    used = {name for module in MODULES for name, _ in imports(module.read_text("utf-8"))}
    optional = PROJECT["optional-dependencies"]
    extras = [one for extra in EXTRAS for one in optional[extra]]
    declared = distributions(PROJECT["dependencies"] + extras)
    assert declared <= used


def test_an_import_that_is_not_declared_is_noticed():
    source = (
        "import os, pandas\nimport nltk\ndef f():\n    import nltk.tree\n    from numpy import x\n"
    )
    assert undeclared(source, {"numpy"}, {"nltk"}) == ["pandas", "nltk"]
    assert distributions(["arviz-stats>=0.6", "a[b]", "c ; python_version < '3'"]) == {
        "arviz_stats",
        "a",
        "c",
    }
    assert distributions(["scikit-learn>=1"]) == {"sklearn"}


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
    assert kinds <= {".py", ".typed", "", ".js", ".css", ".html", ".toml", ".pyc", ".nbi", ".nbc"}
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


def append(module: Path, code: str) -> None:
    module.write_text(module.read_text("utf-8") + code, encoding="utf-8")


def test_the_layers_hold(copy):
    result = check_layers(copy)
    assert result.returncode == 0, result.stdout
    assert "2 kept, 0 broken" in result.stdout


@pytest.mark.parametrize(
    "code",
    [
        "\n\ndef late():\n    from dbpcfg.cli import app\n\n    return app\n",
        "\n\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from dbpcfg.cli import app\n",
    ],
    ids=["lazy", "for types only"],
)
def test_an_import_upwards_breaks_the_contract(copy, code):
    append(copy / "src" / "dbpcfg" / "trees" / "tree.py", code)
    result = check_layers(copy)
    assert result.returncode == 1, result.stdout
    assert "Each layer imports only those below it BROKEN" in result.stdout
    assert "dbpcfg.trees.tree -> dbpcfg.cli" in result.stdout


def test_a_module_outside_the_layers_breaks_the_contract(copy):
    (copy / "src" / "dbpcfg" / "loose.py").write_text('"""Nowhere."""\n', encoding="utf-8")
    result = check_layers(copy)
    assert result.returncode == 1, result.stdout
    assert "loose" in result.stdout + result.stderr


def test_a_cycle_within_a_layer_breaks_the_contract(copy):
    append(copy / "src" / "dbpcfg" / "trees" / "tree.py", "\n\nimport dbpcfg.trees.drawing\n")
    append(copy / "src" / "dbpcfg" / "trees" / "svg.py", "\n\nimport dbpcfg.trees.tree\n")
    result = check_layers(copy)
    assert result.returncode == 1, result.stdout
    assert "No cycles between modules BROKEN" in result.stdout


# --- names ----------------------------------------------------------------------------------------

SAME_CLASS: dict[str, str] = {}
SAME_MODULE = {
    "report": "the command is in cli/ under its name, as all commands are; report/ makes its page",
}
"""Names that several classes or modules may have, and why."""


def repeated(named: Iterator[tuple[str, str]]) -> dict[str, list[str]]:
    """Each name that stands for several things, and where."""
    places = defaultdict(list)
    for name, place in named:
        places[name].append(place)
    return {name: where for name, where in places.items() if len(where) > 1}


def classes(modules: list[Path]) -> Iterator[tuple[str, str]]:
    for module in modules:
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield node.name, dotted(module)


def test_no_two_classes_have_one_name():
    found = repeated(classes(MODULES))
    assert {name: where for name, where in found.items() if name not in SAME_CLASS} == {}


def test_no_two_modules_are_called_report_display_or_options():
    found = repeated(
        (module.parent.name if module.stem == "__init__" else module.stem, dotted(module))
        for module in MODULES
    )
    common = {"report", "display", "options"}
    assert {name: found[name] for name in common & set(found) - set(SAME_MODULE)} == {}


def test_names_that_are_repeated_are_noticed():
    assert repeated(iter([("A", "x"), ("B", "x"), ("A", "y")])) == {"A": ["x", "y"]}
