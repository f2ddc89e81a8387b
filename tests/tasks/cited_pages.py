"""Editions that cite pages, for tests of fetching and reading them."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from tasks.extraction.urls import normalise_url
from tasks.warehouse.pages import Fetch, Page
from tasks.warehouse.rows import Citation, Edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.made_rows import a_row

EDITION, AGENT = "cited", "agent"


def key_of(address: str) -> str:
    key = normalise_url(address)
    assert key is not None
    return key


def cite(warehouse: Warehouse, by_agent: Mapping[str, Iterable[str]]) -> None:
    """Citations of addresses, one claim each."""
    rows = [
        a_row(
            Citation, edition=EDITION, agent=agent, assignment="An_article", number=number,
            url=key_of(address), raw_url=address,
        )
        for agent, addresses in by_agent.items()
        for number, address in enumerate(addresses)
    ]  # fmt: skip
    warehouse.write(
        Change(Edition, [Edition(edition=EDITION, source="made for tests")]),
        Change(Citation, rows),
    )


def a_page(url: str, **more: object) -> Page:
    return Page.model_validate({"edition": EDITION, "url": url, "status": "ok"} | more)


def a_fetch(url: str, **more: object) -> Fetch:
    given = {
        "edition": EDITION, "url": url, "source": "direct", "asked_url": url, "outcome": "fetched",
        "http_status": 200,
    }  # fmt: skip
    return Fetch.model_validate(given | more)


def pass_hours(warehouse: Warehouse, hours: float) -> None:
    """Let all that was fetched have been fetched earlier."""
    earlier = [
        row.model_copy(update={"fetched_at": row.fetched_at - timedelta(hours=hours)})
        for row in warehouse.rows(Fetch, "true")
    ]
    warehouse.write(Change(Fetch, earlier))
