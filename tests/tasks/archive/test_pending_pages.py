"""Which pages are still to be fetched, and which to be read."""

import json
from datetime import UTC, date, datetime, timedelta

import pytest

from tasks.archive.pending import (
    describe_second_look,
    find_busy_hosts,
    find_pending_pages,
    find_reachable_urls,
    find_second_looks,
    find_unread_pages,
)
from tasks.warehouse.pages import Fetch, Page
from tasks.warehouse.rows import Article, utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Collection
from tasks.warehouse.writer import Change
from tests.tasks.cited_pages import AGENT, EDITION, a_fetch, a_page, cite
from tests.tasks.made_rows import a_row

ONE, TWO = "https://a.org/one", "https://b.org/two"
EARLY, LATE = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 2, tzinfo=UTC)


def urls(warehouse: Warehouse, way: str = "direct", **more: object) -> list[str]:
    return [p.url for p in find_pending_pages(warehouse, EDITION, way, **more)]  # type: ignore[arg-type]


def test_a_page_that_several_agents_cite_is_wanted_once_as_most_write_it(
    warehouse: Warehouse,
) -> None:
    cite(warehouse, {
        "first": ["http://www.a.org/one?utm_source=x", TWO],
        "second": ["http://a.org/one", "http://a.org/one/"],
        "third": ["http://a.org/one"],
    })  # fmt: skip
    (one, two) = find_pending_pages(warehouse, EDITION, "direct")
    assert (one.url, two.url) == (ONE, TWO)
    assert one.addresses == ("http://a.org/one", "http://www.a.org/one?utm_source=x")
    assert urls(warehouse, agents=["second"]) == [ONE]


def test_what_is_there_or_was_tried_is_not_asked_for_again(warehouse: Warehouse) -> None:
    cite(warehouse, {AGENT: [ONE, TWO, "https://c.org/three", "https://d.org/four"]})
    warehouse.write(
        Change(Page, [
            a_page(ONE, source="published"),
            a_page(TWO, status="unfetchable", source="published"),
            a_page("https://c.org/three", status="soft_404", source="direct"),
        ]),
        Change(Fetch, [a_fetch("https://c.org/three")]),
    )  # fmt: skip
    assert urls(warehouse) == ["https://d.org/four"]
    left = [TWO, "https://c.org/three", "https://d.org/four"]
    assert urls(warehouse, again=True) == left


def test_other_ways_are_for_pages_that_came_to_nothing_and_may_be_named_to_others(
    warehouse: Warehouse,
) -> None:
    states = ["ok", "unfetchable", "refused", "robots", "bot_wall", "soft_404"]
    pages = [f"https://a.org/{state}" for state in states]
    cite(warehouse, {AGENT: [*pages, "https://a.org/unread"]})
    warehouse.write(
        Change(Page, [a_page(url, status=state, source="direct")
                      for url, state in zip(pages, states, strict=True)]),
    )  # fmt: skip
    wanted = ["bot_wall", "soft_404", "unfetchable"]
    assert urls(warehouse, "jina") == [f"https://a.org/{state}" for state in wanted]


def test_snapshots_are_looked_for_around_when_the_edition_was_begun(warehouse: Warehouse) -> None:
    cite(warehouse, {AGENT: [ONE]})
    assert find_pending_pages(warehouse, EDITION, "direct")[0].cited_on is None
    window = {"created_since": EARLY, "created_until": LATE, "begun_at": LATE}
    begun = a_row(Collection, edition=EDITION, **window)
    warehouse.write(Change(Collection, [begun]))
    assert find_pending_pages(warehouse, EDITION, "direct")[0].cited_on == date(2026, 11, 2)


def test_the_server_that_answered_last_is_remembered(warehouse: Warehouse) -> None:
    assert find_reachable_urls(warehouse, EDITION) == []
    warehouse.write(
        Change(Fetch, [
            a_fetch(ONE, final_url=ONE, fetched_at=EARLY),
            a_fetch(TWO, final_url=TWO, fetched_at=LATE),
            a_fetch("https://c.org/x", outcome="failed"),
        ])
    )  # fmt: skip
    assert find_reachable_urls(warehouse, EDITION) == [TWO]


