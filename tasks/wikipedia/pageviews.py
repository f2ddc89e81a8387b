"""Count an article's views. Source: Wikimedia's pageviews API (people only, all devices)."""

from datetime import datetime, timedelta
from urllib.parse import quote

from tasks.wikipedia.errors import WikiRefused, WikiUnreachable
from tasks.wikipedia.http import PoliteClient

NO_DATA = frozenset({404})


class PageViews:
    """A client of the pageviews API for one wiki."""

    def __init__(self, url: str, project: str, client: PoliteClient) -> None:
        self._url = url.rstrip("/")
        self._project = project
        self._client = client

    async def count_views(self, title: str, since: datetime, until: datetime) -> int | None:
        """Count the views from `since` to the day before `until`; None if there is no data."""
        last = until - timedelta(days=1)
        if last < since:
            return None
        name = quote(title.replace(" ", "_"), safe="")
        days = f"{since:%Y%m%d}00/{last:%Y%m%d}00"
        url = f"{self._url}/{self._project}/all-access/user/{name}/daily/{days}"
        try:
            answer = await self._client.fetch_json(url, none_for=NO_DATA)
        except WikiUnreachable as error:
            raise WikiUnreachable(
                f"Page views: {error} To do without them set `pageviews_url` to null in "
                "configs/wikipedia.yaml."
            ) from None
        if answer is None:
            return None
        try:
            return sum(int(item["views"]) for item in answer["items"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise WikiRefused(
                f"{url}: expected `items` with `views`, found {str(answer)[:80]}. Correct "
                "`pageviews_url` in configs/wikipedia.yaml, or set it to null."
            ) from None
