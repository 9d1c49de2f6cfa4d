"""The program ``dbpcfg`` and its help. A command and what it needs are imported when it runs."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import pairwise
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from dbpcfg.cli.output import (
    compiling_announced,
    controls_shown,
    drop_standard_output,
    harmless,
    occupy_standard_streams,
)
from dbpcfg.errors import DbpcfgError
from dbpcfg.options import LEARNERS, Option
from dbpcfg.version import __version__

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130

AGAIN_SECONDS = 0.05
"""Seconds after which an interrupt that could not be raised comes again."""

LONGEST_MESSAGE = 800
"""Characters of an error message; a longer one is cut in the middle."""

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
        shown: dict[str, tuple[bool, list[str]]] = getattr(self.callback, "shown", {})
        return shown

    def _wanted(self, name: str, args: list[str]) -> bool:
        basic, learners = self._shown.get(name, (True, []))
        chosen = _learner(args)
        if chosen is not None:
            return not learners or (chosen if chosen in LEARNERS else "other") in learners
        return basic or "--help-all" in args

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The arguments of the usage line, without hidden ones."""
        visible = [one for one in self.get_params(ctx) if not getattr(one, "hidden", False)]
        pieces = [piece for one in visible for piece in one.get_usage_pieces(ctx)]
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
                    (parameter_name(parameter, record[0]), record[1])
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
    "explore": "explore",
    "compare-runs": "report",
    "parse": "parse",
    "generate": "grammar",
    "probability": "parse",
    "surprisal": "surprisal",
    "pairs": "pairs",
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


def command_function(name: str) -> Any:
    """The function of a command, imported now."""
    return getattr(import_module(f"dbpcfg.cli.{MODULES[name]}"), name.replace("-", "_"))


@cache
def command(name: str) -> Any:
    """A command, made now."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, cls=Command)(command_function(name))
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
            formatter.write_dl(
                [(name, _first_sentence(command_function(name))) for name in MODULES]
            )


def _first_sentence(item: Any) -> str:
    paragraph = " ".join(item.__doc__.partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].rstrip(".") + "."


def parameter_name(parameter: Any, record: str) -> str:
    """The names of a parameter, with a word for its value; ``record`` is what typer shows."""
    if parameter.param_type_name == "argument":
        name = parameter.metavar or str(parameter.name).upper()
        choices = record.partition(" ")[2].strip("<[]>")
        return f"{name} {choices}" if "|" in choices else name
    names = ", ".join([*sorted(parameter.opts, key=len), *parameter.secondary_opts])
    if getattr(parameter, "is_flag", False):
        return names
    if parameter.metavar:
        return f"{names} {parameter.metavar}"
    kind = record.rpartition("--")[2].partition(" ")[2].strip("<[]>")  # "int range", "a|b|c"
    if kind.lower().startswith(("int", "float")):
        return f"{names} {'N' if kind.lower().startswith('int') else 'X'}"
    return f"{names} {kind if '|' in kind else str(parameter.name).upper().split('_')[-1]}"


app = typer.Typer(
    name="dbpcfg",
    help="Learn a phrase-structure grammar from raw text, under a human memory bound.",
    no_args_is_help=True,
    cls=Program,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dbpcfg {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the program; a user error is one line and exit code 2, never a traceback."""
    occupy_standard_streams()
    with interrupts_kept(), compiling_announced(), controls_shown():
        _main()


@contextlib.contextmanager
def interrupts_kept() -> Iterator[None]:
    """Let no Ctrl-C get lost.

    When C calls Python, as it does to delete an object, after an import, or while a kernel is
    compiled, no exception can be raised to the caller: Python prints it and goes on. An interrupt
    that meets such a call comes again a moment later.
    """
    if not hasattr(signal, "setitimer"):  # not on this system: do without
        yield
        return
    before = sys.unraisablehook

    def unraisable(error: UnraisableHookArgs) -> None:
        if issubclass(error.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
        else:
            before(error)

    def again(_: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code is unraisable.__code__:  # it would be lost there too
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
        elif callable(handler := signal.getsignal(signal.SIGINT)):
            handler(signal.SIGINT, frame)

    alarm = signal.signal(signal.SIGALRM, again)
    sys.unraisablehook = unraisable
    try:
        yield
    finally:
        sys.unraisablehook = before
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)


def _main() -> None:
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:  # here, where an error can still be a message
                sys.stdout.flush()
    except DbpcfgError as error:
        _fail(str(error))
    except MemoryError as error:
        _fail(f"memory ran out{f': {error}' if str(error) else ''}; choose smaller numbers")
    except BrokenPipeError:
        # The reader has closed the pipe, as `| head` does: no message of Python's at exit.
        drop_standard_output()
        sys.exit(0)
    except OSError as error:
        if error.filename is None:  # only standard output is written to without a name
            drop_standard_output()
            _fail(f"standard output cannot be written: {error.strerror or error}")
        _fail(f"{error.filename}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


def _fail(message: str) -> NoReturn:
    if len(message) > LONGEST_MESSAGE:  # it quotes a very long word
        message = f"{message[: LONGEST_MESSAGE - 100]} … {message[-95:]}"
    printable = harmless(message).encode("utf-8", "backslashreplace").decode()
    typer.echo(f"dbpcfg: {printable}", err=True)
    sys.exit(EXIT_USER_ERROR)
