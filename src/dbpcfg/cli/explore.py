"""``dbpcfg explore``: a page in the browser, to type sentences at a grammar."""

from __future__ import annotations

from typing import Annotated

import typer

from dbpcfg.cli.options import Quiet
from dbpcfg.errors import DbpcfgError


def explore(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN", help="Run directory, model file or rule table; two are compared."
        ),
    ],
    port: Annotated[
        int,
        typer.Option(help="Port of 127.0.0.1; any free one for 0.", min=0, max=65535),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    quiet: Quiet = False,
) -> None:
    """Type sentences at a grammar in the browser: trees, memory, surprisal, other bounds.

    The page is served on this machine only, until Ctrl-C. Its address is
    printed; who has the address can use the page.
    """
    from dbpcfg.io.progress import Progress
    from dbpcfg.report.explore import Explored, new_server

    if len(runs) > 2:
        raise DbpcfgError(f"at most two runs fit on the page, got {len(runs)}")
    explored = [Explored.of_path(run) for run in runs]
    server = new_server(explored, port)
    with Progress("grammars", len(explored), quiet) as progress:
        for number, one in enumerate(explored, start=1):
            one.warm()
            progress.update(number)
    typer.echo(server.address)
    if not quiet:
        typer.echo("Ctrl-C ends it", err=True)
    if browser:
        typer.launch(server.address)
    server.run()
