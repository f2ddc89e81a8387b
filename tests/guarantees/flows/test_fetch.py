"""Fetching what reports cite, over real sockets, through the flow and the commands."""

import json
from collections import Counter
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tasks.warehouse.pages import Fetch
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.changed_configs import change
from tests.flows.conftest import Evergreen
from tests.flows.fetched_runs import (
    AGENT,
    SENTENCES,
    PageServer,
    allowing,
    citing,
    fetch,
    page,
    serving_pages,
)
from tests.flows.llm_runs import evaluate, rows, value
from tests.servers.http import HTML, Request, Response, json_response
from tests.servers.serving import serving

PAGES = "SELECT split_part(url, '/', 4), status, source FROM pages WHERE url LIKE '%127.0.0.1%'"
CLAIM = SENTENCES["light"]


@pytest.fixture
def server() -> PageServer:
    return PageServer()


def test_every_cited_page_is_fetched_once_read_and_judged_by(
    small: Path, tmp_path: Path, server: PageServer
) -> None:
    with serving_pages(tmp_path, server) as address:
        path = citing(
            small,
            tmp_path,
            (CLAIM, f"{address}/light?utm_source=agent"),
            (SENTENCES["moved"], f"{address}/old"),
            ("The tower was painted red in that year.", f"{address}/light"),
            ("Its light was seen for fourteen miles.", f"{address}/gone"),
            ("The keepers were paid forty pounds a year.", f"{address}/wall"),
            ("The rock was surveyed from a boat in 1755.", f"{address}/inward"),
            ("The stump of the tower still stands today.", "http://10.0.0.1/x"),
        )
        first = fetch(path)
        assert first.name == "Completed", first.message
        assert value(path, "SELECT edition FROM fetched_editions") == "sample"
        assert {name: status for name, status, _ in rows(path, PAGES)} == {
            "light": "ok", "old": "ok", "gone": "unfetchable", "wall": "bot_wall",
            "inward": "refused",
        }  # fmt: skip
        assert rows(path, "SELECT status FROM pages WHERE url = 'https://10.0.0.1/x'") == [
            ("refused",)
        ]
        (led_to,) = rows(path, "SELECT final_url FROM pages WHERE url LIKE '%/old'")
        assert str(led_to[0]).endswith("/moved")
        asked = dict(server.asked)
        assert sum(asked.values()) == 6  # five pages and one redirect; the refused cost nothing
        second = fetch(path)
        assert (second.name, server.asked) == ("Cached", asked)
        assert evaluate(path, "offline", protocols=["wiki_fact"]).name == "Completed"
    found = "SELECT item, status || ' ' || coalesce(label, '') FROM verdicts "
    verdicts = dict(rows(path, f"{found}WHERE agent = '{AGENT}' AND step = 'citation'"))
    by_page = {item.rpartition("/")[2]: said for item, said in verdicts.items()}
    assert by_page["old"] == "ok support"
    assert {by_page[name] for name in ("gone", "wall", "inward", "x")} == {"unfetchable "}


def test_the_commands_show_and_export_what_is_archived(
    small: Path, tmp_path: Path, server: PageServer, evergreen: Evergreen
) -> None:
    with serving_pages(tmp_path, server) as address:
        missing = ("Its light was seen for fourteen miles.", f"{address}/gone")
        path = citing(small, tmp_path, (CLAIM, f"{address}/light"), missing)
        where = ("--edition", "sample", "--warehouse", path)
        code, said, remarks = evergreen("fetch", *where)
        assert code == 0, remarks
        assert "unfetchable" in said
        code, said, _ = evergreen("pages", "show", f"{address}/light#top", *where)
        assert code == 0
        assert CLAIM in said
        assert "direct" in said
        code, raw, _ = evergreen("pages", "show", f"{address}/light", "--raw", *where)
        assert (code, raw.startswith("<html")) == (0, True)
        gone = f"{address}/gone".replace("http:", "https:")  # the key of a page
        failed = f"Pages that failed: 1; `evergreen pages show {gone} "
        assert failed in " ".join(remarks.split()), "those of the published edition are its own"
        code, _, said = evergreen("pages", "show", "https://nowhere.org/x", *where)
        assert (code, "not in the archive" in said) == (1, True)
        code, said, _ = evergreen("pages", "counts", "--format", "json", *where)
        counted = {(row["status"], row["source"]): row["pages"] for row in json.loads(said)}
        assert counted["ok", "direct"] == 1
        assert counted["ok", "published"] > 1
        for name in ("all.warc.gz", "texts.jsonl.gz"):
            code, _, said = evergreen("pages", "export", "--output", tmp_path / name, *where)
            assert (code, (tmp_path / name).stat().st_size > 100) == (0, True), said
        code, _, said = evergreen("pages", "export", "--output", tmp_path / "all.zip", *where)
        assert (code, ".warc.gz" in said) == (2, True)


