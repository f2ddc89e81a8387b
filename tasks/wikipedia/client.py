"""Clients for MediaWiki's action API and for Wikimedia's pageviews API.

Source: www.mediawiki.org/wiki/API (Etiquette, Errors, Continue, Maxlag). Errors come with HTTP
200 and are reported in the body. All requests are POST, because fifty titles do not fit into a
URL.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from tasks.wikipedia.errors import WikiRefused, WikiUnreachable
from tasks.wikipedia.http import PoliteClient, TransientAnswer

PAGES_AT_ONCE = 50
"""Ids or titles that the API accepts in one request from clients without bot rights."""
RETRYABLE_CODES = frozenset(
    {"maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryError"}
)

ApiPage = dict[str, Any]
NO_DATA = frozenset({404})


@dataclass(frozen=True)
class RenderedPage:
    """A revision as the wiki renders it."""

    html: str
    external_links: int
    """Number of the page's links to other sites."""


class MediaWiki:
    """A client for one wiki's API."""

    def __init__(self, api_url: str, client: PoliteClient, maxlag_seconds: int = 5) -> None:
        self.api_url = api_url
        self._client = client
        self._always = {"format": "json", "formatversion": "2", "maxlag": str(maxlag_seconds)}

    async def ask(self, **parameters: str | int) -> Any:
        """Send one request and return its answer.

        Raises:
            WikiRefused: the API reports a permanent error; `code` is the API's.
            WikiUnreachable: no answer came.
        """
        data = self._always | {name: str(value) for name, value in parameters.items()}
        return await self._client.fetch_json(self.api_url, data, self._check)

    async def list_entries(self, name: str, **parameters: str | int) -> AsyncIterator[Any]:
        """Yield every entry of `list=name`, over all continuations."""
        async for answer in self._query_all(list=name, **parameters):
            for entry in answer.get("query", {}).get(name, []):
                yield entry

    async def fetch_pages(
        self, page_ids: Sequence[int], **parameters: str | int
    ) -> dict[int, ApiPage]:
        """Fetch properties of at most PAGES_AT_ONCE pages by id, merged over all continuations.

        A deleted page has the property `missing`.
        """
        joined = "|".join(map(str, page_ids))
        found: dict[int, ApiPage] = {}
        async for answer in self._query_all(pageids=joined, **parameters):
            for page in answer.get("query", {}).get("pages", []):
                _merge(found.setdefault(page["pageid"], {}), page)
        return found

    async def fetch_by_title(
        self, titles: Sequence[str], **parameters: str | int
    ) -> dict[str, ApiPage]:
        """Fetch pages by title; the keys are the given titles.

        The wiki normalises titles and follows redirects; missing and invalid titles are left out.
        """
        found: dict[str, ApiPage] = {}
        leads_to: dict[str, str] = {}
        async for answer in self._query_all(titles="|".join(titles), redirects=1, **parameters):
            query = answer.get("query", {})
            for step in (*query.get("normalized", []), *query.get("redirects", [])):
                leads_to[step["from"]] = step["to"]
            for page in query.get("pages", []):
                if not page.get("missing") and not page.get("invalid"):
                    _merge(found.setdefault(page["title"], {}), page)
        return {
            title: found[end]
            for title in titles
            if (end := _resolve_title(title, leads_to)) in found
        }

    async def fetch_rendered_page(self, revision_id: int) -> RenderedPage:
        """Fetch the HTML of one revision, without edit links and parser comments.

        Raises:
            WikiRefused: `nosuchrevid` or `permissiondenied` if the revision is gone.
        """
        answer = await self.ask(
            action="parse",
            oldid=revision_id,
            prop="text|externallinks",
            disablelimitreport=1,
            disableeditsection=1,
            disabletoc=1,
        )
        page = answer["parse"]
        return RenderedPage(page["text"], len(page.get("externallinks", [])))

    async def _query_all(self, **parameters: str | int) -> AsyncIterator[Any]:
        more: dict[str, str | int] = {}
        while True:
            answer = await self.ask(action="query", **{**parameters, **more})
            yield answer
            next_query = answer.get("continue")
            if not next_query:
                return
            if next_query == more:
                raise WikiRefused(
                    f"{self.api_url}: a list continues where it began ({next_query}), so it would "
                    "never end. Report it to the wiki's maintainers."
                )
            more = next_query

    def _check(self, answer: Any) -> None:
        if not isinstance(answer, dict):
            raise WikiRefused(
                f"{self.api_url}: expected a MediaWiki API's answer, found "
                f"{type(answer).__name__}. The address ends in /w/api.php on most wikis."
            )
        error = answer.get("error")
        if not isinstance(error, dict):
            return
        code, message = str(error.get("code")), f"{error.get('code')}: {error.get('info')}"
        if code in RETRYABLE_CODES or code.startswith("internal_api_error"):
            raise TransientAnswer(message)
        raise WikiRefused(f"{self.api_url}: {message}", code)


def split_batches(items: Iterable[Any], size: int = PAGES_AT_ONCE) -> list[list[Any]]:
    """Split items into batches that the API accepts."""
    every = list(items)
    return [every[start : start + size] for start in range(0, len(every), size)]


def _merge(page: ApiPage, more: ApiPage) -> None:
    for name, value in more.items():
        if isinstance(value, list) and isinstance(page.get(name), list):
            page[name].extend(value)
        else:
            page[name] = value


def _resolve_title(title: str, leads_to: dict[str, str]) -> str:
    seen: set[str] = set()
    while title in leads_to and title not in seen:
        seen.add(title)
        title = leads_to[title]
    return title


class PageViews:
    """A client of the pageviews API (people only, all devices) for one wiki."""

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
