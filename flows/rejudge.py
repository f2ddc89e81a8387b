"""Judge reports again by another judge, and show how far the two agree and what it changes."""

from pathlib import Path
from typing import Any

from prefect import flow, tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.display.console import remark
from flows.display.rejudge import (
    agreement_message,
    agreement_rows,
    changed_rows,
    figure_change_rows,
    figure_rows,
    leading_figures,
)
from flows.evaluate import evaluate
from flows.publish import written
from flows.runtime.artifacts import (
    leave_costs,
    leave_leaderboard,
    leave_table,
    leave_text,
    markdown_table,
)
from flows.runtime.parameters import JudgeName, ProtocolName, Usd
from flows.runtime.warehouse import hold_warehouse
from tasks.analysis.judges import Rejudged, rejudged, selected
from tasks.costs.budget import spending
from tasks.judging.preconditions import check_judges
from tasks.publishing.changes import (
    AFTER,
    BEFORE,
    Begun,
    SiteChanges,
    begin_anew,
    begun_before,
    board_of,
    check_changes_folder,
    figure_changes,
    file_changes,
    keep_begun,
    keep_changes,
)
from tasks.scoring.current import check_current
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse


@flow(name="rejudge", flow_run_name="rejudge · {edition} · {judge}")
async def rejudge(
    edition: str,
    judge: JudgeName,
    against: JudgeName | None = None,
    agents: list[str] | None = None,
    assignments: list[str] | None = None,
    protocols: list[ProtocolName] | None = None,
    budget_usd: Usd | None = None,
    batch: bool = False,
    publish_to: str | None = None,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Judge the same reports by another judge: how far they agree, what changes, what it does to
    the figures. No row of the judge that is compared with is touched.

    Args:
        edition: its name in the warehouse.
        judge: the one that judges again; what it has judged already is not judged twice.
        against: the judge that it is compared with: the default one, or the only other that has
            judged the edition, unless named.
        agents: only their reports; all unless named.
        assignments: only the reports of these; all unless named.
        protocols: only these; all by which the other judge has judged these reports unless named.
        budget_usd: what this run may spend on models at most; no cap unless given.
        batch: ask models through their batch APIs: cheaper, and within a day.
        publish_to: a folder in which the site is written twice, before and after, with what
            differs between them. A run that goes on with one that was ended compares with what
            that one found.
        warehouse: a DuckDB file, waited for while another process owns it, or a lake's address.

    Returns:
        `Completed`, or a completed state named `Partial` when something is left to judge.
    """
    check_judges([judge], budget_usd, batch=batch)
    to = Path(publish_to) if publish_to else None
    if to:
        check_changes_folder(to)
    with (
        await hold_warehouse(warehouse, f"rejudging {edition}") as store,
        spending(store, budget_usd),
        tags(f"edition:{edition}", f"judge:{judge}"),
    ):
        path, began = store.url, utc_now()
        selection, other = selected(store, edition, judge, against, agents, assignments, protocols)
        before = await _begun(store, edition, judge, to) if to else None
        outcome: Any = evaluate(
            edition, list(selection.protocols), agents, judge, path, batch=batch,
            assignments=assignments, return_state=True,
        )  # fmt: skip
        state: State[None] = await outcome
        if not state.is_completed():
            await state.aresult()  # raises what it failed with
        found = rejudged(store, selection, other, judge)
        await _left(store, edition, found)
        await leave_costs(store, began, f"the judge {judge} calls no model")
        if to and before:
            await _published(store, before, to, complete=state.name == "Completed")
    return Completed(name=state.name, message=_message(found, state))


async def _left(store: Warehouse, edition: str, found: Rejudged) -> None:
    """The comparison, in the UI."""
    before, after = found.before, found.after
    await leave_table(
        "agreement",
        agreement_rows(found),
        f"{edition}: how far {before} and {after} agree on the items that both decided. Kappa: "
        "agreement beyond chance, -1 to 1.",
    )
    await leave_table(
        "changed-verdicts",
        changed_rows(found.changed),
        f"{edition}: what {after} labels otherwise than {before} ({found.changed.height:,} items).",
    )
    await leave_table(
        "figures",
        figure_rows(leading_figures(found), before, after),
        f"{edition}, in percent: the figures of both judges; the last columns are those of "
        f"{before} with the verdicts of {after} wherever it has judged.",
    )
    await leave_leaderboard(store, edition, (before, after))


async def _begun(store: Warehouse, edition: str, judge: str, folder: Path) -> Begun:
    """The edition as it was before the judge began: published, or kept by a run that was ended."""
    if kept := begun_before(folder, edition, judge):
        remark(f"Compared with {folder / BEFORE}, where an earlier run began that was ended.")
        return kept
    check_current(store, edition)
    begin_anew(folder)
    await written(store, edition, folder / BEFORE)
    figures = board_of(store, edition).to_dicts()
    begun = Begun(edition=edition, judge=judge, figures=figures)
    keep_begun(folder, begun)
    return begun


async def _published(store: Warehouse, before: Begun, folder: Path, *, complete: bool) -> None:
    """Publish again, and keep what differs beside both sites."""
    edition = before.edition
    await written(store, edition, folder / AFTER)
    files, n_files = file_changes(folder / BEFORE, folder / AFTER)
    changes = SiteChanges(
        figures=figure_changes(before.board, board_of(store, edition)),
        files=files,
        n_files=n_files,
        complete=complete,
    )
    keep_changes(folder, changes)
    await leave_table(
        "changed-figures",
        figure_change_rows(changes.figures),
        f"{edition}: figures of the leaderboard that are others than before, in percent.",
    )
    rows = [{"file": file.path, "change": file.change} for file in files[:100]]
    text = f"{len(files):,} of {n_files:,} files differ.\n\n{markdown_table(rows)}"
    await leave_text("changed-pages", text, f"{edition}: what differs between both sites.")


def _message(found: Rejudged, state: State[None]) -> str:
    said = agreement_message(found)
    return said if state.name == "Completed" else f"{said} {state.message}"
