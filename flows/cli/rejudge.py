"""`evergreen rejudge`: judge the same reports with another judge, and compare the two."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from flows.cli.options import (
    AgentsOption,
    BatchOption,
    BudgetOption,
    EditionOption,
    TextOrJsonOption,
    WarehouseOption,
    takes,
)
from flows.cli.output import print_outcome
from flows.cli.protocol_option import ProtocolsOption
from flows.cli.warehouse import open_existing_warehouse
from flows.display.console import STDOUT, print_message, print_result
from flows.display.formats import Format
from flows.display.rejudge import (
    agreement_rows,
    changed_rows,
    figure_change_rows,
    figure_rows,
    format_agreement,
    select_leading_figures,
)
from flows.display.wide_table import WideColumn, print_wide_table
from flows.run import run_flow
from tasks.analysis.judges import JudgeComparison, ReportSelection, compare_judges, select_reports
from tasks.editions.names import find_report
from tasks.judging.session import check_judges
from tasks.planning.options import EvaluateOptions, RejudgeOptions
from tasks.publishing.changes import BoardChanges, load_changes
from tasks.warehouse.location import DEFAULT_LOCATION
from tasks.warehouse.store import Warehouse

MAX_VERDICTS = 20
NUMERIC_COLUMNS = {
    "items",
    "assignments",
    "alike",
    "kappa",
    "change",
    "exchanged",
    "before",
    "after",
}

ReportOption = Annotated[
    str | None,
    typer.Option(
        "--report",
        metavar="AGENT/TITLE",
        help="Only this report; also AGENT/ASSIGNMENT, or its id.",
    ),
]
SiteOption = Annotated[
    Path | None,
    typer.Option("--to", help="A folder for the site, with the figures that have changed."),
]


@takes(
    RejudgeOptions,
    edition=EditionOption,
    judge=typer.Option("--judge", help="The judge that judges again."),
    against=typer.Option(
        "--against",
        help="The judge to compare with; the default judge, or the only other, if not given.",
    ),
    agents=AgentsOption,
    report=...,
    protocols=ProtocolsOption,
    budget_usd=BudgetOption,
    batch=BatchOption,
    publish_to=SiteOption,
)
def rejudge(
    options: RejudgeOptions,
    *,
    report: ReportOption = None,
    form: TextOrJsonOption = "table",
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Judge the same reports with another judge; show their agreement and what changes.

    The other judge's verdicts stay unchanged; cells judged before are not judged again.
    """
    if options.agents and report:
        raise typer.BadParameter("--report names its agent: omit --agent.")
    edition, judge, to = options.edition, options.judge, options.publish_to
    with open_existing_warehouse(warehouse) as store:
        agents, assignments = _find_reports(store, edition, options.agents, report)
        chosen, other = select_reports(
            store, edition, judge, options.against, agents, assignments, options.protocols
        )
        check_judges([judge], options.budget_usd, batch=options.batch)
        # --to writes a site even if nothing is pending.
        found = None if to else _compare_if_judged(store, chosen, judge, other)
        options = options.model_copy(update={
            "against": other, "agents": agents, "assignments": assignments,
            "protocols": [*chosen.protocols],
        })  # fmt: skip
        done = format_agreement(found) if found else None
        plan = options.plan(store)
        complete, outcome = run_flow("rejudge", options, done, plan)
        found = found or compare_judges(store, chosen, other, judge)
    changes = load_changes(Path(to)) if to else None
    if form == "table":
        _print_comparison(edition, found)
        if changes:
            _print_table("The leaderboard before and after", figure_change_rows(changes.figures))
            print_message(
                "Percent. *: provisional: not all of the edition's reports are judged.\n", "dim"
            )
    print_outcome(complete, outcome, Format(form), _collect_answers(found, changes))


def _find_reports(
    store: Warehouse, edition: str, agents: list[str] | None, report: str | None
) -> tuple[list[str] | None, list[str] | None]:
    """Return the agents and assignments to judge again; None: all."""
    if report is None:
        return agents, None
    _, agent, assignment = find_report(store, edition, report)
    return [agent], [assignment]


def _compare_if_judged(
    store: Warehouse, chosen: ReportSelection, judge: str, other: str
) -> JudgeComparison | None:
    """Return the comparison if nothing is pending, else None."""
    options = EvaluateOptions(
        edition=chosen.edition, protocols=[*chosen.protocols], agents=[*chosen.agents], judge=judge,
        assignments=[*chosen.assignments],
    )  # fmt: skip
    done = options.find_outcome(options.plan(store))
    return compare_judges(store, chosen, other, judge) if done else None


def _collect_answers(
    found: JudgeComparison, changes: BoardChanges | None
) -> dict[str, pl.DataFrame]:
    answers = {"agreement": found.agreement, "changed": found.changed, "figures": found.figures}
    if changes:
        answers["changed_figures"] = pl.DataFrame([each.model_dump() for each in changes.figures])
    return answers


def _print_comparison(edition: str, found: JudgeComparison) -> None:
    before, after = found.before, found.after
    _print_table(f"{edition}: do {before} and {after} agree?", agreement_rows(found))
    print_message(
        f"Over items that both decided; {found.only_before:,} were decided only by {before}, "
        f"{found.only_after:,} only by {after}. Alike in percent; kappa: beyond chance, -1 to 1.\n",
        "dim",
    )
    n_changed = found.changed.height
    if n_changed:
        shown = [_format_change(row) for row in changed_rows(found.changed.head(MAX_VERDICTS))]
        _print_table(f"Verdicts of {after} that differ from {before}", shown)
        more = n_changed - MAX_VERDICTS
        rest = f" and {more:,} more: --format json lists all" if more > 0 else ""
        print_message(f"Verdicts that differ: {n_changed:,}{rest}.\n", "dim")
    _print_table(
        f"{edition}: the figures of both", figure_rows(select_leading_figures(found), before, after)
    )
    print_message(
        f"Percent. Exchanged: the figure of {before} with its verdicts replaced by those of "
        f"{after} where {after} has judged; change: from {before} to that.\n",
        "dim",
    )


def _format_change(row: dict[str, str]) -> dict[str, str]:
    """Format a changed verdict as a row; JSON has the full item."""
    return {
        "report": f"{row['agent']}/{row['report']}",
        "verdict": row["verdict"],
        "step": row["step"],
        "item": shorten_middle(row["item"]),
    }


def shorten_middle(text: str, most: int = 36) -> str:
    """Shorten a long text in the middle: URLs differ at their ends."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


def _print_table(title: str, rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        print_result(f"{title} – nothing to show.")
        return
    names = list(rows[0])
    print_wide_table(
        STDOUT,
        title,
        [WideColumn(names[0], [str(row[names[0]]) for row in rows], "left")],
        [
            WideColumn(
                name,
                [str(row[name]) for row in rows],
                "right" if name in NUMERIC_COLUMNS else "left",
            )
            for name in names[1:]
        ],
    )
