"""In which batches pages are fetched, and what a run says meanwhile."""

import asyncio
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks import pages
from tasks.pages import BATCH_PAGES, split_by_host
from tasks.web.page import PageRequest


@given(st.lists(st.integers(1, 2 * BATCH_PAGES), max_size=12))
def test_a_batch_has_whole_hosts_and_no_more_pages_unless_one_host_has_them(
    sizes: list[int],
) -> None:
    wanted = [
        PageRequest(url=f"http://h{host}.example/{n}", addresses=(f"http://h{host}.example/{n}",))
        for host, size in enumerate(sizes)
        for n in range(size)
    ]
    batches = split_by_host(wanted)
    assert sorted(page.url for batch in batches for page in batch) == sorted(
        page.url for page in wanted
    )
    hosts = [{page.url.split("/")[2] for page in batch} for batch in batches]
    assert sum(map(len, hosts)) == len(sizes)
    assert all(
        len(batch) <= BATCH_PAGES or len(of) == 1 for batch, of in zip(batches, hosts, strict=True)
    )
    # No two neighbours would fit into one.
    assert all(len(a) + len(b) > BATCH_PAGES for a, b in pairwise(batches))


def test_it_is_said_once_what_is_waited_for_while_no_page_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "SILENT_SECONDS", 0)
    said: list[str] = []
    run: Any = SimpleNamespace(on_message=said.append)

    async def fetch() -> None:
        async with pages.tell_waits(run, 3, 4) as count:
            for _ in range(20):
                await asyncio.sleep(0)
            count(2)
            for _ in range(20):
                await asyncio.sleep(0)

    asyncio.run(fetch())
    assert said == [
        "Waiting for 3 pages: hosts that do not answer are asked up to 4 times.",
        "Waiting for 1 page: hosts that do not answer are asked up to 4 times.",
    ]
