"""Directives that read the program itself.

``commandline``: a section for every command. ``options``: the options of groups, or of a learner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from dbpcfg import options
from dbpcfg.cli.app import app as program
from dbpcfg.cli.app import parameter_name

_EXTRA = re.compile(r"\s*\[(.*)\]$")
"""What stands in brackets after a help text: defaults, ranges, whether it must be given."""


def described() -> Iterator[tuple[str, str, str, list[tuple[str, str]]]]:
    """Each command: its name, its usage, its help, and its arguments and options with theirs."""
    group: Any = get_command(program)
    top = group.make_context("dbpcfg", [next(iter(group.commands))], resilient_parsing=True)
    for name, command in group.commands.items():
        context = type(top)(command, parent=top, info_name=name)
        usage = command.get_usage(context).removeprefix("Usage: ")
        records = [(p, p.get_help_record(context)) for p in command.get_params(context)]
        listed = [(parameter_name(p, record[0]), record[1]) for p, record in records if record]
        yield name, usage, command.help or "", listed


class CommandLine(SphinxDirective):
    """A section for every command."""

    def run(self) -> list[nodes.Node]:
        """Make the sections."""
        return [_section(*one) for one in described()]


class Options(SphinxDirective):
    """The options of the groups or learners that are named."""

    required_arguments, final_argument_whitespace = 1, True

    def run(self) -> list[nodes.Node]:
        """Make the list."""
        listed = nodes.definition_list(classes=["options"])
        for name in self.arguments[0].split():
            group = options.LEARNERS.get(name) or getattr(options, name)
            for one in group.options().values():
                usual = "" if one.default in (None, ()) else f" [default: {one.default}]"
                names = ", ".join(one.flags) or f"--{one.key}"
                listed += _item(names, f"{one.help}{usual}")
        return [listed]


def _section(name: str, usage: str, text: str, records: list[tuple[str, str]]) -> nodes.section:
    section = nodes.section(ids=[f"dbpcfg-{name}"], names=[f"dbpcfg {name}"])
    section += nodes.title("", "", nodes.literal(text=f"dbpcfg {name}"))
    for paragraph in text.split("\n\n"):
        section += _paragraph(" ".join(paragraph.split()))
    section += nodes.literal_block(usage, usage, language="text")
    listed = nodes.definition_list(classes=["options"])
    for names, help in records:
        listed += _item(names, " ".join(help.split()))
    section += listed
    return section


def _item(names: str, help: str) -> nodes.definition_list_item:
    extra = _EXTRA.search(help)
    paragraph = _paragraph(_EXTRA.sub("", help))
    if extra:
        paragraph += nodes.inline(text=f" {extra[1]}", classes=["extra"])
    term = nodes.term("", "", nodes.literal(text=names))
    return nodes.definition_list_item("", term, nodes.definition("", paragraph))


def _paragraph(text: str) -> nodes.paragraph:
    """A text in which `code` and --options are set as such."""
    paragraph = nodes.paragraph()
    for part in re.split(r"(`[^`]+`|(?<!\S)--\w[\w-]*)", text):
        is_code = part.startswith(("`", "--"))
        paragraph += nodes.literal(text=part.strip("`")) if is_code else nodes.Text(part)
    return paragraph


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("commandline", CommandLine)
    app.add_directive("options", Options)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
