"""What a run says while it fetches pages."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from tasks import pages


def test_it_is_said_once_what_is_waited_for_while_no_page_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "SILENT_SECONDS", 0)
    said: list[str] = []
    counted: list[int] = []
    run: Any = SimpleNamespace(on_message=said.append)

    async def fetch() -> None:
        async with pages.tell_waits(run, 3, 4, counted.append) as count:
            for _ in range(20):
                await asyncio.sleep(0)
            count(2)
            for _ in range(20):
                await asyncio.sleep(0)

    asyncio.run(fetch())
    assert counted == [2]
    assert said == [
        "Waiting for 3 pages: hosts that do not answer are asked up to 4 times.",
        "Waiting for 1 page: hosts that do not answer are asked up to 4 times.",
    ]
