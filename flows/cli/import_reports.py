"""`evergreen import reports`: import existing reports, or answers to questions, from files."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from flows.cli.hints import describe_next_step
from flows.cli.options import WarehouseOption, make_edition_option
from flows.cli.warehouse import open_existing_warehouse
from flows.display.console import STDERR, print_message, print_result, transient_progress
from tasks.agents.registry import load_agents
from tasks.base import format_count
from tasks.editions.names import UnknownName
from tasks.extraction.understanding import NOT_RELIABLE
from tasks.foreign_text import make_visible
from tasks.imports.answers import AnswersSummary, hold_answers, import_answers
from tasks.imports.matching import MatchedFiles, match_reports
from tasks.imports.reports import FileOutcome, ReportsSummary, import_reports
from tasks.warehouse.location import DEFAULT_LOCATION
from tasks.warehouse.store import Readable, Warehouse

HAS_REPORTS = "SELECT count(*) > 0 FROM reports WHERE agent = $1"


def import_report_files(
    path: Annotated[
        Path,
        typer.Argument(
            help="A file, or a folder of files (.md .txt .html .docx .pdf, pictures) named by "
            "assignment: its id, its title, or a number (idx-12.pdf). Of answers to questions also "
            "a JSON file of predictions (key, preds), or a folder of KEY.json."
        ),
    ],
    edition: Annotated[str, make_edition_option("The reports' edition.")],
    agent: Annotated[
        str | None,
        typer.Option(
            help="The reports' agent; if not given, each agent has a folder in PATH or in "
            "PATH/report."
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option("--yes", help="Accept guesses: numbers that are in no id, and similar names."),
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Also replace reports that an agent was asked for.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be imported; nothing is kept.")
    ] = False,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Import reports, or answers to questions, from files; idempotent.

    Prints what the offline extractor understands of each report. Exit code 0 if every file is
    imported, 1 if any was left out or could not be read.
    """
    bars = transient_progress()
    with open_existing_warehouse(warehouse) as store:
        if hold_answers(store, path, edition):
            _import_answers(store, path, edition, agent, dry_run=dry_run)
            return
        if agent is not None and not yes:
            _refuse_respelt(store, agent)
        matched = match_reports(store, path, edition, agent)
        _print_guesses(matched)
        with bars:
            bar = bars.add_task("reading", total=len(matched.files))

            def on_progress(outcome: FileOutcome, done: int, total: int) -> None:
                path = make_visible(outcome.path, one_line=True)
                bars.update(bar, completed=done, total=total, description=path)

            summary = import_reports(
                store, matched, yes, replace, on_progress, understand=True, dry_run=dry_run
            )
        _print_summary(summary, matched, yes)
        if dry_run:
            print_message("Nothing was kept: this was only tried (--dry-run).")
        elif summary.count("new", "changed", "unchanged"):
            print_message(describe_next_step(store, summary.edition))
    if not summary.complete:
        raise typer.Exit(1)


def _import_answers(
    store: Warehouse, path: Path, edition: str, agent: str | None, *, dry_run: bool
) -> None:
    if agent is None:
        raise typer.BadParameter("answers need it.", param_hint="--agent")
    if dry_run:
        raise typer.BadParameter("it is for reports alone.", param_hint="--dry-run")
    _print_answers(import_answers(store, path, edition, agent), edition, agent)


def _refuse_respelt(source: Readable, agent: str) -> None:
    """Refuse a new name that differs from a configured agent's in case and punctuation alone: what
    is imported under it stands as an agent of its own."""

    def spell(name: str) -> str:
        return "".join(filter(str.isalnum, name.casefold()))

    known = load_agents().agents
    if agent in known or source.frame(HAS_REPORTS, [agent]).item():
        return
    for near in sorted(known):
        if spell(near) == spell(agent):
            raise UnknownName(
                f"There is no agent {agent!r} in configs/agents.yaml. Did you mean {near}? "
                "--yes imports them as another agent's."
            )


def _print_answers(summary: AnswersSummary, edition: str, agent: str) -> None:
    answers = format_count(summary.answers, "answer")
    print_message(f"{edition}: {answers} of {agent} ({summary.new} new or changed).")
    if summary.unknown:
        shown = ", ".join(summary.unknown[:5])
        print_message(f"Keys that match no question of {edition}: {len(summary.unknown)} ({shown})")
    if summary.unanswered:
        questions = format_count(summary.unanswered, "question")
        print_message(
            f"Without an answer: {questions} of {edition}. They are not scored for this agent; an "
            "empty answer would score 0."
        )
    print_message(f"Next: evergreen evaluate --edition {edition} --judge JUDGE")


def _print_guesses(matched: MatchedFiles) -> None:
    """Print the guessed assignments, for a person to accept."""
    guesses = [given for given in matched.files if given.match.is_guess]
    if not guesses:
        return
    table = Table(title="Guesses", box=None, pad_edge=False)
    for name in ("File", "Assignment", "By", "Likeness", "Next best"):
        table.add_column(name, justify="right" if name == "Likeness" else "left", overflow="fold")
    for given in guesses:
        match = given.match
        runner_up = f"{match.runner_up} ({match.runner_up_score:.0f})" if match.runner_up else "–"
        score = "–" if match.score is None else f"{match.score:.0f}"
        table.add_row(given.path, str(match.assignment), str(match.how), score, runner_up)
    STDERR.print(table)


def _print_summary(summary: ReportsSummary, matched: MatchedFiles, yes: bool) -> None:
    for outcome in summary.outcomes:
        if outcome.outcome in ("left out", "unreadable"):
            result = "left out" if outcome.outcome == "left out" else "not read"
            print_message(f"{result}: {outcome.path}: {'; '.join(outcome.remarks)}", "red")
        elif outcome.remarks:
            print_message(f"{outcome.path}: {'; '.join(outcome.remarks)}", "yellow")
        if outcome.understood:
            print_result(f"{outcome.path}: {outcome.understood}", wrap=False)
    agents = sorted({o.agent for o in summary.outcomes})
    read = [o.understood for o in summary.outcomes if o.understood]
    if n_unclear := sum(NOT_RELIABLE in understood for understood in read):
        print_message(f"Citations are not reliable in {n_unclear} of {len(read)} reports.")
    print_message(
        f"{summary.edition}: {format_count(len(summary.outcomes), 'file')} of {', '.join(agents)}: "
        f"{summary.count('new')} new, {summary.count('changed')} changed, "
        f"{summary.count('unchanged')} unchanged, {summary.count('unreadable')} not read, "
        f"{summary.count('left out')} left out."
    )
    if strangers := sorted(set(agents) - set(load_agents().agents)):
        print_message(f"Not in configs/agents.yaml, and so shown by id: {', '.join(strangers)}.")
    guesses = {given.path for given in matched.files if given.match.is_guess}
    if not yes and any(o.outcome == "left out" and o.path in guesses for o in summary.outcomes):
        print_message("Accept the guesses with --yes, or rename the files by assignment.")