def test_a_host_that_does_not_answer_leaves_the_command_unfinished_with_its_name_and_a_time(
    small: Path, tmp_path: Path, server: PageServer, evergreen: Evergreen
) -> None:
    with serving(PageServer()) as nobody:
        pass  # nobody answers at this address any more
    with serving(server) as address, allowing(tmp_path, address, nobody):
        lost = ("Its light was seen for fourteen miles.", f"{nobody}/nobody")
        path = citing(small, tmp_path, (CLAIM, f"{address}/light"), lost)
        where = ("--edition", "sample", "--warehouse", path)
        for _ in range(2):  # and again before the second look is due
            code, _, said = evergreen("fetch", *where)
            told = " ".join(said.split())
            assert code == 1, said
            assert f"1 page of 1 host is open, not gone: {urlsplit(nobody).netloc}." in told
            assert "run the same command again after 20" in told
        code, said, _ = evergreen("status", "--format", "json", *where)
        pages = [row["pending"] for row in json.loads(said) if row["stage"] == "pages"]
        assert (code, pages) == (0, [1])
    assert rows(path, "SELECT outcome FROM fetches WHERE url LIKE '%nobody%'") == [("unreached",)]
    assert rows(path, "SELECT status FROM pages WHERE url LIKE '%nobody%'") == []


