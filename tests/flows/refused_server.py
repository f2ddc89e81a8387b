"""Commands that would start a Prefect server, told from those that have nothing to do, and what
makes something be pending."""

from pathlib import Path

import pytest

from tasks.errors import ExpectedError
from tasks.warehouse.pages import Fetch
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change

STARTED = "a Prefect server is to be started"


@pytest.fixture(autouse=True)
def refused_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that asks for a server ends at once, and says `STARTED`."""

    def refuse(port: int = 0, flow: str | None = None) -> None:
        raise ExpectedError(STARTED)

    monkeypatch.setattr("flows.run.start_server", refuse)


def change(path: Path, sql: str) -> None:
    """Change the warehouse, and export it: only what a stage has to do is pending then."""
    with open_warehouse(path) as store:
        store._connection.execute(sql)
        export_edition(store, "sample")


def fetch_a_page(path: Path) -> None:
    """One that nobody cites, so that no verdict rests on it."""
    url = "https://example.org/lux"
    fetched = Fetch(edition="sample", url=url, source="direct", asked_url=url, outcome="fetched")
    with open_warehouse(path) as store:
        store.write(Change(Fetch, [fetched]))
        export_edition(store, "sample")
