"""The reference: it has the whole public surface, and documented parameters are the real ones."""

import inspect
import re
from importlib import import_module

import dbpcfg
from tests.docs.pages import TEXTS, blocks

METHODS = ["parse", "surprisal", "probability", "generate", "show", "save"]
AUTODOC = re.compile(r"^\.\. auto(module|function|class):: (\S+)$", re.MULTILINE)


def shown_in_reference() -> dict[str, object]:
    """Every function, class and method that the pages in docs/api show, by its dotted name."""
    found: dict[str, object] = {}
    for page, text in TEXTS.items():
        for kind, name in AUTODOC.findall(text) if page.startswith("api/") else ():
            if kind == "module":
                members = vars(import_module(name)).items()
                found |= {f"{name}.{m}": v for m, v in members if isinstance(v, type)}
            else:
                home, _, member = name.rpartition(".")
                found[name] = getattr(import_module(home), member)
    for name, value in list(found.items()):
        for member, item in inspect.getmembers(value) if isinstance(value, type) else ():
            function = getattr(item, "__func__", item)
            if not member.startswith("_") and inspect.isfunction(function):
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
    sections = {name: names for name, item in shown.items() if (names := documented(item.__doc__))}
    wrong = {
        name: (names, parameters(shown[name]))
        for name, names in sections.items()
        if names != parameters(shown[name])
    }
    assert wrong == {}
    verbs = [name for name in dbpcfg.__all__ if inspect.isfunction(getattr(dbpcfg, name))]
    public = [f"dbpcfg.{name}" for name in (*verbs, *(f"Model.{method}" for method in METHODS))]
    assert [name for name in public if name not in sections] == []


def test_the_reference_has_every_public_name_and_what_it_returns():
    shown = list(shown_in_reference().values())
    public = [getattr(dbpcfg, name) for name in dbpcfg.__all__ if name != "__version__"]
    assert [item.__name__ for item in public if item not in shown] == []
    names = {item.__name__ for item in shown if isinstance(item, type)}
    returned = {inspect.signature(f).return_annotation for f in public if inspect.isfunction(f)}
    assert returned <= names


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


def test_every_page_of_the_reference_is_in_its_table_of_contents():
    (listed,) = blocks(TEXTS["api/index.md"], "toctree")
    pages = {page.removeprefix("api/").removesuffix(".md") for page in TEXTS if "/" in page}
    assert set(listed.split("\n\n")[1].split()) == pages - {"index"}
