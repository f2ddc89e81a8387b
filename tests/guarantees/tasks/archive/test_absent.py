"""An address never existed when two looks hours apart found nothing and an archive that can be
believed has nothing: in every other case nobody is accused."""

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tasks.archive.absent import AbsenceLookup
from tasks.archive.lost_addresses import describe_absent, find_absent
from tasks.archive.pending import find_unread_pages
from tasks.configuration.web import load_web
from tasks.warehouse.jobs import Job, ReportFile
from tasks.warehouse.pages import AbsentPage, Fetch, FetchOutcome, SeedPage
from tasks.warehouse.rows import Citation, Report, utc_now
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tasks.web.errors import NoNetwork, ServiceUnusable
from tests.changed_configs import copy_configs
from tests.servers.web_pages import KEEP, Asked, Site, Steps, answer, serving_pages
from tests.tasks.cited_pages import AGENT, EDITION, a_fetch, a_page, key_of
from tests.tasks.made_rows import a_row

KNOWN, PUBLIC = "https://www.wikipedia.org/", "93.184.216.34"
LOST = "http://news.org/2024/a-fine-story"
NOW = utc_now().replace(microsecond=0)
KEY = "AIza" + "Sy5xQ7bT9kLm2vWc4RfN8pZa1HdG6jUe3Yq"
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
Capture = tuple[str, str]


class Web:
    """What this machine gets of the web, through a proxy: sites without a page, and an archive."""

    def __init__(self) -> None:
        self.site: Callable[[Asked], Steps] = lambda asked: [answer(b"no such page", 404), KEEP]
        self.snapshots = {KNOWN}
        """What the availability API has."""
        self.captures: dict[str, list[Capture]] = {KNOWN: [("20200101000000", "200")]}
        """What the CDX server has, by address or host."""
        self.broken_about: dict[str, dict[str, bytes]] = {}
        """By address, what the archive's services answer instead, by their hosts."""
        self.snapshot_status = "200"
        self.forgets_after = 1_000
        """Questions after which the archive says that it has nothing."""
        self.nameless: set[str] = set()
        """Hosts that do not exist."""
        self.network = True
        self.asked: list[tuple[str, str]] = []
        """Host and address of what the archive's services were asked about."""

    async def lookup(self, host: str, port: int) -> list[str]:
        if not self.network:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        if host in self.nameless:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [PUBLIC]

    def __call__(self, asked: Asked) -> Steps:
        host = urlsplit(asked.target).hostname or ""
        if not host.endswith("archive.org"):
            return self.site(asked)
        query = {name: value[0] for name, value in parse_qs(urlsplit(asked.target).query).items()}
        self.asked.append((host, query["url"]))
        if said := self.broken_about.get(query["url"], {}).get(host):
            return [said, KEEP]
        knows = len(self.asked) <= self.forgets_after
        if host == "archive.org":
            has = {"closest": {"available": True, "url": f"http://web.archive.org/web/2/{LOST}",
                               "status": self.snapshot_status}}  # fmt: skip
            snapshots = has if knows and query["url"] in self.snapshots else {}
            return [answer(json.dumps({"archived_snapshots": snapshots}).encode()), KEEP]
        rows = self.captures.get(query["url"], []) if knows else []
        return [answer(json.dumps([query["fl"].split(","), *rows] if rows else []).encode()), KEEP]

    def asked_about(self) -> list[str]:
        """Without the known address."""
        return sorted({address for _, address in self.asked} - {KNOWN})


