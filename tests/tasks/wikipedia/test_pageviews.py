"""How often an article was read, from the service that counts."""

import asyncio
import math
from datetime import UTC, datetime
from urllib.parse import unquote

import pytest

from tasks.configuration.wikipedia import WikiRequests
from tasks.wikipedia.client import PageViews
from tasks.wikipedia.errors import WikiRefused
from tasks.wikipedia.http import PoliteClient
from tests.servers.http import Response
from tests.tasks.wikipedia.conftest import OPERATOR, Scripted, SimulatedClock, scripted

FIRST, LAST = datetime(2025, 3, 3, tzinfo=UTC), datetime(2025, 12, 1, tzinfo=UTC)


def views(
    title: str, *answers: Response | object, until: datetime = LAST
) -> tuple[int | None, Scripted]:
    async def run(address: str) -> int | None:
        client = PoliteClient(WikiRequests(), OPERATOR, clock=SimulatedClock())
        service = PageViews(f"{address.removesuffix('/w/api.php')}/views", "en.wikipedia", client)
        try:
            return await service.count_views(title, FIRST, until)
        finally:
            await client.close()

    with scripted(*answers) as (script, address):
        return asyncio.run(run(address)), script


def test_the_days_of_the_window_are_added_up_its_end_excluded() -> None:
    found, script = views("Owl", {"items": [{"views": 3}, {"views": 4}]})
    assert found == 7
    assert script.asked[0].method == "GET"
    assert script.asked[0].target == (
        "/views/en.wikipedia/all-access/user/Owl/daily/2025030300/2025113000"
    )


def test_a_title_is_one_part_of_the_address_whatever_is_in_it() -> None:
    _, script = views("Rock & Roll / 100% C?", {"items": []})
    parts = script.asked[0].target.split("/")
    assert unquote(parts[parts.index("daily") - 1]) == "Rock_&_Roll_/_100%_C?"


def test_no_data_is_null_and_not_nought() -> None:
    found, _ = views("Owl", Response(404, b"{}"))
    assert found is None


def test_an_article_younger_than_a_day_has_no_views_and_nothing_is_asked() -> None:
    found, script = views("Owl", until=FIRST)
    assert (found, script.asked) == (None, [])


@pytest.mark.parametrize(
    "answer",
    [{}, {"items": [{}]}, {"items": [{"views": "x"}]}, {"items": [{"views": math.inf}]}, [1]],
)
def test_another_answer_is_named(answer: object) -> None:
    with pytest.raises(WikiRefused, match=r"daily/.*expected `items` with `views`"):
        views("Owl", answer)
