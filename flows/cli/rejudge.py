"""`evergreen rejudge`: another judge on the same reports, and what that changes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from flows.cli.options import Ended, WarehouseAt
from flows.cli.output import end
from flows.cli.protocol_option import Protocols
from flows.cli.warehouse import existing_warehouse
from flows.display.console import ANSWERS, remark
from flows.display.formats import Format
from flows.display.rejudge import (
    agreement_message,
    agreement_rows,
    changed_rows,
    figure_change_rows,
    figure_rows,
    leading_figures,
)
from flows.display.wide import Column, print_wide
from flows.run import run_flow
from tasks.analysis.judges import Rejudged, Selection, chosen_report, rejudged, selected
from tasks.judging.preconditions import check_judges
from tasks.pending.evaluation import Evaluation, outcome_if_done
from tasks.publishing.changes import SiteChanges, read_changes
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.store import Warehouse

SHOWN_VERDICTS, SHOWN_FILES = 20, 20
NUMBERS = {"items", "assignments", "alike", "kappa", "change", "exchanged", "before", "after"}


def rejudge(
    edition: Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")],
    judge: Annotated[str, typer.Option("--judge", help="The judge that judges again.")],
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            help="The one it is compared with: the default judge, or the only other, if not given.",
        ),
    ] = None,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", help="Only this agent; may be given again.")
    ] = None,
    report: Annotated[
        str | None,
        typer.Option("--report", help="Only this report: AGENT/ASSIGNMENT, or its title."),
    ] = None,
    protocol: Protocols = None,
    budget: Annotated[
        float | None, typer.Option("--budget", min=0.0, help="USD this run may spend at most.")
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="Ask models through their batch APIs.")
    ] = False,
    publish: Annotated[
        Path | None,
        typer.Option(
            "--publish",
            help="A folder for the site before and after; says which figures and files differ.",
        ),
    ] = None,
    form: Ended = "table",
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Judge the same reports by another judge, and show how far they agree and what changes.

    No verdict of the other judge is touched; what has been judged already is not judged again.
    """
    if agent and report:
        raise typer.BadParameter("--report names its agent: leave --agent out.")
    with existing_warehouse(warehouse) as store:
        agents, assignments = agent, None
        if report:
            one, assignment = chosen_report(store, edition, report)
            agents, assignments = [one], [assignment]
        chosen, other = selected(store, edition, judge, against, agents, assignments, protocol)
        check_judges([judge], budget, batch=batch)
        # With --publish there is a site to be written, whatever was judged before.
        found = None if publish else _judged_before(store, chosen, judge, other)
        complete, outcome = run_flow(
            "rejudge",
            {
                "edition": edition,
                "judge": judge,
                "against": other,
                "agents": agents,
                "assignments": assignments,
                "protocols": list(chosen.protocols),
                "budget_usd": budget,
                "batch": batch,
                "publish_to": str(publish) if publish else None,
                "warehouse": store.url,
            },
            agreement_message(found) if found else None,
        )
        found = found or rejudged(store, chosen, other, judge)
    changes = read_changes(publish) if publish else None
    if form == "json":
        end(complete, outcome, Format.JSON, **_answers(found, changes))
        return
    _print(edition, found)
    if changes and publish:
        _print_changes(changes, publish)
    end(complete, outcome)


def _judged_before(store: Warehouse, chosen: Selection, judge: str, other: str) -> Rejudged | None:
    """The comparison where nothing is pending; None where the judge has something to do."""
    run = Evaluation(
        store.url, chosen.edition, chosen.protocols, chosen.agents, judge,
        assignments=chosen.assignments,
    )  # fmt: skip
    return rejudged(store, chosen, other, judge) if outcome_if_done(run) else None


def _answers(found: Rejudged, changes: SiteChanges | None) -> dict[str, pl.DataFrame]:
    answers = {"agreement": found.agreement, "changed": found.changed, "figures": found.figures}
    if changes:
        answers["changed_figures"] = pl.DataFrame([each.model_dump() for each in changes.figures])
        answers["changed_files"] = pl.DataFrame([each.model_dump() for each in changes.files])
    return answers


def _print(edition: str, found: Rejudged) -> None:
    before, after = found.before, found.after
    _table(f"{edition}: do {before} and {after} agree?", agreement_rows(found))
    remark(
        f"On the items that both decided; {found.only_before:,} only {before} did, "
        f"{found.only_after:,} only {after}. Alike in percent; kappa: beyond chance, -1 to 1.\n",
        "dim",
    )
    n_changed = found.changed.height
    if n_changed:
        shown = [_brief(row) for row in changed_rows(found.changed.head(SHOWN_VERDICTS))]
        _table(f"What {after} says otherwise than {before}", shown)
        more = n_changed - SHOWN_VERDICTS
        rest = f" and {more:,} more: --format json names every one" if more > 0 else ""
        remark(f"{n_changed:,} verdicts differ{rest}.\n", "dim")
    _table(f"{edition}: the figures of both", figure_rows(leading_figures(found), before, after))
    remark(
        f"Percent. Exchanged: the figure of {before} with the verdicts of {after} in place of its "
        f"own wherever {after} has judged; change: from {before} to that.\n",
        "dim",
    )


def _brief(row: dict[str, str]) -> dict[str, str]:
    """A changed verdict in a line; the JSON form names its item whole."""
    return {
        "report": f"{row['agent']}/{row['report']}",
        "verdict": row["verdict"],
        "step": row["step"],
        "item": shorten_middle(row["item"]),
    }


def shorten_middle(text: str, most: int = 36) -> str:
    """A long text with its middle left out: addresses differ at their ends."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


def _print_changes(changes: SiteChanges, folder: Path) -> None:
    _table("The leaderboard before and after", figure_change_rows(changes.figures))
    remark("Percent. *: provisional, as not all of the edition's reports are judged so.\n", "dim")
    files = [{"file": f.path, "change": f.change} for f in changes.files]
    if files:
        _table(f"{folder}: what differs between both sites", files[:SHOWN_FILES])
    more = f"; all are in {folder / 'changes.json'}" if len(files) > SHOWN_FILES else ""
    remark(f"{len(files):,} of {changes.n_files:,} files differ{more}.\n", "dim")


def _table(title: str, rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        ANSWERS.print(f"{title} – nothing to show.", markup=False, highlight=False)
        return
    names = list(rows[0])
    print_wide(
        ANSWERS,
        title,
        [Column(names[0], [str(row[names[0]]) for row in rows], "left")],
        [
            Column(name, [str(row[name]) for row in rows], "right" if name in NUMBERS else "left")
            for name in names[1:]
        ],
    )