class Scene:
    """A warehouse with cited addresses that led nowhere at a first look, and the web."""

    def __init__(self, warehouse: Warehouse, web: Web, proxy: Site) -> None:
        self.warehouse, self.web, self.proxy = warehouse, web, proxy

    def cite(
        self, address: str, text: str = "It says so ({}).", *, days: float = 40,
        agent: str = AGENT, **fetched: Any,
    ) -> None:  # fmt: skip
        """A report has the address, which was not found so many days ago."""
        number = self.warehouse.value("SELECT count(*) FROM citations")
        named = {"edition": EDITION, "agent": agent, "assignment": f"Article_{number}"}
        key, at = key_of(address), NOW - days * DAY
        given = {
            "asked_url": address,
            "final_url": address,
            "http_status": 404,
            "fetched_at": at,
        } | fetched
        page = a_page(key, status="unfetchable", source="direct", fetched_at=at)
        self.warehouse.write(
            Change(Report, [a_row(Report, **named, text=text.format(address))]),
            Change(Citation, [a_row(Citation, **named, number=0, url=key, raw_url=address)]),
            Change(Fetch, [a_fetch(key, **given)]),
            Change(type(page), [page]),
        )

    def cite_nameless(self, address: str, outcome: FetchOutcome = "failed") -> None:
        host = (urlsplit(address).hostname or "").encode("idna").decode()
        self.web.nameless.add(host)
        error = f"there is no host {host} (DNS)"
        self.cite(address, outcome=outcome, http_status=None, final_url=None, error=error)

    def look_up(self, after: timedelta = timedelta(0)) -> None:
        now = NOW + after
        todo = find_absent(self.warehouse, EDITION, now)
        lookup = AbsenceLookup(
            self.warehouse, EDITION, lookup=self.web.lookup, clock=lambda: now
        )  # fmt: skip
        asyncio.run(lookup.run(todo))
        assert find_absent(self.warehouse, EDITION, now) == [], "something is left"

    def state(self, address: str = LOST) -> tuple[str, str]:
        [row] = self.warehouse.rows(AbsentPage, "url = $1", [key_of(address)])
        return row.state, row.reason


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    web = Web()
    with serving_pages(web) as proxy, open_warehouse(tmp_path / "w.duckdb") as warehouse:
        monkeypatch.setenv("HTTP_PROXY", proxy.url())
        for name in ("http_proxy", "no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        configs = copy_configs(tmp_path, web=lambda s: s.update(
            operator="tests@example.org",
            allowed=s["allowed"] | {"environment_proxies": True, "hosts": ["mine.org"]},
            manners=s["manners"] | {"seconds_between": 0, "first_wait_seconds": 0.01, "tries": 2},
            wayback=s["wayback"] | {"per_minute": 60_000, "url": "http://archive.org/available",
                                    "cdx_url": "http://web.archive.org/cdx"},
            existence=s["existence"] | {"own_hosts": ["WWW.Ours.net:443"]},
        ))  # fmt: skip
        monkeypatch.setattr(load_web, "__defaults__", (configs,))
        yield Scene(warehouse, web, proxy)


def test_what_neither_two_looks_nor_the_archive_found_never_existed(scene: Scene) -> None:
    scene.cite(LOST)
    scene.look_up()
    assert scene.state()[0] == "never_existed"
    [row] = scene.warehouse.rows(AbsentPage, "true")
    evidence = json.loads(row.evidence)
    assert [look["status"] for look in evidence["looks"]] == [404, 404]
    assert evidence["address"] == LOST
    assert evidence["holdings"] == {"captures": []}
    assert evidence["known"] == KNOWN
    assert row.checked_at == NOW
    assert scene.web.asked_about() == [LOST]
    assert "never existed: 1; gone" in str(describe_absent(scene.warehouse, EDITION))
    asked = len(scene.web.asked)
    scene.look_up(90 * DAY)
    assert len(scene.web.asked) == asked, "nobody is asked twice"


def test_one_look_is_not_enough_and_the_second_comes_hours_later(scene: Scene) -> None:
    scene.cite(LOST, days=30 + 1 / 24)
    scene.warehouse.write(Change(Fetch, [
        row.model_copy(update={"fetched_at": NOW - 1 * HOUR})
        for row in scene.warehouse.rows(Fetch, "true")
    ]), Change(Job, [a_row(Job, edition=EDITION, agent=AGENT, assignment="Article_0",
                           finished_at=NOW - 31 * DAY)]))  # fmt: skip
    scene.look_up()
    assert scene.proxy.asked == []
    again = f"unknown: 1. Run `fetch` again after {NOW + 5 * HOUR:%Y-%m-%d %H:%M} UTC"
    assert again in str(describe_absent(scene.warehouse, EDITION))
    scene.look_up(4.9 * HOUR)
    assert scene.web.asked == []
    scene.look_up(5.1 * HOUR)
    assert scene.state()[0] == "never_existed"


def test_a_host_without_a_name_is_open_until_fetch_has_looked_twice(scene: Scene) -> None:
    scene.cite_nameless(LOST, "unreached")
    scene.look_up()
    assert scene.warehouse.rows(AbsentPage, "true") == []
    assert scene.web.asked == []
    scene.warehouse.write(Change(Fetch, [
        row.model_copy(update={"outcome": "failed", "fetched_at": NOW + 7 * HOUR})
        for row in scene.warehouse.rows(Fetch, "true")
    ]))  # fmt: skip
    scene.cite("http://up.org/a")  # something answers: the network is up
    scene.look_up(31 * DAY)
    assert scene.state()[0] == "never_existed"


