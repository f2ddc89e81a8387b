"""Import and evaluate a published edition, as `evergreen demo` does."""

import asyncio
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from prefect import task
from prefect.cache_policies import CacheKeyFnPolicy
from prefect.client.schemas.objects import State
from prefect.context import TaskRunContext
from prefect.states import Completed

from flows.evaluate import evaluate
from flows.runtime.artifacts import add_costs_artifact, add_leaderboard_artifacts
from flows.runtime.task_runs import check_completed
from flows.runtime.warehouse import warehouse_flow
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import find_packaged
from tasks.files.opening import OutsideFile, open_file
from tasks.imports.wlc import import_edition
from tasks.planning.options import BringInOptions, EvaluateOptions
from tasks.run import RunContext
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse

SAMPLE = "sample"
"""The edition that comes with Evergreen."""


@warehouse_flow("bring_in", BringInOptions, "bring in · {edition}")
async def bring_in(run: RunContext, options: BringInOptions) -> State[None]:
    """Import an edition and evaluate it; run it again whenever its folder has something new.

    Returns:
        The state of the evaluation: `Completed` or `Partial`.
    """
    store, edition, began = run.store, options.edition, utc_now()
    if options.source is None and edition != SAMPLE:
        raise ConfigurationError(
            f"`source` is missing: expected the folder of the edition {edition}. Only {SAMPLE!r} "
            "comes with Evergreen."
        )
    folder = Path(options.source) if options.source else find_packaged(SAMPLE)
    await import_published(store, str(folder), edition, sorted(options.agents or []))
    given = options.model_dump(include={"edition", "protocols", "agents", "judge"})
    state = await check_completed(await evaluate.within(run, EvaluateOptions(**given)))
    await add_leaderboard_artifacts(store, edition)
    await add_costs_artifact(store, began, "no model was called")
    # Returned unchanged, a subflow's state loses its name and message in its parent.
    return Completed(name=state.name, message=state.message)


def hash_files(folder: Path) -> str:
    """Return the sha-256 of the paths and contents of all files under `folder`; of links out of it
    the paths alone, since their content is not imported."""
    digest = sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        digest.update(str(path.relative_to(folder)).encode("utf-8", "surrogateescape") + b"\0")
        with suppress(OutsideFile), open_file(path, within=folder) as file:
            digest.update(file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _make_cache_key(context: TaskRunContext, parameters: dict[str, Any]) -> str:
    """Identify an import by its files and warehouse, so that Prefect shows `Cached`."""
    identity = parameters["warehouse"].id
    agents = " ".join(parameters["agents"])
    content = hash_files(Path(parameters["folder"]))
    return f"import {identity} {parameters['edition']} [{agents}] {content}"


@task(
    task_run_name="import · {edition}",
    cache_policy=CacheKeyFnPolicy(cache_key_fn=_make_cache_key),
    persist_result=True,
    retries=2,
    retry_delay_seconds=1,
)
async def import_published(
    warehouse: Warehouse, folder: str, edition: str, agents: list[str]
) -> dict[str, Any]:
    """Import a published edition; return the summary as a mapping, which can be cached."""
    summary = await asyncio.to_thread(import_edition, warehouse, Path(folder), edition, agents)
    return summary.model_dump()
