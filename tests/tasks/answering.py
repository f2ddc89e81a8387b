"""A Gemini that answers the judges of this process."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tasks.key_points import PendingKeyPoints, make_key_points
from tasks.warehouse.store import Warehouse
from tests.servers.gemini import GeminiServer
from tests.servers.serving import serving
from tests.tasks.runs import open_judge

JUDGE = "gemini-3.8-flash"


@contextmanager
def answering(**options: Any) -> Iterator[GeminiServer]:
    server = GeminiServer(**options)
    with serving(server) as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEMINI_API_KEY", "test-key")
        patch.setenv("GOOGLE_GEMINI_BASE_URL", address)
        yield server


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with answering() as model:
        yield model


def made(warehouse: Warehouse, items: list[PendingKeyPoints]) -> None:
    """Have key points made by this judge."""

    async def make() -> None:
        async with open_judge(warehouse, JUDGE) as session:
            for item in items:
                await make_key_points(warehouse, session, item)

    asyncio.run(make())