@pytest.mark.parametrize(
    ("snapshots", "captures", "state"),
    [
        ({LOST}, [], "gone"),
        (set(), [("20240102030405", "200")], "gone"),
        (set(), [("20240102030405", "404"), ("20240202030405", "301")], "gone"),
        (set(), [("20240102030405", "404"), ("20240202030405", "-")], "unknown"),
    ],
)
def test_what_the_archive_has_existed(
    scene: Scene, snapshots: set[str], captures: list[Capture], state: str
) -> None:
    scene.cite(LOST)
    scene.web.snapshots |= snapshots
    scene.web.captures[LOST] = captures
    scene.look_up()
    assert scene.state()[0] == state
    asked = len(scene.web.asked)
    scene.look_up(90 * DAY)
    assert len(scene.web.asked) == asked


def test_a_snapshot_of_an_error_is_no_page(scene: Scene) -> None:
    scene.cite(LOST)
    scene.web.snapshots, scene.web.snapshot_status = {LOST}, "404"
    scene.look_up()
    assert scene.state() == ("unknown", "the archive has only errors of it")


def test_an_archive_that_forgets_in_the_midst_of_a_run_accuses_nobody_any_more(
    scene: Scene,
) -> None:
    first, second = "http://news.org/1", "http://news.org/2"
    for address in (first, second):
        scene.cite(address)
    scene.web.captures[second] = [("20200101000000", "200")]
    scene.web.forgets_after = 4  # two about the first, and two about the known one
    with pytest.raises(ServiceUnusable, match="what it lacks says nothing"):
        scene.look_up()
    assert (scene.state(first)[0], scene.state(second)[0]) == ("never_existed", "unknown")
    scene.web.forgets_after = 1_000
    scene.look_up(7 * HOUR)
    assert scene.state(second)[0] == "gone"


@pytest.mark.parametrize("lies", ["snapshots", "captures"])
def test_an_archive_that_does_not_find_what_it_has_is_not_believed(scene: Scene, lies: str) -> None:
    scene.cite(LOST)
    getattr(scene.web, lies).clear()
    for hours in (0, 1, 7):
        before = len(scene.web.asked)
        if hours == 1:  # it is left alone for some hours
            scene.look_up(hours * HOUR)
            assert len(scene.web.asked) == before
            continue
        with pytest.raises(ServiceUnusable, match="which it has, so what it lacks says nothing"):
            scene.look_up(hours * HOUR)
        assert scene.state()[0] == "unknown"
    scene.web.snapshots, scene.web.captures = Web().snapshots, Web().captures
    scene.look_up(14 * HOUR)
    assert scene.state()[0] == "never_existed"


@pytest.mark.parametrize("host", ["archive.org", "web.archive.org"])
@pytest.mark.parametrize(
    "said", [answer(b"", 500), answer(b"{}"), answer(b"<html>busy"), answer(b"", 403)]
)
def test_an_archive_that_gives_no_valid_answer_says_nothing(
    scene: Scene, host: str, said: bytes
) -> None:
    scene.cite(LOST)
    scene.cite("http://news.org/other")
    scene.web.broken_about[LOST] = {host: said}
    scene.look_up()
    assert scene.state()[0] == "unknown"
    assert scene.state("http://news.org/other")[0] == "never_existed"
    asked = len(scene.web.asked)
    scene.look_up(5 * HOUR)
    assert len(scene.web.asked) == asked, "it is asked again hours later"
    scene.web.broken_about.clear()
    scene.look_up(7 * HOUR)
    assert scene.state()[0] == "never_existed"


def test_an_archive_that_is_busy_is_left_alone_as_long_as_it_wants(scene: Scene) -> None:
    scene.cite(LOST)
    scene.cite("http://news.org/another")
    scene.web.broken_about[KNOWN] = {"archive.org": answer(b"", 429, retry_after="86400")}
    with pytest.raises(ServiceUnusable, match="asks to wait 86,400 s"):
        scene.look_up()
    scene.web.broken_about.clear()
    asked = len(scene.web.asked)
    assert asked == 3
    scene.look_up(23 * HOUR)
    assert len(scene.web.asked) == asked
    scene.look_up(25 * HOUR)
    assert {row.state for row in scene.warehouse.rows(AbsentPage, "true")} == {"never_existed"}


