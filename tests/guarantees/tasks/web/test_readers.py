"""Pages are read in helpers, each within its bounds.

That helpers have no keys, and end with whoever has them, is shown of all of them in
tests/tasks/processes and tests/guarantees/attacks/test_helpers.py.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from tasks.configuration.web import ReadingBounds
from tasks.warehouse.contents import PageStore
from tasks.warehouse.errors import DamagedWarehouse
from tasks.web.page import ReadPage
from tasks.web.readers import PageReaders, read_page
from tests.rigs.made_pdfs import made_pdfs
from tests.rigs.saved_pages import layouts, page

ResultT = TypeVar("ResultT")

GOOD = page(layouts()[0].content, content_type="text/html")
ENDLESS = page(b"<html>" + b"<div>" * 300_000, content_type="text/html")
"""Each element looks for an open one among all before it: minutes."""


@pytest.fixture(scope="module", autouse=True)
def helpers() -> None:
    """Those here are processes."""


def with_readers(use: Callable[[PageReaders], Awaitable[ResultT]], **bounds: float) -> ResultT:
    async def used() -> ResultT:
        async with PageReaders(ReadingBounds.model_validate({"workers": 1, **bounds})) as readers:
            return await use(readers)

    return asyncio.run(used())


def test_a_page_reads_in_a_helper_as_it_does_here() -> None:
    said = with_readers(lambda readers: readers.read(GOOD))
    assert said == read_page(GOOD, ReadingBounds())
    assert said.status == "ok"


def test_a_helper_fetches_the_bytes_itself(tmp_path: Path) -> None:
    with PageStore(tmp_path).create() as receiving:
        receiving.write(GOOD.content)
        sha = receiving.keep()
    without = GOOD.model_copy(update={"content": b""})
    said = with_readers(lambda readers: readers.read_stored(tmp_path, sha, without))
    assert said == read_page(GOOD, ReadingBounds())


def test_bytes_that_are_missing_are_the_warehouses_fault_not_the_pages(tmp_path: Path) -> None:
    with pytest.raises(DamagedWarehouse, match="missing"):
        with_readers(lambda readers: readers.read_stored(tmp_path, "0" * 64, GOOD))


def test_helpers_are_gone_when_the_readers_are_closed() -> None:
    before = {helper.pid for helper in helpers_of(os.getpid())}
    with_readers(lambda readers: readers.read(GOOD), workers=2)
    assert {helper.pid for helper in helpers_of(os.getpid())} <= before


def helpers_of(parent: int) -> list[psutil.Process]:
    children = psutil.Process(parent).children(recursive=True)
    return [child for child in children if "tasks.processes.helper" in " ".join(child.cmdline())]


def test_a_helper_that_is_killed_costs_no_other_page() -> None:
    async def killed(readers: PageReaders) -> list[ReadPage]:
        await readers.read(GOOD)
        reading = asyncio.ensure_future(readers.read(ENDLESS))
        await asyncio.sleep(0.5)
        for helper in helpers_of(os.getpid()):
            helper.kill()
        return [await reading, *await asyncio.gather(*(readers.read(GOOD) for _ in range(5)))]

    first, *others = with_readers(killed, seconds=30)
    assert first.status == "unreadable"
    assert "SIGKILL" in (first.error or "")
    assert [said.status for said in others] == ["ok"] * 5


def test_many_pages_wait_their_turn() -> None:
    pages = [page(made_pdfs()[0].content)] * 20 + [GOOD] * 40

    async def all_of_them(readers: PageReaders) -> list[ReadPage]:
        return await asyncio.gather(*(readers.read(material) for material in pages))

    said = with_readers(all_of_them, workers=2)
    assert [one.status for one in said] == ["ok"] * 60
    assert said[0].media_type == "application/pdf"


def test_a_page_that_computes_too_long_is_unreadable_and_the_next_one_is_read() -> None:
    async def both(readers: PageReaders) -> tuple[ReadPage, ReadPage]:
        await readers.read(GOOD)  # the helper has started
        return await readers.read(ENDLESS), await readers.read(GOOD)

    long, good = with_readers(both, seconds=1)
    assert (long.status, long.error) == ("unreadable", "reading it took more than 1 seconds")
    assert good.status == "ok"


def test_a_page_that_fills_the_memory_is_unreadable_and_the_next_one_is_read() -> None:
    large = page(b"<html><p>" + b"<i>x</i>" * 2_000_000, content_type="text/html")

    async def both(readers: PageReaders) -> tuple[ReadPage, ReadPage]:
        return await readers.read(large), await readers.read(GOOD)

    full, good = with_readers(both, megabytes=500, most_html_bytes=20_000_000, seconds=60)
    assert full.status == "unreadable"
    assert "memory" in (full.error or "")
    assert good.status == "ok"
