"""Stage reports: what the agents wrote, asked for one by one or imported as published."""

import asyncio
from hashlib import sha256
from pathlib import Path
from typing import Any

from prefect.cache_policies import CacheKeyFnPolicy
from prefect.context import TaskRunContext

from tasks.imports.wlc import import_edition
from tasks.jobs.sessions import asker
from tasks.pending.reports import Unreported
from tasks.stage import stage_task
from tasks.warehouse.store import get_open_warehouse


def files_sha(folder: Path) -> str:
    """Sha-256 over the paths and contents of every file under `folder`."""
    digest = sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        digest.update(str(path.relative_to(folder)).encode("utf-8", "surrogateescape") + b"\0")
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _import_key(context: TaskRunContext, parameters: dict[str, Any]) -> str:
    """The same files into the same warehouse are the same import: Prefect shows `Cached`."""
    identity = get_open_warehouse(parameters["warehouse_path"]).id
    agents = " ".join(parameters["agents"])
    content = files_sha(Path(parameters["folder"]))
    return f"import {identity} {parameters['edition']} [{agents}] {content}"


@stage_task(
    "import · {edition}",
    cache_policy=CacheKeyFnPolicy(cache_key_fn=_import_key),
    persist_result=True,
)
async def import_published(
    warehouse_path: str, folder: str, edition: str, agents: list[str]
) -> dict[str, Any]:
    """Import a published edition; the summary as a plain mapping, so that it can be cached."""
    warehouse = get_open_warehouse(warehouse_path)
    summary = await asyncio.to_thread(import_edition, warehouse, Path(folder), edition, agents)
    return summary.model_dump()


@stage_task("report · {item.agent} · {item.title}", retries=0)
async def get_report(warehouse_path: str, item: Unreported) -> None:
    """One report, asked or taken up where an earlier run left it. Never retried by Prefect: only
    the job's own row knows what may be sent again."""
    await asker(get_open_warehouse(warehouse_path), item.edition, item.agent).report(item)
