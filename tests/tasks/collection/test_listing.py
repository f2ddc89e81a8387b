"""Beginning a collection, going on with it, and dropping it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.benchmarks.errors import EditionError
from tasks.collection.request import (
    CollectionRequest,
    begin_collection,
    forget_collection,
    months_before,
)
from tasks.configuration.wikipedia import load_wikipedia
from tasks.imports.wlc import import_edition
from tasks.warehouse.rows import Edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Collection
from tasks.warehouse.writer import Change
from tests.rigs.mediawiki.decoys import SINCE, UNTIL
from tests.tasks.benchmarks.questions_builder import import_questions, write_questions

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
SETTINGS = load_wikipedia()


def begun(warehouse: Warehouse, **asked: object) -> Collection:
    request = CollectionRequest.model_validate({"edition": "2026-11"} | asked)
    return begin_collection(warehouse, request, SETTINGS, NOW)


def test_without_dates_the_window_is_the_six_months_until_today(warehouse: Warehouse) -> None:
    collection = begun(warehouse)
    assert collection.created_since == datetime(2026, 5, 21, tzinfo=UTC)
    assert collection.created_until == datetime(2026, 11, 21, tzinfo=UTC)
    assert collection.n_articles == 100


def test_a_collection_goes_on_as_it_was_begun(warehouse: Warehouse) -> None:
    first = listed(warehouse, begun(warehouse, articles=7))
    later = begin_collection(
        warehouse, CollectionRequest(edition="2026-11"), SETTINGS, NOW + timedelta(days=3)
    )
    assert later == first


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"articles": 8}, r"--articles 8 \(it has 7\)"),
        ({"since": NOW - timedelta(days=5)}, "--since"),
        ({"api_url": "http://other.example/w/api.php"}, "--wiki-api http://other"),
        ({"spread": True}, "--spread True"),
    ],
)
def test_other_settings_under_the_same_name_are_refused(
    warehouse: Warehouse, asked: dict[str, object], said: str
) -> None:
    listed(warehouse, begun(warehouse, articles=7))
    with pytest.raises(EditionError, match=said):
        begun(warehouse, **asked)


@pytest.mark.parametrize(
    ("since", "until", "said"),
    [
        (UNTIL, SINCE, "window is empty"),
        (SINCE, SINCE, "window is empty"),
        (SINCE, NOW + timedelta(days=1), "not over yet"),
    ],
)
def test_a_window_that_cannot_be_is_refused(
    warehouse: Warehouse, since: datetime, until: datetime, said: str
) -> None:
    with pytest.raises(EditionError, match=said):
        begun(warehouse, since=since, until=until)


@pytest.mark.parametrize("name", ["", "../x", "a b", ".hidden", "x" * 65, "a/b"])
def test_a_name_that_cannot_be_a_folder_s_is_refused(warehouse: Warehouse, name: str) -> None:
    with pytest.raises(EditionError, match="cannot be an edition's name"):
        begun(warehouse, edition=name)


def test_until_the_wiki_has_been_listed_a_mistake_can_be_mended(warehouse: Warehouse) -> None:
    with pytest.raises(EditionError, match=r"expected the address of a wiki's api\.php"):
        begun(warehouse, api_url="wiki.example/w/api.php")
    begun(warehouse, api_url="http://wrong.example/w/api.php")
    begun(warehouse, api_url="https://right.example/w/api.php", articles=7)
    again = begun(warehouse)  # what is left out stays
    assert (again.api_url, again.n_articles) == ("https://right.example/w/api.php", 7)


def test_what_is_not_frozen_can_be_dropped(warehouse: Warehouse) -> None:
    listed(warehouse, begun(warehouse))
    forget_collection(warehouse, "2026-11")
    assert warehouse.value("SELECT count(*) FROM collections") == 0
    with pytest.raises(EditionError, match="not being collected"):
        forget_collection(warehouse, "2026-11")


def listed(warehouse: Warehouse, collection: Collection) -> Collection:
    """As it is once the wiki has been listed: its settings stay."""
    changed = collection.model_copy(update={"n_members": 3})
    warehouse.write(Change(Collection, [changed]))
    return changed


def test_an_imported_edition_is_not_collected_over(warehouse: Warehouse) -> None:
    warehouse.write(Change(Edition, [Edition(edition="2026-11", source="wlc")]))
    with pytest.raises(EditionError, match="was imported, not collected"):
        begun(warehouse)


def test_nothing_is_imported_over_a_collected_edition(warehouse: Warehouse, tmp_path: Path) -> None:
    begun(warehouse)
    sample = Path(__file__).resolve().parents[3] / "data" / "sample"
    with pytest.raises(EditionError, match="was collected from a wiki and never changes"):
        import_edition(warehouse, sample, "2026-11")
    with pytest.raises(EditionError, match="was collected from a wiki and never changes"):
        import_questions(warehouse, write_questions(tmp_path / "questions.json"), "2026-11")
    assert warehouse.value("SELECT count(*) FROM articles") == 0


@given(
    st.datetimes(datetime(2001, 1, 1), datetime(2090, 1, 1)),  # noqa: DTZ001 - zone added below
    st.integers(1, 30),
)
def test_months_before_is_the_same_day_or_the_month_s_last(day: datetime, months: int) -> None:
    earlier = months_before(day.replace(tzinfo=UTC), months)
    gone = (day.year - earlier.year) * 12 + day.month - earlier.month
    assert gone == months
    last_of_month = (earlier + timedelta(days=1)).month != earlier.month
    assert earlier.day == day.day or (last_of_month and earlier.day < day.day)


def test_a_day_without_a_time_zone_is_in_utc() -> None:
    asked = CollectionRequest(edition="2026-11", since=datetime(2026, 5, 1))  # noqa: DTZ001
    assert asked.since == datetime(2026, 5, 1, tzinfo=UTC)