def test_a_host_that_is_busy_for_a_day_is_named_with_a_time_and_its_pages_end_after_it(
    small: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    asked: Counter[str] = Counter()

    def busy(request: Request) -> Response:
        asked[request.target] += 1
        return Response(429, b"later", HTML, (("Retry-After", "86400"),))

    with serving(busy) as host, allowing(tmp_path, host):
        cited = [(f"It was built in {n}.", f"{host}/{n}") for n in range(1700, 1716)]
        path = citing(small, tmp_path, *cited)
        where = ("--edition", "sample", "--warehouse", path)
        tomorrow = utc_now() + timedelta(days=1)
        code, _, said = evergreen("fetch", *where)
        assert code == 1
        assert "16 pages of 1 host are open, not gone" in " ".join(said.split())
        for command in (("fetch", *where), ("status", *where), ("doctor", *where)):
            _, *printed = evergreen(*command)
            told = " ".join(" ".join(printed).split())
            minutes = [tomorrow + timedelta(minutes=n) for n in (0, 1)]
            times = [f"again after {minute:%Y-%m-%d %H:%M} UTC" for minute in minutes]
            assert any(time in told for time in times), (command, told)
        assert sum(asked.values()) == len(asked) <= 8
        asked.clear()
        with open_warehouse(path) as warehouse:
            warehouse.write(Change(Fetch, [
                row.model_copy(update={"fetched_at": row.fetched_at - timedelta(hours=25)})
                for row in warehouse.rows(Fetch, "outcome = 'unreached'")
            ]))  # fmt: skip
        code, _, said = evergreen("fetch", *where)
        assert (code, asked) == (0, {f"/{n}": 1 for n in range(1700, 1716)}), said
        ended = "SELECT status, error, count(*) FROM pages WHERE url LIKE $$%/17__$$ GROUP BY ALL"
        assert rows(path, ended) == [("unfetchable", "host busy (HTTP 429)", 16)]
        assert evergreen("fetch", *where)[0] == 0
    assert sum(asked.values()) == 16


def test_pages_that_a_fallback_could_not_be_asked_for_are_open_not_gone(
    small: Path, tmp_path: Path, server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(PageServer()) as nobody:
        pass  # the archive of the web is away
    monkeypatch.setenv("EVERGREEN_WAYBACK_URL", f"{nobody}/available")
    with serving(server) as address, allowing(tmp_path, address, nobody):
        path = citing(small, tmp_path, (CLAIM, f"{address}/light"), ("It is red.", f"{address}/x"))
        for _ in range(2):
            state = fetch(path, fallbacks=["wayback"])
            assert state.name == "Partial"
            assert "1 page of 1 host is open, not gone" in state.message
            assert "the Wayback Machine: " in state.message
            assert rows(path, PAGES) == [("light", "ok", "direct")]
        assert fetch(path).name == "Completed"
        assert ("x", "unfetchable", "direct") in rows(path, PAGES)
    assert server.asked["/x"] == 1


class LostPages(PageServer):
    """As a proxy: a site that has no page any more, and an archive that has one of them."""

    def _page(self, request: Request) -> Response:
        address = request.query.get("url", "")
        is_there = "wikipedia" in address or address.endswith("/kept")
        if request.path == "/available":
            has = {"closest": {"available": True, "url": address}} if is_there else {}
            return json_response({"archived_snapshots": has})
        if request.path == "/cdx":
            head = request.query["fl"].split(",")
            return json_response([head, ["20200101000000", "200"]] if is_there else [])
        return page("Not found", "<p>There is no such page.</p>", 404)


def test_lost_addresses_are_looked_up_once_and_only_with_an_operator(
    small: Path, tmp_path: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, site = LostPages(), "http://93.184.216.34"
    lost = [("It is red.", f"{site}/invented"), ("It is old.", f"{site}/kept")]
    path = citing(small, tmp_path, *lost)
    where = ("--edition", "sample", "--warehouse", path)
    existed = "SELECT split_part(url, '/', 4), state FROM absent_pages ORDER BY ALL"
    with serving(server) as proxy, allowing(tmp_path) as configs:
        monkeypatch.setenv("HTTP_PROXY", proxy)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
        monkeypatch.delenv("EVERGREEN_OPERATOR", raising=False)
        change(configs / "web.yaml", lambda s: s.update(
            operator=None, allowed=s["allowed"] | {"environment_proxies": True},
            existence=s["existence"] | {"youngest_days": 0}, second_look_hours=1e-9,
            wayback=s["wayback"] | {"url": "http://93.184.216.35/available",
                                    "cdx_url": "http://93.184.216.35/cdx"},
        ))  # fmt: skip
        code, _, said = evergreen("fetch", *where)
        unasked = "2 cited addresses lead nowhere; whether they ever existed is not looked up"
        assert (code, unasked in " ".join(said.split())) == (0, True), said
        assert (rows(path, existed), server.asked.total()) == ([], 2)
        monkeypatch.setenv("EVERGREEN_OPERATOR", "tests@example.org")
        code, _, said = evergreen("fetch", *where)
        assert "never existed: 1; gone (an archive has it): 1" in " ".join(said.split()), said
        assert (code, rows(path, existed)) == (0, [("invented", "never_existed"), ("kept", "gone")])
        _, shown, _ = evergreen("pages", "show", f"{site}/invented", *where)
        assert "never_existed" in shown
        asked = dict(server.asked)
        code, _, said = evergreen("fetch", *where)
        assert (code, dict(server.asked)) == (0, asked)
        _, said, _ = evergreen("status", *where)
        assert "never existed: 1" in " ".join(said.split())


def test_texts_are_read_again_without_asking_anybody(
    small: Path, tmp_path: Path, server: PageServer, evergreen: Evergreen
) -> None:
    with serving_pages(tmp_path, server) as address:
        path = citing(small, tmp_path, (CLAIM, f"{address}/light"))
        assert fetch(path).name == "Completed"
        asked = dict(server.asked)
        before = rows(path, "SELECT url, text FROM pages WHERE source = 'direct'")
        code, _, said = evergreen("pages", "read", "--edition", "sample", "--warehouse", path)
        assert (code, "pages that were read again: 1." in said) == (0, True), said
        assert rows(path, "SELECT url, text FROM pages WHERE source = 'direct'") == before
    assert dict(server.asked) == asked