def test_a_host_never_existed_only_if_the_archive_has_nothing_of_it(scene: Scene) -> None:
    here, there = "http://made-up.org/a", "http://closed.org/a"
    scene.cite_nameless(here)
    scene.cite_nameless(there)
    scene.web.captures["closed.org"] = [("20100101000000", "200")]
    scene.cite(LOST)  # something answers: the network is up
    scene.look_up()
    assert scene.state(here)[0] == "never_existed"
    assert scene.state(there) == ("unknown", "the archive has other pages of its host")
    assert {"made-up.org", "closed.org"} < set(scene.web.asked_about())
    assert "news.org" not in scene.web.asked_about()


def test_a_host_of_other_letters_is_one_by_its_ascii_name(scene: Scene) -> None:
    scene.cite_nameless("http://bücher-und-mehr.de/a")
    scene.cite(LOST)  # something answers: the network is up
    scene.look_up()
    assert scene.state("http://bücher-und-mehr.de/a")[0] == "never_existed"
    ascii_host = "xn--bcher-und-mehr-gsb.de"
    assert set(scene.web.asked_about()) == {LOST, f"http://{ascii_host}/a", ascii_host}


def test_a_host_that_answers_exists_even_if_it_leads_to_one_without_a_name(scene: Scene) -> None:
    there = json.dumps([{"status": 301, "url": f"http://www.{LOST[7:]}"}])
    scene.cite(LOST, outcome="failed", http_status=None, redirects=there,
               error="there is no host www.news.org (DNS)")  # fmt: skip
    scene.look_up()
    assert scene.state() == ("unknown", "it exists: it redirects to another address")


def test_a_network_without_names_accuses_nobody(scene: Scene) -> None:
    scene.cite_nameless(LOST)
    scene.web.network = False
    with pytest.raises(NoNetwork):
        scene.look_up()
    assert scene.warehouse.rows(AbsentPage, "true") == []
    assert scene.web.asked == []


@pytest.mark.parametrize(
    ("status", "said"), [(200, "another look: HTTP 200"), (403, "another look: HTTP 403")]
)
def test_an_address_that_answers_at_the_second_look_is_read_again(
    scene: Scene, status: int, said: str
) -> None:
    scene.cite(LOST)
    scene.web.site = lambda asked: [answer(b"here it is", status), KEEP]
    scene.look_up()
    assert scene.state() == ("unknown", said)
    assert scene.web.asked == []
    assert [page.url for page in find_unread_pages(scene.warehouse, EDITION)] == [key_of(LOST)]


@pytest.mark.parametrize("between", [500, 200])
def test_looks_between_which_the_address_answered_do_not_count_together(
    scene: Scene, between: int
) -> None:
    scene.cite(LOST)
    scene.web.site = lambda asked: [answer(b"oh", between), KEEP]
    scene.look_up()
    scene.warehouse.write(Change(Fetch, [
        row.model_copy(update={"outcome": "fetched", "http_status": 404,
                               "fetched_at": NOW + 7 * HOUR})
        for row in scene.warehouse.rows(Fetch, "true")
    ]))  # fmt: skip
    scene.web.site = Web().site
    scene.look_up(7 * HOUR)
    assert scene.state()[0] == "unknown"
    assert scene.web.asked == []
    scene.look_up(31 * DAY)
    assert scene.state()[0] == "never_existed"


def test_an_address_that_leads_elsewhere_at_its_second_look_exists(scene: Scene) -> None:
    scene.cite(LOST)
    scene.web.site = lambda asked: [
        answer(b"no", 404) if asked.target.endswith("/none")
        else answer(b"", 301, location="http://news.org/none"), KEEP,
    ]  # fmt: skip
    scene.look_up()
    assert scene.state()[0] == "unknown"
    scene.look_up(40 * DAY)
    assert scene.state() == ("unknown", "it exists: it redirects to another address")
    assert scene.web.asked == []


def test_an_address_that_was_requested_in_another_form_is_looked_at_twice_as_it_is(
    scene: Scene,
) -> None:
    """`fetch` requests addresses without the slash at their end."""
    scene.cite(f"{LOST}/", asked_url=LOST)
    scene.look_up()
    assert [asked.target for asked in scene.proxy.asked] == [f"{LOST}/"]
    assert scene.state()[0] == "unknown"
    scene.look_up(5 * HOUR)
    assert len(scene.proxy.asked) == 1
    scene.look_up(7 * HOUR)
    assert scene.state()[0] == "never_existed"
    assert scene.web.asked_about() == [f"{LOST}/"]


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        ("HTTP://News.ORG/A%20fine#part", "http://news.org/A%20fine"),
        ("http://news.org/ä?q=ß", "http://news.org/%C3%A4?q=%C3%9F"),
        ("http://news.org/U.S.", "http://news.org/U.S."),
    ],
)
def test_an_address_is_looked_up_in_whatever_form_reports_have_it(
    scene: Scene, address: str, asked: str
) -> None:
    scene.cite(address, "[it]({})")
    scene.look_up()
    assert scene.state(address)[0] == "never_existed"
    assert scene.web.asked_about() == [asked]


