"""A page is gone when its host says so, or when two looks hours apart find nobody there."""

import asyncio
import socket
from datetime import timedelta

import pytest

from tasks.archive.fetch import archive_pages, read_archived_pages
from tasks.archive.pending import describe_open_pages, find_pending_pages, find_unread_pages
from tasks.configuration.web import WebSettings, load_web
from tasks.judges.registry import load_judge
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.pages import Fetch, Page
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tasks.web.errors import NoNetwork
from tasks.web.fetcher import open_fetcher
from tasks.web.readers import PageReaders
from tests.servers.web_pages import KEEP, Asked, Steps, answer, serving_pages
from tests.servers.web_pages import Site as Pages
from tests.tasks.cited_pages import pass_hours
from tests.tasks.citing import EDITION, judge_all, write_edition
from tests.tasks.web.fetched import LOOPBACK, web_settings

TEXT = b"<title>Mill</title><p>The old mill stands by the river and was built in 1820.</p>" * 3


class Site:
    """Hosts of one server: `alive` answers, `dead` has no name until it is `back`."""

    def __init__(self) -> None:
        self.back = False
        self.network = True

    async def lookup(self, host: str, port: int) -> list[str]:
        if self.network and (host.startswith("alive") or self.back):
            return [LOOPBACK]
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")


def look(warehouse: Warehouse, settings: WebSettings, site: Site, *, again: bool = False) -> None:
    """Fetch and read what is pending, as the flow does."""
    folder = pages_folder(warehouse.location)
    wanted = find_pending_pages(warehouse, EDITION, "direct", again=again)

    async def run() -> None:
        async with open_fetcher(settings, PageStore(folder), "direct", site.lookup) as fetcher:
            await archive_pages(warehouse, EDITION, fetcher, wanted)
        async with PageReaders(load_web().reading) as readers:
            todo = find_unread_pages(warehouse, EDITION)
            await read_archived_pages(warehouse, EDITION, readers, todo)

    asyncio.run(run())


def cited(
    warehouse: Warehouse,
    server: Pages,
    claims: tuple[str, str] = ("old mill", "old mill"),
    *,
    without_alive: bool = False,
) -> tuple[str, str, WebSettings]:
    """Have a report's claims cite a page of either host; return both and the settings."""
    alive, dead = (f"http://{name}.example.org:{server.port}/" for name in ("alive", "dead"))
    pages = [(claims[0], [alive]), (claims[1], [dead])]
    write_edition(warehouse, {"a": pages[without_alive:]}, [])
    return alive, dead, web_settings([url[7:-1] for url in (alive, dead)])


def state(warehouse: Warehouse, url: str) -> tuple[str | None, str | None]:
    """The outcome of the page's fetch, and its status."""
    fetched = warehouse.rows(Fetch, "url = $1", [url])
    read = warehouse.rows(Page, "url = $1", [url])
    return (fetched[0].outcome if fetched else None, read[0].status if read else None)


def handler(asked: Asked) -> Steps:
    return [answer(TEXT, content_type="text/html"), KEEP]


def test_a_host_that_does_not_answer_is_open_until_a_second_look_hours_later(
    warehouse: Warehouse,
) -> None:
    site = Site()
    with serving_pages(handler) as server:
        alive, dead, settings = cited(warehouse, server)
        look(warehouse, settings, site)
        assert state(warehouse, alive) == ("fetched", "ok")
        assert state(warehouse, dead) == ("unreached", None)
        told = describe_open_pages(warehouse, EDITION)
        assert told is not None
        assert told.startswith(f"1 page of 1 host is open, not gone: {dead[7:-1]}. Hosts that did")

        asked = len(server.asked)
        look(warehouse, settings, site)
        assert len(server.asked) == asked, "it is not looked for again before it is due"
        pass_hours(warehouse, 5)
        look(warehouse, settings, site, again=True)
        assert state(warehouse, dead) == ("unreached", None), "five hours later is too early"

        pass_hours(warehouse, 1.5)
        look(warehouse, settings, site)
        assert state(warehouse, dead) == ("failed", "unfetchable")
        assert describe_open_pages(warehouse, EDITION) is None
        assert find_pending_pages(warehouse, EDITION, "direct") == []


def test_a_host_that_is_back_at_the_second_look_is_fetched(warehouse: Warehouse) -> None:
    site = Site()
    with serving_pages(handler) as server:
        _, dead, settings = cited(warehouse, server)
        look(warehouse, settings, site)
        pass_hours(warehouse, 7)
        site.back = True
        look(warehouse, settings, site)
        assert state(warehouse, dead) == ("fetched", "ok")


