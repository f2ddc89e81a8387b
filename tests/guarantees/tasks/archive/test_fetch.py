"""What was had of a page is not lost by what comes later."""

import asyncio
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tasks.archive.fetch import LostBytes, archive_pages, read_archived_pages
from tasks.archive.pending import find_pending_pages, find_unread_pages
from tasks.configuration.web import ReadingBounds
from tasks.imports.wlc import import_edition, mark_walls
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.pages import Fetch, Page
from tasks.warehouse.rows import content_sha
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tasks.web.errors import HostsBusy, NoNetwork
from tasks.web.fetcher import open_fetcher
from tasks.web.readers import PageReaders
from tests.servers.web_pages import CUT, Asked, Site, Steps, answer, serving_pages
from tests.tasks.annotated import SAMPLE
from tests.tasks.cited_pages import AGENT, EDITION, a_fetch, a_page, cite
from tests.tasks.web.fetched import loopback, web_settings

ONE = "https://a.org/one"
ARTICLE = "https://en.wikipedia.org/wiki/Eddystone_Lighthouse"
LATE = datetime(2026, 11, 2, tzinfo=UTC)
WALL = "Checking your browser before accessing the site. Enable JavaScript and cookies."
GOOD = "The bridge of Tolvane was opened in 1931 by the mayor of the town. " * 20


def a_text(text: str, **more: object) -> Page:
    given = {"source": "published", "text": text, "text_sha": content_sha(text)}
    return a_page(ONE, **(given | more))


def kept(warehouse: Warehouse, content: bytes) -> str:
    with PageStore(pages_folder(warehouse.location)).create() as page:
        page.write(content)
        return page.keep()


def read(warehouse: Warehouse, *, again: bool = False) -> None:
    async def run() -> None:
        async with PageReaders(ReadingBounds(workers=1)) as readers:
            await read_archived_pages(
                warehouse, EDITION, readers, find_unread_pages(warehouse, EDITION, again=again)
            )

    asyncio.run(run())


def fetch(warehouse: Warehouse, site: Site, *, again: bool = False) -> None:
    async def run() -> None:
        store = PageStore(pages_folder(warehouse.location))
        async with open_fetcher(web_settings([site.place]), store, "direct", loopback) as fetcher:
            wanted = find_pending_pages(warehouse, EDITION, "direct", again=again)
            await archive_pages(warehouse, EDITION, fetcher, wanted)

    asyncio.run(run())


def the_page(warehouse: Warehouse) -> Page:
    [page] = warehouse.rows(Page, "true")
    return page


def test_a_good_published_text_stays_when_all_pages_are_read_again(tmp_path: Path) -> None:
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        in_vain = a_fetch(ONE, outcome="failed", http_status=None, error="no answer")
        warehouse.write(Change(Fetch, [in_vain]), Change(Page, [a_text(GOOD)]))
        read(warehouse, again=True)
        assert the_page(warehouse).text == GOOD


def test_a_published_wall_stays_readable_when_the_page_is_asked_for_in_vain(tmp_path: Path) -> None:
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        in_vain = a_fetch(ONE, outcome="failed", http_status=None, fetched_at=LATE)
        warehouse.write(Change(Page, [a_text(WALL, title="Just a moment...")]))
        mark_walls(warehouse, EDITION)
        warehouse.write(Change(Fetch, [in_vain]))
        read(warehouse)
        page = the_page(warehouse)
        assert (page.status, page.text, page.source) == ("bot_wall", WALL, "published")
        assert find_unread_pages(warehouse, EDITION) == []


def test_where_redirects_led_is_known_also_when_the_text_came_in_another_way(
    tmp_path: Path,
) -> None:
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        refused = kept(warehouse, b"<title>Just a moment...</title>Checking your browser.")
        snapshot = kept(warehouse, f"<title>One</title><p>{GOOD}".encode())
        hops = json.dumps([{"status": 301, "url": ARTICLE}])
        warehouse.write(
            Change(Fetch, [
                a_fetch(ONE, sha=refused, http_status=403, final_url=ARTICLE, redirects=hops),
                a_fetch(ONE, source="wayback", sha=snapshot, final_url=f"https://w.org/id_/{ONE}",
                        headers=json.dumps({"content-type": "text/html"})),
            ])
        )  # fmt: skip
        read(warehouse)
        page = the_page(warehouse)
        assert (page.status, page.source, page.final_url) == ("ok", "wayback", ARTICLE)


