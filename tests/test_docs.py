"""The guide: its tutorial runs, its commands print what it says, its links lead somewhere."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.main import get_command

import dbpcfg
from dbpcfg.cli.app import app
from dbpcfg.trees.tree import Tree
from tests.command import COMMAND

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
if not DOCS.is_dir():
    pytest.skip("the guide is not here: docs/ is in the repository only", allow_module_level=True)

PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
TEXTS = {page.relative_to(DOCS).as_posix(): page.read_text("utf-8") for page in PAGES}
FENCE = re.compile(r"^(`{3,})\{?([\w-]*)\}?[^\n]*\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


def blocks(text: str, *kinds: str) -> list[str]:
    return [match[3] for match in FENCE.finditer(text) if match[2] in kinds]


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", text)


# --- the tutorial ---------------------------------------------------------------------------------


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
    assert "the chains disagree" in printed
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


# --- commands -------------------------------------------------------------------------------------


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of every call of dbpcfg in blocks for the shell, or of no language."""
    for kind in ("bash", "console", ""):
        for block in blocks(text, kind):
            for line in block.replace("\\\n", " ").splitlines():
                begins = {"bash": "", "console": "$ ", "": "dbpcfg "}[kind]
                if not line.startswith(begins):
                    continue
                line = line.removeprefix("$ ")
                tokens = shlex.shlex(line, posix=True, punctuation_chars=True)
                tokens.whitespace_split = True
                yield from calls(list(tokens))


def calls(tokens: list[str]) -> Iterator[list[str]]:
    """The arguments of dbpcfg in one line, which may be a pipe."""
    command: list[str] = []
    for token in [*tokens, "|"]:
        if token in ("|", ">", ";", "&&"):
            if command[:1] == ["dbpcfg"]:
                yield command[1:]
            command = []
        else:
            command.append(token)


def refused(arguments: list[str]) -> str | None:
    """Why the command line would not take these arguments, if it would not; nothing is run."""
    group = get_command(app)
    if not arguments or arguments[0] not in group.commands:
        return f"no such command: {arguments}"
    top = group.make_context("dbpcfg", [arguments[0]], resilient_parsing=True)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            group.commands[arguments[0]].make_context(arguments[0], arguments[1:], parent=top)
    except Exception as error:  # of click, or of typer's own copy of it
        return f"{' '.join(arguments)}: {error}"
    return None


@pytest.mark.parametrize("page", [*TEXTS, "../README.md"])
def test_every_command_in_the_guide_exists_with_its_options(page):
    text = TEXTS.get(page) or (DOCS / page).read_text("utf-8")
    assert [why for why in map(refused, commands(text)) if why] == []


def test_commands_are_found_and_wrong_ones_are_noticed():
    page = """
```bash
dbpcfg parse runs/eve --nonsense          # a remark
cat x | dbpcfg parse runs/eve -n 2 > out  # fine
dbpcfg divine runs/eve
```

```console
$ dbpcfg parse runs/eve --method wrong
dbpcfg this is output
$ dbpcfg induce eve.txt
```
"""
    found = list(commands(page))
    assert found[1] == ["parse", "runs/eve", "-n", "2"]
    assert [refused(arguments) is None for arguments in found] == [False, True, False, False, False]


def unknown_options(text: str) -> list[str]:
    """Options in the text around the blocks that no command has."""
    group = get_command(app)
    known = {"--help", "--version"}
    for command in (group, *group.commands.values()):
        for parameter in command.params:
            known |= {*parameter.opts, *parameter.secondary_opts}
    named = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose(text))
    named = [code for code in named if not code.startswith(("pip ", "iconv ", ".venv/"))]
    return [o for code in named for o in re.findall(r"(?<!\S)--\w[\w-]*", code) if o not in known]


@pytest.mark.parametrize("page", TEXTS)
def test_options_that_the_text_names_exist(page):
    assert unknown_options(TEXTS[page]) == []
    assert unknown_options("`--chains`, `induce --nonsense 3`, `-- `") == ["--nonsense"]


def test_every_command_is_in_the_guide():
    shown = {arguments[0] for text in TEXTS.values() for arguments in commands(text)}
    missing = set(get_command(app).commands) - shown - {"demo"}  # which is `make demo`
    assert not missing, "show them in a block ```bash of a page of docs/"


def sessions(text: str) -> Iterator[tuple[str, str]]:
    """Each command of the blocks ``console``, and the output that stands below it."""
    for block in blocks(text, "console"):
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = session.partition("\n")
            yield command, output


def files(text: str) -> Iterator[tuple[str, str]]:
    """The files that a page shows: blocks ``toml`` that begin with their name, as a remark."""
    for block in blocks(text, "toml"):
        if found := re.match(r"# (\w+\.toml)\n", block):
            yield found[1], block


def agrees(shown: str, printed: str) -> bool:
    """Whether an output is as shown, where a line ``…`` stands for any lines."""
    pattern = "".join(
        "(?s:.*)" if line == "…" else re.escape(line) + r"[ ]*\n" for line in shown.splitlines()
    )
    return re.fullmatch(pattern, printed) is not None