@pytest.mark.parametrize(
    ("status", "second", "ends"),
    [(429, "back", ("fetched", "ok")), (500, "still", ("fetched", "unfetchable")),
     (503, "away", ("failed", "unfetchable"))],
)  # fmt: skip
def test_a_busy_or_broken_host_gets_a_second_look_too(
    status: int, second: str, ends: tuple[str, str], warehouse: Warehouse
) -> None:
    site, now = Site(), {"dead": status}

    def handle(asked: Asked) -> Steps:
        status = now.get(asked.headers["host"].partition(".")[0], 200)
        return [answer(TEXT, status, content_type="text/html", retry_after="9999"), KEEP]

    with serving_pages(handle) as server:
        _, dead, settings = cited(warehouse, server)
        site.back = True
        look(warehouse, settings, site)
        assert state(warehouse, dead) == ("unreached", None)
        assert "1 page of 1 host is open, not gone" in str(describe_open_pages(warehouse, EDITION))
        pass_hours(warehouse, 7)
        site.back = second != "away"
        now["dead"] = 200 if second == "back" else status
        look(warehouse, settings, site)
    assert state(warehouse, dead) == ends
    assert describe_open_pages(warehouse, EDITION) is None


def test_a_page_that_its_host_does_not_have_is_gone_at_once(warehouse: Warehouse) -> None:
    site = Site()
    with serving_pages(lambda asked: [answer(TEXT, 404, content_type="text/html"), KEEP]) as server:
        page = f"http://alive.example.org:{server.port}/"
        write_edition(warehouse, {"a": [("old mill", [page])]}, [])
        look(warehouse, web_settings([page[7:-1]]), site)
    assert state(warehouse, page) == ("fetched", "unfetchable")


def test_a_poor_copy_of_a_fallback_does_not_settle_a_page_before_the_second_look(
    warehouse: Warehouse,
) -> None:
    site = Site()
    with serving_pages(handler) as server:
        _, dead, settings = cited(warehouse, server)
        look(warehouse, settings, site)
        sha = PageStore(pages_folder(warehouse.location)).put(b"<title>Nothing</title>")
        copy = Fetch(edition=EDITION, url=dead, source="wayback", asked_url=dead,
                     outcome="fetched", http_status=200, sha=sha)  # fmt: skip
        warehouse.write(Change(Fetch, [copy]))
        look(warehouse, settings, site)
        assert warehouse.rows(Page, "url = $1", [dead]) == []
        assert describe_open_pages(warehouse, EDITION) is not None
        pass_hours(warehouse, 7)
        look(warehouse, settings, site)
        [page] = warehouse.rows(Page, "url = $1", [dead])
        assert (page.status, page.source) == ("unfetchable", "direct")


def test_without_a_network_nothing_is_known_of_a_page_at_either_look(warehouse: Warehouse) -> None:
    site = Site()
    with serving_pages(handler) as server:
        _, dead, settings = cited(warehouse, server, without_alive=True)
        site.network = False
        for _ in range(2):
            with pytest.raises(NoNetwork):
                look(warehouse, settings, site)
            assert state(warehouse, dead) == (None, None)
        warehouse.write(
            Change(Fetch, [Fetch(edition=EDITION, url=dead, source="direct", asked_url=dead,
                                 outcome="unreached", fetched_at=utc_now() - timedelta(hours=9))])
        )  # fmt: skip
        with pytest.raises(NoNetwork):
            look(warehouse, settings, site)
        assert state(warehouse, dead) == ("unreached", None)


def test_an_open_page_is_no_score_and_makes_the_figure_provisional(warehouse: Warehouse) -> None:
    site = Site()
    with serving_pages(handler) as server:
        mill = "The old mill stands by the river and was built in 1820."
        *_, settings = cited(warehouse, server, (mill, "The miller lived there."))
        look(warehouse, settings, site)
        before = by_claim(warehouse)
        pass_hours(warehouse, 7)
        look(warehouse, settings, site)
        after = by_claim(warehouse)
    assert before == (1.0, 1, 1), "one supported claim, one open"
    assert after == (0.5, 2, 0), "two looks failed: it counts as not supported"


def by_claim(warehouse: Warehouse) -> tuple[float | None, int, int]:
    scores = judge_all(warehouse, load_judge("offline"))
    [score] = [score for score in scores if score.metric == "ref_acc_claims"]
    return score.value, score.n_items, score.n_open
