"""Help texts that fit the terminal: whole option names, short types, options in groups."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

MODEL, SAMPLING, CORPUS, RUNNING = "Model", "Sampling", "Corpus", "Running and output"
"""Groups of options."""


class Command(TyperCommand):
    """A command whose options are listed in their groups, those without a group first."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then each group of options."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                panel = getattr(parameter, "rich_help_panel", None)
                kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections.setdefault(panel or kind, []).append(
                    (shown_name(parameter, record[0]), record[1])
                )
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


class Group(TyperGroup):
    """The program: each command with the first sentence of its help, wrapped and not cut."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print the help, on standard output, if there is no command."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, c.get_short_help_str(10_000)) for name, c in commands if c and not c.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


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