TRIMMED = "a sign beside it was cut off"
WRAPPED = "a redirect or copy"


@pytest.mark.parametrize(
    ("address", "text", "fetched", "said"),
    [
        (LOST, "See {}.", {}, TRIMMED),
        (LOST, "See {}…", {}, TRIMMED),
        (LOST, "See [it]({0}) and {0}_", {}, None),
        (LOST, "See {}\nof-the-year and so on", {}, TRIMMED),
        (LOST, "[1] {}\n[2] http://b.org/2", {}, None),
        (LOST, "See doi:10.1/2", {}, TRIMMED),
        ("https://t.co/aBcDe", "({})", {}, WRAPPED),
        ("https://vertexaisearch.cloud.google.com/grounding-api-redirect/A", "({})", {}, WRAPPED),
        ("https://web.archive.org/web/2020/http://a.org/x", "({})", {}, WRAPPED),
        (LOST, "({})", {"redirects": '[{"status": 301, "url": "http://news.org/404"}]'},
         "it exists: it redirects"),
        (LOST, "({})", {"redirects": '[{"status": 301, "url": "https://www.news.org/2024/a-fine-story/"}]'},
         None),
    ],
)  # fmt: skip
def test_only_an_address_as_its_reports_have_it_is_looked_up(
    scene: Scene, address: str, text: str, fetched: dict[str, Any], said: str | None
) -> None:
    scene.cite(address, text, **fetched)
    scene.look_up()
    if said:
        state, reason = scene.state(address)
        assert (state, said in reason) == ("unknown", True), reason
    assert scene.web.asked_about() == ([] if said else [address])


def test_an_address_that_reports_write_in_several_ways_is_not_looked_up(scene: Scene) -> None:
    scene.cite(LOST)
    scene.cite(f"{LOST}#part")
    assert find_absent(scene.warehouse, EDITION, NOW)[0].objection is None
    scene.cite(f"{LOST}/", agent="another")
    scene.look_up()
    assert scene.state() == ("unknown", "reports write it in several ways")


@pytest.mark.parametrize(
    ("address", "text", "said"),
    [(f"{LOST}/", "({})", "reports write it in several ways"), (LOST, "See {}.", TRIMMED)],
)
def test_a_later_report_is_not_accused_of_what_another_one_has(
    scene: Scene, address: str, text: str, said: str
) -> None:
    scene.cite(LOST)
    scene.look_up()
    scene.cite(address, text, agent="another", asked_url=LOST)
    scene.look_up()
    state, reason = scene.state()
    assert (state, said in reason) == ("unknown", True), reason


def test_an_address_that_is_not_found_once_more_is_not_asked_about_once_more(scene: Scene) -> None:
    scene.cite(LOST)
    scene.look_up()
    asked = len(scene.web.asked)
    again = [row.model_copy(update={"fetched_at": NOW + DAY})
             for row in scene.warehouse.rows(Fetch, "true")]  # fmt: skip
    scene.warehouse.write(Change(Fetch, again))
    for days in (1, 2, 40):
        scene.look_up(days * DAY)
        assert (scene.state()[0], len(scene.web.asked)) == ("never_existed", asked)


def test_a_later_report_that_is_young_reopens_the_question(scene: Scene) -> None:
    scene.cite(LOST)
    scene.look_up()
    asked = len(scene.web.asked)
    scene.cite(LOST, agent="another")
    job = a_row(Job, edition=EDITION, agent="another", assignment="Article_1", finished_at=NOW)
    scene.warehouse.write(Change(Job, [job]))
    scene.look_up(DAY)
    assert scene.state()[0] == "unknown"
    assert len(scene.web.asked) == asked
    scene.look_up(31 * DAY)
    assert scene.state()[0] == "never_existed"


def test_what_was_read_from_a_pdf_may_be_broken_by_its_lines(scene: Scene) -> None:
    scene.cite(LOST)
    file = a_row(ReportFile, edition=EDITION, agent=AGENT, assignment="Article_0", name="r.pdf",
                 media_type="application/pdf", sha="0" * 64, n_bytes=1, reader="r")  # fmt: skip
    scene.warehouse.write(Change(ReportFile, [file]))
    scene.look_up()
    assert TRIMMED in scene.state()[1]


