"""A Gemini that answers the judges of this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.servers.gemini import GeminiServer
from tests.servers.serving import serving

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