@pytest.mark.slow
def test_commands_print_what_the_guide_shows(tmp_path):
    folder = Path(COMMAND[0]).parent if len(COMMAND) == 1 else Path(sys.executable).parent
    environment = {
        **os.environ,
        "COLUMNS": "80",
        "PYTHONIOENCODING": "utf-8",
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
    }
    pages = sorted(TEXTS, key=lambda page: page != "inducing.md")  # it makes the others' run
    done = 0
    for page in pages:
        for name, content in files(TEXTS[page]):
            (tmp_path / name).write_text(content, "utf-8")
        for command, shown in sessions(TEXTS[page]):
            found = subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                encoding="utf-8",
            )
            assert found.returncode == 0, (page, command, found.stderr)
            assert agrees(shown, found.stdout), (page, command, found.stdout)
            done += 1
    assert done > 10


def test_outputs_are_compared_to_the_letter():
    assert agrees("a\n…\nz\n", "a\nb\nc\nz\n")
    assert agrees("a\n…\n", "a\n")
    assert not agrees("a\n", "a\nb\n")
    assert not agrees("a 1.0\n", "a 1.1\n")


# --- links and names ------------------------------------------------------------------------------


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", "")).replace(" ", "-")


def anchors(text: str) -> set[str]:
    return {slug(h) for h in re.findall(r"^#{1,6} (.*)$", prose(text), re.MULTILINE)}


def dead_links(page: Path, text: str) -> Iterator[str]:
    """Links of a page to files or headings that are not there."""
    for target in re.findall(r"(?<!\})\]\(([^)\s]+)\)", prose(text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text("utf-8"))):
            yield target


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=str)
def test_links_lead_somewhere(page):
    assert list(dead_links(page, page.read_text("utf-8"))) == []


def test_dead_links_are_noticed():
    text = "[a](nowhere.md) [b](parsing.md#nowhere) [c](parsing.md#which-tree) [d](https://x.org)"
    assert list(dead_links(DOCS / "page.md", text)) == ["nowhere.md", "parsing.md#nowhere"]


