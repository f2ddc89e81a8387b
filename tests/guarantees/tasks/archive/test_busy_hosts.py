"""Hosts and services that are busy for long: each page gets its second look, and then it ends."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tasks.archive.fetch import archive_pages, read_archived_pages, reopen_pages
from tasks.archive.pending import (
    describe_open_pages,
    describe_second_look,
    find_pending_pages,
    find_unread_pages,
)
from tasks.configuration.web import WaybackMachine, WebSettings, load_web
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.pages import Fetch, FetchSource, Page
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tasks.web.errors import FetchingStopped
from tasks.web.fetcher import open_fetcher
from tasks.web.readers import PageReaders
from tests.servers.web_pages import KEEP, Asked, Steps, answer, serving_pages
from tests.servers.web_pages import Site as Server
from tests.tasks.cited_pages import AGENT, EDITION, a_fetch, cite, pass_hours
from tests.tasks.web.fetched import loopback, web_settings

TEXT = b"<title>Mill</title><p>The old mill stands by the river and was built in 1820.</p>" * 3
DAY = "86400"


def run(
    warehouse: Warehouse, settings: WebSettings, *fallbacks: FetchSource, again: bool = False
) -> list[str]:
    """Fetch and read as the flow does, and return why sources were stopped."""
    folder = pages_folder(warehouse.location)
    stopped = []

    async def fetch(source: FetchSource) -> None:
        wanted = find_pending_pages(warehouse, EDITION, source, again=again)
        try:
            async with open_fetcher(settings, PageStore(folder), source, loopback) as fetcher:
                await archive_pages(warehouse, EDITION, fetcher, wanted)
        except FetchingStopped as error:
            stopped.append(str(error))
        async with PageReaders(load_web().reading) as readers:
            todo = find_unread_pages(warehouse, EDITION)
            await read_archived_pages(warehouse, EDITION, readers, todo)

    for source in ("direct", *fallbacks):
        asyncio.run(fetch(source))
    left = [
        page.url
        for source in fallbacks
        for page in find_pending_pages(warehouse, EDITION, source, early=True)
    ]
    asyncio.run(reopen_pages(warehouse, EDITION, left))
    return stopped


def statuses(warehouse: Warehouse) -> Counter[str]:
    return Counter(page.status for page in warehouse.rows(Page, "true"))


def cite_pages(
    warehouse: Warehouse, server: Server, count: int, names: Iterable[str] = ("busy",)
) -> WebSettings:
    """Have so many pages of each host cited."""
    hosts = [f"{name}.example.org:{server.port}" for name in names]
    cite(warehouse, {AGENT: [f"http://{host}/{n:02}" for host in hosts for n in range(count)]})
    archive = WaybackMachine(url=server.url("/available"), per_minute=100_000)
    return web_settings([*hosts, server.place], manners={"per_host": 2}, wayback=archive)


def busy(retry_after: str | None, status: int = 429) -> Callable[[Asked], Steps]:
    headers = {} if retry_after is None else {"retry_after": retry_after}
    return lambda asked: [answer(TEXT, status, content_type="text/html", **headers), KEEP]


def pages_asked(server: Server) -> Counter[str]:
    asked = Counter(request.path for request in server.asked)
    server.asked.clear()
    return asked


def test_all_pages_of_a_host_that_is_busy_for_a_day_settle_and_none_is_asked_for_too_early(
    warehouse: Warehouse,
) -> None:
    with serving_pages(busy(DAY)) as server:
        settings = cite_pages(warehouse, server, 16)
        [stopped] = run(warehouse, settings)
        assert "asks to wait 86,400 s (HTTP 429)" in stopped
        first = pages_asked(server)
        assert 1 <= len(first) <= 2
        assert set(first.values()) == {1}
        rows = warehouse.rows(Fetch, "true")
        assert Counter(row.outcome for row in rows) == {"unreached": 16}
        assert all("86,400 s" in str(row.error) for row in rows if row.url[-2:] not in str(first))
        assert statuses(warehouse) == {}
        tomorrow = datetime.now(UTC) + timedelta(hours=24)
        for hours in (0, 5, 18.5):
            pass_hours(warehouse, hours)
            tomorrow -= timedelta(hours=hours)
            assert run(warehouse, settings) == []
            run(warehouse, settings, again=True)
            assert pages_asked(server) == {}, f"asked {hours} h later"
            told = str(describe_open_pages(warehouse, EDITION))
            assert "16 pages of 1 host are open, not gone" in told
            assert any(f"{tomorrow + timedelta(minutes=n):%Y-%m-%d %H:%M}" in told for n in (0, 1))
        pass_hours(warehouse, 1)
        assert run(warehouse, settings) == []
        assert pages_asked(server) == {f"/{number:02}": 1 for number in range(16)}
        assert statuses(warehouse) == {"unfetchable": 16}
        assert {page.error for page in warehouse.rows(Page, "true")} == {"host busy (HTTP 429)"}
        assert describe_open_pages(warehouse, EDITION) is None
        assert describe_second_look(warehouse, EDITION) == ""
        assert run(warehouse, settings) == []
        assert pages_asked(server) == {}


def in_days(days: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(days=days), usegmt=True)


WAITS: list[tuple[str | int | None, float]] = [
    (DAY, 24), ("3600", 6), ("1" + "0" * 12, 48), ("9" * 400, 48), (1, 24),
    (9999, 48), (-1, 6), ("-86400", 6), ("soon", 6), ("", 6), (None, 6),
    ("30000.5", 8.4),
]  # fmt: skip
"""What hosts ask for in `Retry-After` (a number is a date in so many days), and after how many
hours they are looked at again."""
BUSY = {f"{status}-{n}": (*wait, status) for status in (429, 503) for n, wait in enumerate(WAITS)}
"""By the name of a host: what it asks for, when its second look is due, and its status."""


def test_whatever_hosts_say_their_pages_end_at_the_second_look(warehouse: Warehouse) -> None:
    def name_of(asked: Asked) -> str:
        return asked.headers["host"].partition(".")[0]

    def handle(asked: Asked) -> Steps:
        retry_after, _, status = BUSY[name_of(asked)]
        said = in_days(retry_after) if isinstance(retry_after, int) else retry_after
        return busy(said, status)(asked)

    def hosts_asked() -> Counter[str]:
        """How many pages of each host were asked for, whether once or again."""
        pages = {(name_of(request), request.path) for request in server.asked}
        server.asked.clear()
        return Counter(name for name, _ in pages)

    with serving_pages(handle) as server:
        settings = cite_pages(warehouse, server, 3, BUSY)
        run(warehouse, settings)
        outcomes = Counter(row.outcome for row in warehouse.rows(Fetch, "true"))
        assert outcomes == {"unreached": 3 * len(BUSY)}
        assert hosts_asked().keys() == BUSY.keys()
        passed = 0.0
        for due in sorted({hours for _, hours, _ in BUSY.values()}):
            pass_hours(warehouse, due - 0.1 - passed)
            run(warehouse, settings)
            assert hosts_asked() == {}, f"asked before {due} h"
            pass_hours(warehouse, 0.2)
            run(warehouse, settings)
            assert hosts_asked() == {
                name: 3 for name, (_, hours, _) in BUSY.items() if hours == due
            }
            passed = due + 0.1
    ends: dict[str, Counter[str | None]] = {name: Counter() for name in BUSY}
    for page in warehouse.rows(Page, "status = 'unfetchable'"):
        ends[page.url.removeprefix("https://").partition(".")[0]][page.error] += 1
    for name, (retry_after, _, status) in BUSY.items():
        is_busy = status == 429 or retry_after not in ("-86400", "soon", "", None)
        said = f"host busy (HTTP {status})" if is_busy else f"HTTP {status} (Mill)"
        assert ends[name] == {said: 3}


def test_a_busy_host_that_is_back_yields_its_pages_and_those_it_refuses_alone_end(
    warehouse: Warehouse,
) -> None:
    refused = {f"/{number:02}" for number in range(16)}

    def handle(asked: Asked) -> Steps:
        return (
            busy(DAY)(asked)
            if asked.path in refused
            else [answer(TEXT, content_type="text/html"), KEEP]
        )

    with serving_pages(handle) as server:
        settings = cite_pages(warehouse, server, 16)
        run(warehouse, settings)
        refused -= {f"/{number:02}" for number in range(3, 16)}
        pass_hours(warehouse, 25)
        run(warehouse, settings)
    assert statuses(warehouse) == {"ok": 13, "unfetchable": 3}


def test_a_host_that_another_edition_was_redirected_to_is_left_alone_for_as_long_as_it_asked(
    warehouse: Warehouse,
) -> None:
    with serving_pages(busy(DAY)) as server:
        settings = cite_pages(warehouse, server, 4)
        hops = [{"status": 302, "url": f"http://www.busy.example.org:{server.port}/x"}]
        before = a_fetch(
            "https://way.org/x", edition="another", outcome="unreached", http_status=429,
            redirects=json.dumps(hops), headers=json.dumps({"retry-after": DAY}),
            fetched_at=utc_now() - timedelta(hours=10),
        )  # fmt: skip
        warehouse.write(Change(Fetch, [before]))
        [stopped] = run(warehouse, settings)
        assert re.search(r"busy\.example\.org asks to wait 50,[34]", stopped)
        assert pages_asked(server) == {}
        pass_hours(warehouse, 13)
        run(warehouse, settings)
        assert pages_asked(server) == {}
        pass_hours(warehouse, 2)
        run(warehouse, settings)
        assert len(pages_asked(server)) == 4
    assert statuses(warehouse) == {"unfetchable": 4}


@pytest.mark.parametrize("status", [429, 503])
def test_a_robots_txt_that_is_busy_for_a_day_forbids_nothing_and_keeps_pages_open_for_a_look(
    warehouse: Warehouse, status: int
) -> None:
    with serving_pages(busy(DAY, status)) as server:
        settings = cite_pages(warehouse, server, 4)
        manners = settings.manners.model_copy(update={"robots": "obey"})
        settings = settings.model_copy(update={"manners": manners})
        for _ in range(2):
            run(warehouse, settings)
            assert Counter(r.outcome for r in warehouse.rows(Fetch, "true")) == {"unreached": 4}
            pass_hours(warehouse, 11)
        assert pages_asked(server) == {"/robots.txt": 1}
        pass_hours(warehouse, 3)
        run(warehouse, settings)
        assert pages_asked(server) == {"/robots.txt": 1}
    assert statuses(warehouse) == {"unfetchable": 4}
    [error] = {page.error for page in warehouse.rows(Page, "true")}
    assert str(error).startswith("host busy: busy.example.org asks to wait 86,400 s")


def test_pages_end_when_the_archive_that_should_have_them_is_busy_at_both_looks(
    warehouse: Warehouse,
) -> None:
    def handle(asked: Asked) -> Steps:
        return busy(DAY)(asked) if asked.path == "/available" else [answer(b"none", 404), KEEP]

    with serving_pages(handle) as server:
        settings = cite_pages(warehouse, server, 6)
        [stopped] = run(warehouse, settings, "wayback")
        assert "the Wayback Machine asks to wait 86,400 s" in stopped
        assert pages_asked(server).pop("/available") <= 2
        for hours in (0, 7, 16):
            pass_hours(warehouse, hours)
            assert run(warehouse, settings, "wayback") == []
            assert pages_asked(server) == {}
            assert "6 pages of 1 host are open" in str(describe_open_pages(warehouse, EDITION))
            assert statuses(warehouse) == {}
        pass_hours(warehouse, 2)
        assert run(warehouse, settings, "wayback") == []
        assert pages_asked(server)["/available"] <= 2
        assert statuses(warehouse) == {"unfetchable": 6}
        assert run(warehouse, settings, "wayback") == []
        assert pages_asked(server) == {}
        assert describe_open_pages(warehouse, EDITION) is None


def test_an_archive_with_a_limit_a_day_is_asked_until_all_pages_had_their_turn(
    warehouse: Warehouse,
) -> None:
    left = [0]

    def handle(asked: Asked) -> Steps:
        if asked.path != "/available":
            return [answer(b"none", 404), KEEP]
        left[0] -= 1
        return [answer(b"{}"), KEEP] if left[0] >= 0 else busy(DAY)(asked)

    with serving_pages(handle) as server:
        settings = cite_pages(warehouse, server, 9)
        for n in (7, 5, 3, 1):
            left[0] = 2
            run(warehouse, settings, "wayback")
            assert f"{n} page" in str(describe_open_pages(warehouse, EDITION))
            pass_hours(warehouse, 25)
        left[0] = 2
        run(warehouse, settings, "wayback")
        assert describe_open_pages(warehouse, EDITION) is None


def test_pages_that_wait_for_a_busy_archive_settle_in_a_run_without_it(
    warehouse: Warehouse,
) -> None:
    def handle(asked: Asked) -> Steps:
        return busy(DAY)(asked) if asked.path == "/available" else [answer(b"none", 404), KEEP]

    with serving_pages(handle) as server:
        settings = cite_pages(warehouse, server, 2)
        run(warehouse, settings, "wayback")
        run(warehouse, settings)
    assert statuses(warehouse) == {"unfetchable": 2}
    assert describe_open_pages(warehouse, EDITION) is None
