"""Judge reports again with another judge; show the two judges' agreement and what changes."""

from pathlib import Path

from prefect import tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.display.console import print_message
from flows.display.rejudge import (
    agreement_rows,
    changed_rows,
    figure_change_rows,
    figure_rows,
    format_agreement,
    select_leading_figures,
)
from flows.evaluate import evaluate
from flows.publish import run_site_task
from flows.runtime.artifacts import (
    add_costs_artifact,
    add_leaderboard_artifacts,
    add_table_artifact,
)
from flows.runtime.task_runs import complete_flow
from flows.runtime.warehouse import hold_warehouse, recorded_flow
from tasks.analysis.judges import JudgeComparison, compare_judges, select_reports
from tasks.costs.budget import open_budget
from tasks.judges.registry import OFFLINE
from tasks.judging.preconditions import check_judges
from tasks.planning.parameters import JudgeName, ProtocolName, Usd
from tasks.publishing.changes import (
    AFTER,
    FIGURES,
    BoardChanges,
    ComparisonStart,
    check_changes_folder,
    clear_comparison,
    compare_figures,
    load_figures,
    load_unfinished,
    save_changes,
    save_start,
)
from tasks.scoring.current import check_current
from tasks.scoring.pending import SCORER_VERSION
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse


@recorded_flow("rejudge", "rejudge · {edition} · {judge}")
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
    """Judge the same reports with another judge; compare verdicts and figures. The other judge's
    rows stay unchanged.

    Args:
        edition: its name in the warehouse.
        judge: the judge that judges again; cells it has judged already are not judged twice.
        against: the judge to compare with; unless given, the default one, or the only other that
            has judged the edition.
        agents: only their reports; all unless given.
        assignments: only the reports of these; all unless given.
        protocols: only these; unless given, all that the other judge has used on these reports.
        budget_usd: the most this run may spend on models; no limit unless given.
        batch: use the models' batch APIs: cheaper, within a day.
        publish_to: a folder for the site and for the figures that have changed. A run that
            resumes an interrupted one compares with the figures that that one started from.
        warehouse: a DuckDB file or a lake's address; waits while another process owns the file.

    Returns:
        `Completed`, or a completed state named `Partial` when cells are still pending.
    """
    check_judges([judge], budget_usd, batch=batch)
    to = Path(publish_to) if publish_to else None
    if to:
        check_changes_folder(to)
    with (
        await hold_warehouse(warehouse, f"rejudging {edition}") as store,
        open_budget(store, budget_usd),
        tags(f"edition:{edition}", f"judge:{judge}"),
    ):
        path, began = store.url, utc_now()
        selection, other = select_reports(
            store, edition, judge, against, agents, assignments, protocols
        )
        before = _record_baseline(store, edition, judge, to) if to else None
        # Both judges must judge the same claims, so this one's model extracts none.
        state = await complete_flow(evaluate(
            edition, list(selection.protocols), agents, judge, path, OFFLINE, batch=batch,
            assignments=assignments, return_state=True,
        ))  # fmt: skip
        found = compare_judges(store, selection, other, judge)
        await _add_comparison_artifacts(store, edition, found)
        await add_costs_artifact(store, began, f"the judge {judge} calls no model")
        if to and before:
            await _publish_changes(store, before, to, complete=state.name == "Completed")
    rest = "" if state.name == "Completed" else f" {state.message}"
    return Completed(name=state.name, message=format_agreement(found) + rest)


async def _add_comparison_artifacts(store: Warehouse, edition: str, found: JudgeComparison) -> None:
    """Add the comparison's tables in the Prefect UI."""
    before, after = found.before, found.after
    await add_table_artifact(
        "agreement",
        agreement_rows(found),
        f"{edition}: how far {before} and {after} agree on the items that both decided. Kappa: "
        "agreement beyond chance, -1 to 1.",
    )
    await add_table_artifact(
        "changed-verdicts",
        changed_rows(found.changed),
        f"{edition}: items that {after} labels differently than {before} "
        f"({found.changed.height:,}).",
    )
    await add_table_artifact(
        "figures",
        figure_rows(select_leading_figures(found), before, after),
        f"{edition}, in percent: the figures of both judges; the last columns are those of "
        f"{before} with the verdicts of {after} wherever it has judged.",
    )
    await add_leaderboard_artifacts(store, edition, (before, after))


def _record_baseline(store: Warehouse, edition: str, judge: str, folder: Path) -> ComparisonStart:
    """Save the figures as they are before judging, or load those of an interrupted run."""
    if kept := load_unfinished(folder, edition, judge):
        print_message(
            f"Comparing with {folder / FIGURES}, the start of an earlier, interrupted run."
        )
        return kept
    check_current(store, edition)
    clear_comparison(folder)
    figures = load_figures(store, edition).to_dicts()
    begun = ComparisonStart(
        edition=edition, judge=judge, scorer_version=SCORER_VERSION, figures=figures
    )
    save_start(folder, begun)
    return begun


async def _publish_changes(
    store: Warehouse, before: ComparisonStart, folder: Path, *, complete: bool
) -> None:
    """Publish the edition, and save what has changed beside its site."""
    edition = before.edition
    await run_site_task(store, edition, folder / AFTER)
    figures = compare_figures(before.board, load_figures(store, edition))
    changes = BoardChanges(figures=figures, complete=complete)
    save_changes(folder, changes)
    await add_table_artifact(
        "changed-figures",
        figure_change_rows(changes.figures),
        f"{edition}: figures of the leaderboard that have changed, in percent.",
    )
