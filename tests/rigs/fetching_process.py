"""Fetches an edition's cited pages in a process of its own, to be killed from outside."""

import asyncio
import multiprocessing
import os
from collections.abc import Mapping
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from tasks.archive.fetch import fetch_into, read_into
from tasks.configuration.web import load_web
from tasks.pending.pages import unfetched, unread
from tasks.warehouse.page_store import PageStore, pages_folder
from tasks.warehouse.store import open_warehouse
from tasks.web.fetching import fetching
from tasks.web.readers import PageReaders


def fetching_process(path: Path, edition: str, environment: Mapping[str, str]) -> ForkServerProcess:
    """A process that fetches and reads what is pending, started."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.rigs.fetching_process"])
    process = context.Process(target=_run, args=(path, edition, dict(environment)))
    process.start()
    return process


def _run(path: Path, edition: str, environment: Mapping[str, str]) -> None:
    os.environ.update(environment)
    asyncio.run(fetch(path, edition))


async def fetch(path: Path, edition: str) -> None:
    settings = load_web(Path(os.environ["EVERGREEN_CONFIGS"]))
    with open_warehouse(path) as warehouse:
        store = PageStore(pages_folder(path))
        store.sweep()
        async with fetching(settings, store, "direct") as fetcher:
            await fetch_into(warehouse, edition, fetcher, unfetched(warehouse, edition, "direct"))
        async with PageReaders(settings.reading) as readers:
            await read_into(warehouse, edition, readers, unread(warehouse, edition))
