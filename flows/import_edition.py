"""Import and evaluate a published edition, as `evergreen demo` does."""

import asyncio
from pathlib import Path

from flows.evaluate import evaluate
from flows.runtime.artifacts import add_costs_artifact, add_leaderboard_artifacts
from flows.runtime.warehouse import warehouse_flow
from flows.stages import run_function
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import find_packaged
from tasks.imports.wlc import import_edition
from tasks.outcome import Outcome
from tasks.planning.options import BringInOptions, EvaluateOptions
from tasks.run import RunContext
from tasks.warehouse.rows import utc_now

SAMPLE = "sample"
"""The edition that comes with Evergreen."""


@warehouse_flow("bring_in", BringInOptions, "bring in / {edition}")
async def bring_in(run: RunContext, options: BringInOptions) -> Outcome:
    """Import an edition and evaluate it; run it again whenever its folder has something new.

    Returns:
        The outcome of the evaluation; `Cached` if the folder had nothing new either.
    """
    store, edition, began = run.store, options.edition, utc_now()
    if options.source is None and edition != SAMPLE:
        raise ConfigurationError(
            f"`source` is missing: expected the folder of the edition {edition}. Only {SAMPLE!r} "
            "comes with Evergreen."
        )
    folder = Path(options.source) if options.source else find_packaged(SAMPLE)
    agents = sorted(options.agents or [])
    imported = await run_function(
        f"import / {edition}",
        lambda: asyncio.to_thread(import_edition, store, folder, edition, agents),
    )
    run.plan = run.plan.renew()
    given = options.model_dump(include={"edition", "protocols", "agents", "judge"})
    outcome = (await evaluate.within(run, EvaluateOptions(**given))).require()
    await add_leaderboard_artifacts(store, edition)
    await add_costs_artifact(store, began, "no model was called")
    kind = "done" if imported.new_reports and outcome.kind == "cached" else outcome.kind
    return Outcome(kind, outcome.message)
