"""Stage reports: request them from agents one by one, or import published ones."""

import asyncio
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from prefect.cache_policies import CacheKeyFnPolicy
from prefect.context import TaskRunContext

from tasks.files.opening import OutsideFile, open_file
from tasks.imports.wlc import import_edition
from tasks.jobs.run import JobRunner
from tasks.pending.reports import PendingReport
from tasks.stage import stage_task
from tasks.warehouse.store import Warehouse


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


@stage_task(
    "import · {edition}",
    cache_policy=CacheKeyFnPolicy(cache_key_fn=_make_cache_key),
    persist_result=True,
)
async def import_published(
    warehouse: Warehouse, folder: str, edition: str, agents: list[str]
) -> dict[str, Any]:
    """Import a published edition; return the summary as a mapping, which can be cached."""
    summary = await asyncio.to_thread(import_edition, warehouse, Path(folder), edition, agents)
    return summary.model_dump()


@stage_task("report · {item.agent} · {item.title}", retries=0)
async def get_report(warehouse: Warehouse, item: PendingReport) -> None:
    """Get one report, continuing an earlier run's job if there is one. Prefect never retries it:
    only the job's row says what may be sent again."""
    runner = warehouse.context.get(JobRunner, item.edition, item.agent)
    await runner.get_report(item)