def exists(name: str) -> bool:
    """Whether a dotted name is a module of the package, or something in one."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        with contextlib.suppress(ImportError):
            found = import_module(".".join(parts[:cut]))
            for part in parts[cut:]:
                found = getattr(found, part, None)
            return found is not None
    return False


@pytest.mark.parametrize("page", TEXTS)
def test_names_of_the_package_exist(page):
    named = set(re.findall(r"`~?(dbpcfg(?:\.\w+)+)", TEXTS[page]))
    named |= set(re.findall(r"<(dbpcfg(?:\.\w+)+)>", TEXTS[page]))
    named |= set(re.findall(r"^\.\. \S+:: (dbpcfg(?:\.\w+)*)$", TEXTS[page], re.MULTILINE))
    assert [name for name in sorted(named) if not exists(name)] == []
    assert not exists("dbpcfg.trees.Shrub")


def in_full(cell: str) -> list[str]:
    """Names in a cell, where ``.x`` after ``dbpcfg.a.y`` stands for ``dbpcfg.a.x``."""
    names: list[str] = []
    for name in re.findall(r"`([\w.]+)`", cell):
        if name.startswith("."):
            name = names[-1].rpartition(".")[0] + name
        names.append(name)
    return names


def test_the_changelog_sends_importers_to_names_that_exist():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    rows = re.findall(r"^  \| (`.*?) \| (.*) \|$", text, re.MULTILINE)
    assert len(rows) > 20
    now = [name for _, cell in rows for name in in_full(cell) if "." in name]
    assert [name for name in now if not exists(name)] == []
    assert in_full("`dbpcfg.a.x`, `.y`; `z` is `.w`") == ["dbpcfg.a.x", "dbpcfg.a.y", "z", ".w"]


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("*.md")], ids=str)
def test_the_guide_uses_plain_words(page):
    assert re.findall(r"\b(?:told|refuse[sd]?|least risk|so many)\b", page.read_text("utf-8")) == []


PACKAGE = Path(dbpcfg.__file__).parent
DATA = re.compile(r"\.(html|npz|toml|tsv|txt)$")


@cache
def definitions(file: Path) -> set[str]:
    """What a file itself defines: functions, classes, constants, and ``Class.member``."""
    found: set[str] = set()

    def gather(body: list[ast.stmt], before: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(before + node.name)
                if isinstance(node, ast.ClassDef):
                    gather(node.body, f"{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                named = [name for target in targets for name in ast.walk(target)]
                found.update(before + name.id for name in named if isinstance(name, ast.Name))

    gather(ast.parse(file.read_text("utf-8")).body, "")
    return found


def misnamed(text: str) -> list[str]:
    """Files and names that are not where a text says they are.

    An entry is a paragraph, an item of a list, or a table. In it ``package/module.py`` names a
    file, and every name in code after that is one that this file defines, until another file is
    named. A file in the first row of a table holds for all its rows.
    """
    wrong = []
    for entry in re.split(r"\n\s*\n|\n(?=\d+\. |- )", prose(text)):
        head: Path | None = None
        for number, line in enumerate(entry.splitlines() if entry.startswith("|") else [entry]):
            file = head
            for code in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", line):
                if re.fullmatch(r"(\w+/)+\w+\.py|\w+\.py", code):
                    file = ROOT / code if code.startswith(("tests/", "docs/")) else PACKAGE / code
                    if not file.is_file():
                        wrong.append(code)
                elif re.fullmatch(r"(\w+/)+", code):
                    if not (PACKAGE / code).is_dir():
                        wrong.append(code)
                elif re.fullmatch(r"[A-Za-z_]\w*(\.\w+)*", code) and not DATA.search(code):
                    if file is None:
                        wrong.append(f"{code}, without a file")
                    elif file.is_file() and code not in definitions(file):
                        wrong.append(f"{code} in {file.name}")
            if number == 0:
                head = file
    return wrong


@pytest.mark.parametrize("page", ["mathematics.md", "architecture.md"])
def test_functions_are_where_the_page_says(page):
    text = TEXTS[page]
    assert len(set(re.findall(r"`((?:\w+/)+\w+\.py)`", text))) > 20
    assert misnamed(text) == []


def test_functions_that_are_elsewhere_are_noticed():
    assert misnamed("`grammar/pcfg.py`, `Grammar`, `Grammar.named`, `draw_grammar`, `x y`") == []
    assert misnamed("`grammar/pcfg.py`: `dirichlet_rows`, which it only imports") == [
        "dirichlet_rows in pcfg.py"
    ]
    assert misnamed("`grammar/pcfg.py`, `pcfg.Grammar`") == ["pcfg.Grammar in pcfg.py"]
    assert misnamed("`grammar/pcfg.py`\n\n`Grammar`") == ["Grammar, without a file"]
    assert misnamed("1. `grammar/pcfg.py`\n2. `Grammar`") == ["Grammar, without a file"]
    assert misnamed("`grammar/nowhere.py`, `Grammar`, `nowhere/`") == [
        "grammar/nowhere.py",
        "nowhere/",
    ]
    assert misnamed("`Grammar` of `grammar/pcfg.py`") == ["Grammar, without a file"]
    table = "| a | in `grammar/pcfg.py` |\n|---|---|\n| b | `Grammar` |\n| c | `dirichlet_rows` |\n"
    assert misnamed(table) == ["dirichlet_rows in pcfg.py"]
    assert misnamed("| `grammar/dirichlet.py`: `dirichlet_rows` | `Grammar` |") == [
        "Grammar in dirichlet.py"
    ]


SVG = "{http://www.w3.org/2000/svg}"


def drawn_layers(picture: str) -> list[str]:
    """The layers of the picture, from top to bottom, if it is clear which box is whose."""
    found = []
    for layer in ElementTree.fromstring(picture).iter(f"{SVG}g"):
        if layer.get("class") == "layer":
            box, texts = layer.find(f"{SVG}rect"), layer.findall(f"{SVG}text")
            top, height = float(box.get("y")), float(box.get("height"))
            assert all(top < float(text.get("y")) < top + height for text in texts)
            name, what = (text.text for text in texts)
            assert name == layer.get("data-layer").replace(" | ", ", ")
            assert what
            found.append((top, top + height, layer.get("data-layer")))
    found.sort()
    assert all(above[1] <= below[0] for above, below in pairwise(found))
    return [name for _, _, name in found]


def contracted_layers() -> list[str]:
    """The layers that import-linter checks, from top to bottom."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (layers,) = (c["layers"] for c in settings["contracts"] if c["type"] == "layers")
    return layers


def test_the_package_lists_its_layers_in_order():
    listed = re.findall(r"^``dbpcfg\.(\w+)``", dbpcfg.__doc__, re.MULTILINE)
    packages = [layer for layer in contracted_layers() if (PACKAGE / layer).is_dir()]
    assert listed == packages[::-1]


def test_the_picture_of_the_layers_is_the_contract():
    layers = contracted_layers()
    picture = (DOCS / "images" / "architecture.svg").read_text("utf-8")
    assert drawn_layers(picture) == layers
    swapped = picture.replace(">corpus<", ">trees<").replace('"corpus"', '"trees"')
    assert drawn_layers(swapped) != layers
    with pytest.raises(AssertionError):
        drawn_layers(picture.replace(">corpus<", ">corpora<"))


def test_python_in_the_guide_is_python():
    for text in TEXTS.values():
        for block in blocks(text, "python"):
            for node in ast.walk(ast.parse(block)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dbpcfg"):
                    for alias in node.names:
                        assert exists(f"{node.module}.{alias.name}"), alias.name


# --- the reference --------------------------------------------------------------------------------

VERBS = ["read", "induce", "resume", "load", "evaluate", "compare"]
METHODS = ["parse", "surprisal", "probability", "generate", "show", "save"]
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
