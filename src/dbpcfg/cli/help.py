"""Help texts that fit the terminal: whole option names, short types, options in groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from dbpcfg.options import LEARNERS, Option

ARGUMENTS = "dbpcfg.arguments"
"""Where the context of a command keeps the words that it was called with."""


class Command(TyperCommand):
    """A command whose options are listed in their groups, those without a group first.

    Of a command with declared options (`dbpcfg.cli.options.takes_groups`) only the basic ones are
    shown; with ``--learner`` those of that learner, with ``--help-all`` all of them.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print all of the help if that is asked for."""
        ctx.meta[ARGUMENTS] = list(args)
        if "--help-all" in args and self._shown:
            typer.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    @property
    def _shown(self) -> dict[str, tuple[bool, list[str]]]:
        """Of declared options: whether they are basic, and the learners they are for."""
        found: dict[str, tuple[bool, list[str]]] = getattr(self.callback, "shown", {})
        return found

    def _wanted(self, name: str, args: list[str]) -> bool:
        basic, learners = self._shown.get(name, (True, []))
        chosen = _learner(args)
        if chosen is not None:
            return not learners or (chosen if chosen in LEARNERS else "other") in learners
        return basic or "--help-all" in args

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The arguments of the usage line, without hidden ones."""
        shown = [one for one in self.get_params(ctx) if not getattr(one, "hidden", False)]
        pieces = [piece for one in shown for piece in one.get_usage_pieces(ctx)]
        return [str(self.options_metavar), *pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then each group of options."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        args = ctx.meta.get(ARGUMENTS, [])
        chosen = _learner(args) if self._shown else None
        options = _options(chosen) if chosen else {}
        for parameter in self.get_params(ctx):
            if not self._wanted(str(parameter.name), args):
                continue
            record = parameter.get_help_record(ctx)
            own = options.get(str(parameter.name))
            if record is not None and own is not None:
                record = record[0], _help_of(own)
            if record is not None:
                panel = getattr(parameter, "rich_help_panel", None)
                kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections.setdefault(panel or kind, []).append(
                    (shown_name(parameter, record[0]), record[1])
                )
        if chosen and chosen not in LEARNERS:
            rows = [
                (f"--set {name}={name.upper()}", _help_of(one)) for name, one in options.items()
            ]
            sections[f"Options of {chosen}"] = rows
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
        if self._shown and not any(arg.startswith(("--learner", "--help-all")) for arg in args):
            formatter.write_paragraph()
            formatter.write_text(
                "More options: --help-all, or of one learner, for instance --learner neural --help."
            )


def _learner(args: list[str]) -> str | None:
    """The learner that the words of a command name."""
    chosen = [b for a, b in pairwise([*args, ""]) if a == "--learner"]
    chosen += [arg.partition("=")[2] for arg in args if arg.startswith("--learner=")]
    return chosen[0] if chosen else None


def _options(learner: str) -> dict[str, Option]:
    """The options of a learner; one of another package is imported for that."""
    if learner in LEARNERS:
        return LEARNERS[learner].options()
    from dbpcfg.induction.learners import learners

    return learners[learner].options()


def _help_of(one: Option) -> str:
    return one.help + ("" if one.default is None else f"  [default: {one.default}]")


MODULES = {
    "demo": "reproduce",
    "induce": "induce",
    "resume": "induce",
    "show": "show",
    "report": "report",
    "compare-runs": "report",
    "parse": "parse",
    "generate": "grammar",
    "probability": "parse",
    "surprisal": "surprisal",
    "evaluate": "evaluate",
    "baseline": "baseline",
    "compare": "compare",
    "sweep": "sweep",
    "reproduce": "reproduce",
    "convert": "convert",
    "synth": "convert",
    "export": "grammar",
    "draw": "draw",
    "bound": "grammar",
    "warm": "warm",
}
"""All commands, in the order of the help, and the modules of their functions."""


def function(name: str) -> Any:
    """The function of a command, imported now."""
    return getattr(import_module(f"dbpcfg.cli.{MODULES[name]}"), name.replace("-", "_"))


@cache
def command(name: str) -> Any:
    """A command, made now."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, cls=Command)(function(name))
    return typer.main.get_command(alone)


class Commands(Mapping[str, Any]):
    """All commands by name, each imported when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        return command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


class Program(TyperGroup):
    """The program: each command with the first sentence of its help, wrapped and not cut."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": Commands()})

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print the help, on standard output, if there is no command."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names alone: making the commands takes longer than all the rest."""
        return list(MODULES)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first_sentence(function(name))) for name in MODULES])


def _first_sentence(item: Any) -> str:
    paragraph = " ".join(item.__doc__.partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].rstrip(".") + "."


def shown_name(parameter: Any, shown: str) -> str:
    """The names of a parameter, with a word for its value; ``shown`` is what typer makes of it."""
    if parameter.param_type_name == "argument":
        name = parameter.metavar or str(parameter.name).upper()
        choices = shown.partition(" ")[2].strip("<[]>")
        return f"{name} {choices}" if "|" in choices else name
    names = ", ".join([*sorted(parameter.opts, key=len), *parameter.secondary_opts])
    if getattr(parameter, "is_flag", False):
        return names
    if parameter.metavar:
        return f"{names} {parameter.metavar}"
    kind = shown.rpartition("--")[2].partition(" ")[2].strip("<[]>")  # "int range", "a|b|c"
    if kind.lower().startswith(("int", "float")):
        return f"{names} {'N' if kind.lower().startswith('int') else 'X'}"
    return f"{names} {kind if '|' in kind else str(parameter.name).upper().split('_')[-1]}"