def test_a_page_whose_bytes_are_lost_keeps_no_other_from_being_read(tmp_path: Path) -> None:
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        shas = [kept(warehouse, f"{number}. {GOOD}".encode()) for number in range(30)]
        fetches = [
            a_fetch(f"https://a.org/{number:02}", sha=sha, headers='{"content-type": "text/plain"}')
            for number, sha in enumerate(shas)
        ]
        warehouse.write(Change(Fetch, fetches))
        PageStore(pages_folder(warehouse.location)).path(shas[3]).unlink()
        with pytest.raises(LostBytes, match=r"The bytes of 1 pages are lost; the first: .*missing"):
            read(warehouse)
        assert len(warehouse.rows(Page, "status = 'ok'")) == 29
        assert [page.url for page in find_unread_pages(warehouse, EDITION)] == ["https://a.org/03"]


def test_what_came_once_stays_when_it_is_asked_for_again_in_vain(tmp_path: Path) -> None:
    image = b"\x89PNG\r\n\x1a\n a scan"

    def handler(asked: Asked) -> Steps:
        return [answer(image, content_type="image/png") if len(site.asked) == 1 else CUT]

    with open_warehouse(tmp_path / "w.duckdb") as warehouse, serving_pages(handler) as site:
        cite(warehouse, {AGENT: [site.url("/scan")]})
        fetch(warehouse, site)
        before = warehouse.rows(Fetch, "true")
        read(warehouse)
        assert the_page(warehouse).status == "unreadable"
        with pytest.raises(NoNetwork):  # the only host that is known does not answer any more
            fetch(warehouse, site, again=True)
        assert len(site.asked) > 1
        assert warehouse.rows(Fetch, "true") == before


def test_pages_of_a_host_that_wants_to_be_asked_later_are_open_and_not_asked_for_before(
    tmp_path: Path,
) -> None:
    def handler(asked: Asked) -> Steps:
        first = len(site.asked) == 1
        return [answer(b"no", 429, retry_after="3600") if first else answer(b"page")]

    with open_warehouse(tmp_path / "w.duckdb") as warehouse, serving_pages(handler) as site:
        cite(warehouse, {AGENT: [site.url(f"/{number}") for number in range(6)]})
        with pytest.raises(HostsBusy):
            fetch(warehouse, site)
        assert find_pending_pages(warehouse, EDITION, "direct") == []
        n_asked = len(site.asked)
        assert n_asked < 6
        outcomes = [row.outcome for row in warehouse.rows(Fetch, "true")]
        assert sorted(outcomes) == ["fetched"] * (n_asked - 1) + ["unreached"] * (7 - n_asked)
        with pytest.raises(HostsBusy):
            fetch(warehouse, site, again=True)


def test_a_wall_stays_one_when_its_edition_is_imported_again_with_another_copy_of_it(
    tmp_path: Path,
) -> None:
    file = "test_data/sample_scholar/json_data/Mercury_(planet).json"
    folder = Path(shutil.copytree(SAMPLE, tmp_path / "sample"))
    published = json.loads((folder / file).read_text("utf-8"))
    contents = published["query"]["pages"]["1"]["citation_contents"]
    for number, content in contents.items():
        content |= {"title": "Just a moment...", "content": f"{WALL}\n\nRay ID: {number * 30}"}
    (folder / file).write_text(json.dumps(published), "utf-8")
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        import_edition(warehouse, folder, EDITION, ["sample_scholar"])
        assert mark_walls(warehouse, EDITION) == len(contents) == 3
        good, *walls = warehouse.rows(Page, "status = 'ok'")[:1] + warehouse.rows(
            Page, "status = 'bot_wall'"
        )
        seen = [
            walls[0].model_copy(update={"text": f"{WALL}\n\nRay ID: other", "text_sha": "other"}),
            walls[1].model_copy(update={"status": "unfetchable", "source": "direct", "text": None}),
            good.model_copy(update={"status": "bot_wall", "text": WALL, "text_sha": "other"}),
        ]
        warehouse.write(Change(Page, seen))
        import_edition(warehouse, folder, EDITION, ["sample_scholar"])
        now = {page.url: page for page in warehouse.rows(Page, "true")}
        assert [now[page.url] for page in seen] == [*seen[:2], good]
