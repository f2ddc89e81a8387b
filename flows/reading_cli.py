"""`evergreen leaderboard`, `status` and `sql`: what a warehouse says, also while a flow runs."""

import sys
from typing import Annotated

import typer

from flows.console import remark
from flows.options import Shown, WarehouseAt
from flows.show import Format, print_frame, print_leaderboard, print_status
from tasks.judges.registry import judge as judge_named
from tasks.protocols.registry import named
from tasks.selection import check_known, check_scored
from tasks.status import edition_status, known_editions
from tasks.warehouse.reading import query, reading
from tasks.warehouse.store import DEFAULT


def leaderboard(
    edition: Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")],
    protocol: Annotated[
        list[str] | None,
        typer.Option("--protocol", help="Only this one; may be given again. All if not given."),
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="Only this judge's; every judge's if not given.")
    ] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """The leaderboard of an edition; JSON and CSV hold every metric, as shares 0-1."""
    protocols = [named(each) for each in protocol or ()]
    with reading(warehouse) as source:
        _notice(source.notice)
        check_known(source, edition)
        check_scored(source, edition, protocols, judge)
        print_leaderboard(source, edition, form, protocols, judge)


def status(
    edition: Annotated[str | None, typer.Option(help="All of them if not given.")] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="Whose verdicts and scores; the default judge's.")
    ] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """What is done, pending and failed, per stage; verdicts and scores of one judge."""
    decider = judge_named(judge)
    with reading(warehouse) as source:
        _notice(source.notice)
        if edition:
            check_known(source, edition)
        counts = [
            row
            for name in ([edition] if edition else known_editions(source))
            for row in edition_status(source, name, decider)
        ]
    print_status(counts, decider.name, form)


def sql(
    select: Annotated[
        str, typer.Argument(help="One SELECT (or DESCRIBE, SHOW, EXPLAIN); - reads it from stdin.")
    ],
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Read-only SQL over the warehouse; while a flow runs, over its last export."""
    frame, notice = query(warehouse, sys.stdin.read() if select == "-" else select)
    _notice(notice)
    print_frame(frame, form)


def register(app: typer.Typer) -> None:
    """Add the commands to `evergreen`."""
    for command in (leaderboard, status):
        app.command()(command)
    # SQL may begin with a comment, which looks like an option.
    app.command(context_settings={"ignore_unknown_options": True})(sql)


def _notice(text: str | None) -> None:
    if text:
        remark(text, style="yellow")
