"""Fetches an edition's cited pages in a process of its own, to be killed from outside."""

import asyncio
import multiprocessing
import os
from collections.abc import Mapping
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from tasks.archive.fetch import archive_pages, read_archived_pages
from tasks.configuration.web import load_web
from tasks.pending.pages import find_pending_pages, find_unread_pages
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.store import open_warehouse
from tasks.web.fetcher import open_fetcher
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
        store.remove_partial_files()
        async with open_fetcher(settings, store, "direct") as fetcher:
            await archive_pages(
                warehouse, edition, fetcher, find_pending_pages(warehouse, edition, "direct")
            )
        async with PageReaders(settings.reading) as readers:
            await read_archived_pages(
                warehouse, edition, readers, find_unread_pages(warehouse, edition)
            )
