"""Pages are read in helpers: each within its bounds, none of them outliving its parent."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from tasks.configuration.web import ReadingBounds
from tasks.warehouse.errors import DamagedWarehouse
from tasks.warehouse.page_store import PageStore
from tasks.web.readers import PageReaders
from tasks.web.reading import read_page
from tests.rigs.saved_pages import layouts, page

ResultT = TypeVar("ResultT")

GOOD = page(layouts()[0].content, content_type="text/html")
ENDLESS = page(b"<html>" + b"<div>" * 300_000, content_type="text/html")
"""Each element looks for an open one among all before it: minutes."""


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
    with PageStore(tmp_path).receive() as receiving:
        receiving.write(GOOD.content)
        sha = receiving.keep()
    without = GOOD.model_copy(update={"content": b""})
    said = with_readers(lambda readers: readers.read_stored(tmp_path, sha, without))
    assert said == read_page(GOOD, ReadingBounds())


def test_bytes_that_are_missing_are_the_warehouses_fault_not_the_pages(tmp_path: Path) -> None:
    with pytest.raises(DamagedWarehouse, match="missing"):
        with_readers(lambda readers: readers.read_stored(tmp_path, "0" * 64, GOOD))


def look_around() -> Any:
    return dict(os.environ)


def test_a_helper_knows_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JINA_API_KEY", "secret")
    seen: Any = with_readers(lambda readers: readers._bounded(look_around))
    assert "PATH" in seen
    assert "JINA_API_KEY" not in seen


def test_helpers_are_gone_when_the_readers_are_closed() -> None:
    before = {helper.pid for helper in _helpers_of(os.getpid())}
    with_readers(lambda readers: readers.read(GOOD), workers=2)
    assert {helper.pid for helper in _helpers_of(os.getpid())} <= before


def _helpers_of(parent: int) -> list[psutil.Process]:
    """Not those that multiprocessing has for itself."""
    children = psutil.Process(parent).children(recursive=True)
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
