"""`evergreen import reports`: reports that people already have, as files of any kind."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from flows.cli.hints import say_next
from flows.cli.options import WarehouseAt
from flows.cli.warehouse import existing_warehouse
from flows.display.console import REMARKS, passing_bars, remark
from tasks.configuration.agents import load_agents
from tasks.imports.matching import Given, Matched, match_reports
from tasks.imports.reports import FileOutcome, ReportsSummary, import_reports
from tasks.warehouse.location import DEFAULT


def import_report_files(
    path: Annotated[
        Path,
        typer.Argument(
            help="A file, or a folder of files (.md .txt .html .docx .pdf, pictures) named by "
            "assignment: its id, its title, or a number (idx-12.pdf)."
        ),
    ],
    edition: Annotated[str, typer.Option("--edition", help="What they are reports for.")],
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            help="Whose they are; if not given, each agent has a folder of its own in PATH or in "
            "PATH/report.",
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Also take what is only guessed: numbers that no id holds, and names alike.",
        ),
    ] = False,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Also replace reports that an agent was asked for."),
    ] = False,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Import reports from files; again changes nothing.

    Exit code 0 when every file is in, 1 when any was left out or could not be read.
    """
    bars = passing_bars()
    with existing_warehouse(warehouse) as store:
        matched = match_reports(store, path, edition, agent)
        _preview(matched)
        with bars:
            bar = bars.add_task("reading", total=len(matched.given))

            def on_progress(outcome: FileOutcome, done: int, total: int) -> None:
                bars.update(bar, completed=done, total=total, description=outcome.path)

            summary = import_reports(store, matched, yes, replace, on_progress)
        _say(summary, matched, yes)
        if summary.count("new", "changed", "unchanged"):
            say_next(store, summary.edition)
    if not summary.complete:
        raise typer.Exit(1)


def _preview(matched: Matched) -> None:
    """What is only guessed, for somebody to agree to."""
    guesses = [given for given in matched.given if given.match.guessed]
    if not guesses:
        return
    table = Table(title="Guesses", box=None, pad_edge=False)
    for name in ("File", "Assignment", "By", "Likeness", "Next best"):
        table.add_column(name, justify="right" if name == "Likeness" else "left", overflow="fold")
    for given in guesses:
        table.add_row(*_cells(given))
    REMARKS.print(table, markup=False)


def _cells(given: Given) -> tuple[str, ...]:
    match = given.match
    runner_up = f"{match.runner_up} ({match.runner_up_score:.0f})" if match.runner_up else "–"
    score = "–" if match.score is None else f"{match.score:.0f}"
    return given.path, str(match.assignment), str(match.how), score, runner_up


def _say(summary: ReportsSummary, matched: Matched, yes: bool) -> None:
    for outcome in summary.outcomes:
        if outcome.outcome in ("left out", "unreadable"):
            said = "left out" if outcome.outcome == "left out" else "not read"
            remark(f"{said}: {outcome.path}: {'; '.join(outcome.remarks)}", "red")
        elif outcome.remarks:
            remark(f"{outcome.path}: {'; '.join(outcome.remarks)}", "yellow")
    agents = sorted({o.agent for o in summary.outcomes})
    remark(
        f"{summary.edition}: {len(summary.outcomes)} files of {', '.join(agents)}: "
        f"{summary.count('new')} new, {summary.count('changed')} changed, "
        f"{summary.count('unchanged')} unchanged, {summary.count('unreadable')} not read, "
        f"{summary.count('left out')} left out."
    )
    if strangers := sorted(set(agents) - set(load_agents().agents)):
        remark(f"Not in configs/agents.yaml, and shown by their ids: {', '.join(strangers)}.")
    if not yes and any(given.match.guessed for given in matched.given):
        remark("Agree to the guesses with --yes, or rename the files by assignment.")
