"""Flows whose helpers' work is done in this process."""

from collections.abc import Iterator

import pytest

from tests.flows.plain_prefect import no_helpers


@pytest.fixture(scope="module", autouse=True)
def at_once() -> Iterator[None]:
    with no_helpers():
        yield