def test_the_server_of_the_articles_is_thought_to_be_there_even_before_any_has_answered(
    warehouse: Warehouse,
) -> None:
    article = "https://en.wikipedia.org/wiki/An_article"
    row = Article(edition=EDITION, article="An_article", title="An article", url=article,
                  text="", text_sha="")  # fmt: skip
    warehouse.write(Change(Article, [row]))
    assert find_reachable_urls(warehouse, EDITION) == [article]
    assert find_reachable_urls(warehouse, "another") == []
    warehouse.write(Change(Fetch, [a_fetch(ONE, final_url=ONE)]))
    assert find_reachable_urls(warehouse, EDITION) == [ONE, article]


def test_pages_are_read_once_and_again_when_another_way_was_tried_since(
    warehouse: Warehouse,
) -> None:
    warehouse.write(Change(Fetch, [a_fetch(ONE, fetched_at=EARLY), a_fetch(TWO)]))
    assert [page.url for page in find_unread_pages(warehouse, EDITION)] == [ONE, TWO]
    warehouse.write(
        Change(Page, [a_page(ONE, status="bot_wall", source="direct", fetched_at=EARLY),
                      a_page(TWO, source="direct", fetched_at=EARLY)])
    )  # fmt: skip
    assert find_unread_pages(warehouse, EDITION) == []
    warehouse.write(Change(Fetch, [a_fetch(ONE, source="jina", fetched_at=LATE)]))
    (todo,) = find_unread_pages(warehouse, EDITION)
    assert [fetch.source for fetch in todo.fetches] == ["direct", "jina"]
    assert [page.url for page in find_unread_pages(warehouse, EDITION, again=True)] == [
        ONE,
        TWO,
    ]
    warehouse.write(Change(Page, [a_page(ONE, source="published"), a_page(TWO)]))
    assert find_unread_pages(warehouse, EDITION, again=True) == []


@pytest.mark.parametrize(
    ("asked", "hours"),
    [(None, 6), ("60", 6), ("86400", 24), ("90000.5", 25.0001), ("1" + "0" * 12, 48),
     ("9" * 400, 48), ("-5", 6), ("soon", 6), ("nan", 48), ("Fri, 31 Dec 1999 23:59:59 GMT", 6)],
)  # fmt: skip
def test_a_second_look_waits_as_long_as_the_host_asked_but_no_more_than_two_days(
    warehouse: Warehouse, asked: str | None, hours: float
) -> None:
    headers = json.dumps({} if asked is None else {"retry-after": asked})
    cite(warehouse, {AGENT: [ONE]})

    def look(ago: float) -> list[str]:
        at = utc_now() - timedelta(hours=ago)
        row = a_fetch(ONE, outcome="unreached", fetched_at=at, headers=headers)
        warehouse.write(Change(Fetch, [row]))
        [due] = find_second_looks(warehouse, EDITION).values()
        assert abs((due - at).total_seconds() - hours * 3600) < 1
        return urls(warehouse)

    assert look(hours - 0.1) == []
    due = find_second_looks(warehouse, EDITION)[ONE, "direct"]
    assert f" again after {due:%Y-%m-%d %H:%M} UTC." in describe_second_look(warehouse, EDITION)
    assert urls(warehouse, early=True) == urls(warehouse, again=True) == [ONE]
    assert find_busy_hosts(warehouse, "jina") == {}
    closed = hours if asked not in ("60", None) and hours > 6 else 0
    left = find_busy_hosts(warehouse, "direct").get("a.org", 0)
    assert abs(left - (0.1 * 3600 if closed else 0)) < 5
    assert look(hours + 0.1) == [ONE]
    assert find_busy_hosts(warehouse, "direct") == {}