def test_tracking_does_not_hide_what_the_archive_has(scene: Scene) -> None:
    tracked = f"{LOST}?utm_source=agent"
    scene.cite(tracked)
    scene.web.captures[key_of(LOST)] = [("20240101000000", "200")]
    scene.look_up()
    assert scene.state(tracked)[0] == "gone"


def test_a_young_report_waits_until_archives_may_know_what_it_cites(scene: Scene) -> None:
    scene.cite(LOST, days=20)
    scene.look_up()
    assert scene.proxy.asked == []
    scene.look_up(10.1 * DAY)
    assert scene.state()[0] == "never_existed"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://mine.org/secret", "mine.org is a host of one's own"),
        ("http://www.mine.org/secret", "www.mine.org is a host of one's own"),
        ("http://docs.ours.net/secret", "docs.ours.net is a host of one's own"),
        ("http://sandbox.org/page", "sandbox.org is a host of one's own"),
        ("http://10.1.2.3/secret", "10.1.2.3 is a private address"),
        ("http://wiki.corp/secret", "no name on the public Internet"),
        ("http://news.org:8080/secret", "on port 8080"),
        ("http://me:pass@news.org/secret", "carries a key or a password"),
        (f"http://news.org/?key={KEY}", "carries a key or a password"),
    ],
)
def test_no_address_that_is_ones_own_is_named_to_the_archive(
    scene: Scene, address: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGREEN_SANDBOX", "http://sandbox.org:8000")
    scene.cite(address)
    scene.look_up()
    state, reason = scene.state(address)
    assert (state, said in reason) == ("unknown", True), reason
    assert scene.proxy.asked == []


def test_pages_that_are_withheld_are_not_named_to_the_archive(scene: Scene) -> None:
    scene.cite(LOST)
    seed = SeedPage(edition=EDITION, agent=AGENT, url=key_of(LOST), raw_url=LOST)
    scene.warehouse.write(Change(SeedPage, [seed]))
    scene.look_up()
    assert scene.web.asked == []
    assert scene.warehouse.rows(AbsentPage, "true") == []


def test_without_an_operator_nothing_is_looked_up_and_it_is_said(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.cite(LOST)
    configs = copy_configs(tmp_path / "other", web=lambda s: s.update(operator=None))
    monkeypatch.setattr(load_web, "__defaults__", (configs,))
    monkeypatch.delenv("EVERGREEN_OPERATOR", raising=False)
    assert find_absent(scene.warehouse, EDITION) == []
    assert describe_absent(scene.warehouse, EDITION) == (
        "1 cited address leads nowhere; whether they ever existed is not looked up, because no "
        "operator is named (EVERGREEN_OPERATOR, or `operator` in configs/web.yaml)."
    )


class Killed(BaseException):
    """A process that ends at once."""


@pytest.mark.parametrize("committed", [False, True])
def test_a_killed_run_goes_on_without_asking_twice_about_what_was_kept(
    scene: Scene, committed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        scene.cite(f"http://news.org/{number}")
    write, left = Warehouse.write_async, [3]

    async def kill(self: Warehouse, *changes: Change) -> None:
        rows = [row for change in changes for row in change.rows]
        left[0] -= any(isinstance(row, AbsentPage) and row.state != "unknown" for row in rows)
        if left[0] or committed:
            await write(self, *changes)
        if not left[0]:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Warehouse, "write_async", kill)
        with pytest.raises(Killed):
            scene.look_up()
    decided = {row.url for row in scene.warehouse.rows(AbsentPage, "state = 'never_existed'")}
    assert len(decided) == 2 + committed
    before = len(scene.web.asked)
    looked = len(scene.proxy.asked) - before
    scene.look_up()
    assert {key_of(address) for _, address in scene.web.asked[before:]} & decided == set()
    assert len(scene.proxy.asked) - len(scene.web.asked) == looked, "no third look"
    assert scene.warehouse.value("SELECT count(*) FROM absent_pages WHERE state <> 'unknown'") == 4


def test_all_of_the_archive_counts_as_one_host_with_its_limit(scene: Scene) -> None:
    for number in range(3):
        scene.cite(f"http://news.org/{number}")
    scene.look_up()
    assert len({host for host, _ in scene.web.asked}) == 2
    assert scene.proxy.most_at_once == 1
