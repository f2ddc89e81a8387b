"""Judge reports again with another judge; show the two judges' agreement and what changes."""

from pathlib import Path

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
from flows.runtime.warehouse import warehouse_flow
from tasks.analysis.judges import JudgeComparison, compare_judges, select_reports
from tasks.judges.registry import OFFLINE
from tasks.judging.session import check_judges
from tasks.outcome import Outcome
from tasks.planning.options import EvaluateOptions, RejudgeOptions
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
from tasks.run import RunContext
from tasks.scoring.current import check_current
from tasks.scoring.pending import SCORER_VERSION
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse


@warehouse_flow(
    "rejudge", RejudgeOptions, "rejudge / {edition} / {judge}", lock="rejudging {edition}"
)
async def rejudge(run: RunContext, options: RejudgeOptions) -> Outcome:
    """Judge the same reports with another judge; compare verdicts and figures. The other judge's
    rows stay unchanged.

    Returns:
        `Completed`; `Cached` if nothing was pending; `Partial` when cells still are.
    """
    store, edition, judge, began = run.store, options.edition, options.judge, utc_now()
    check_judges([judge], options.budget_usd, batch=options.batch)
    to = Path(options.publish_to) if options.publish_to else None
    if to:
        check_changes_folder(to)
    selection, other = select_reports(
        store, edition, judge, options.against, options.agents, options.assignments,
        options.protocols,
    )  # fmt: skip
    before = _record_baseline(store, edition, judge, to) if to else None
    # Both judges must judge the same claims, so this one's model extracts none.
    outcome = (await evaluate.within(run, EvaluateOptions(
        edition=edition, protocols=[*selection.protocols], agents=options.agents, judge=judge,
        extractor=OFFLINE, batch=options.batch, assignments=options.assignments,
    ))).require()  # fmt: skip
    found = compare_judges(store, selection, other, judge)
    await _add_comparison_artifacts(store, edition, found)
    await add_costs_artifact(store, began, f"the judge {judge} calls no model")
    if to and before:
        await _publish_changes(store, before, to, complete=outcome.is_complete)
    rest = "" if outcome.is_complete else f" {outcome.message}"
    return Outcome(outcome.kind, format_agreement(found) + rest)


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
