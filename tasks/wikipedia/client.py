"""MediaWiki's action API as this project needs it.

Source: www.mediawiki.org/wiki/API (Etiquette, Errors, Continue, Maxlag). Errors come with HTTP
200: the body says so. Everything is read by POST, because fifty titles do not fit into an
address.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from tasks.wikipedia.errors import WikiRefused
from tasks.wikipedia.http import Passing, PoliteClient

PAGES_AT_ONCE = 50
"""What the API takes of ids or titles in one request from people without a bot's rights."""
PASSING_CODES = frozenset({"maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryError"})

Page = dict[str, Any]


class MediaWiki:
    """One wiki's API."""

    def __init__(self, api_url: str, client: PoliteClient, maxlag_seconds: int = 5) -> None:
        self.api_url = api_url
        self._client = client
        self._always = {
            "format": "json", "formatversion": "2", "maxlag": str(maxlag_seconds),
        }  # fmt: skip

    async def ask(self, **parameters: str | int) -> Any:
        """One request's answer.

        Raises:
            WikiRefused: the API reports an error that stays; `code` is the API's.
            WikiUnreachable: no answer came.
        """
        data = self._always | {name: str(value) for name, value in parameters.items()}
        return await self._client.json(self.api_url, data, self._check)

    async def listing(self, name: str, **parameters: str | int) -> AsyncIterator[Any]:
        """Every entry of `list=name`, over all its continuations."""
        async for answer in self._continued(list=name, **parameters):
            for entry in answer.get("query", {}).get(name, []):
                yield entry

    async def pages(self, page_ids: Sequence[int], **parameters: str | int) -> dict[int, Page]:
        """Properties of at most PAGES_AT_ONCE pages by id, merged over all continuations.

        A page that is gone says `missing`.
        """
        joined = "|".join(map(str, page_ids))
        found: dict[int, Page] = {}
        async for answer in self._continued(pageids=joined, **parameters):
            for page in answer.get("query", {}).get("pages", []):
                _merge(found.setdefault(page["pageid"], {}), page)
        return found

    async def titled(self, titles: Sequence[str], **parameters: str | int) -> dict[str, Page]:
        """Pages by the titles they are asked by, whatever the wiki makes of them.

        Titles are normalised and redirects followed; a title that is gone or cannot be one is
        left out.
        """
        found: dict[str, Page] = {}
        leads_to: dict[str, str] = {}
        async for answer in self._continued(titles="|".join(titles), redirects=1, **parameters):
            query = answer.get("query", {})
            for step in (*query.get("normalized", []), *query.get("redirects", [])):
                leads_to[step["from"]] = step["to"]
            for page in query.get("pages", []):
                if not page.get("missing") and not page.get("invalid"):
                    _merge(found.setdefault(page["title"], {}), page)
        return {
            title: found[end] for title in titles if (end := _followed(title, leads_to)) in found
        }

    async def _continued(self, **parameters: str | int) -> AsyncIterator[Any]:
        more: dict[str, str | int] = {}
        while True:
            answer = await self.ask(action="query", **{**parameters, **more})
            yield answer
            following = answer.get("continue")
            if not following:
                return
            if following == more:
                raise WikiRefused(
                    f"{self.api_url}: its list goes on where it began ({following}): it would "
                    "never end. Report it to the wiki's maintainers."
                )
            more = following

    def _check(self, answer: Any) -> None:
        if not isinstance(answer, dict):
            raise WikiRefused(
                f"{self.api_url}: expected a MediaWiki API's answer, found "
                f"{type(answer).__name__}. The address ends in /w/api.php on most wikis."
            )
        error = answer.get("error")
        if not isinstance(error, dict):
            return
        code, said = str(error.get("code")), f"{error.get('code')}: {error.get('info')}"
        if code in PASSING_CODES or code.startswith("internal_api_error"):
            raise Passing(said)
        raise WikiRefused(f"{self.api_url}: {said}", code)


def batches(items: Iterable[Any], size: int = PAGES_AT_ONCE) -> list[list[Any]]:
    """As many at once as the API takes."""
    every = list(items)
    return [every[start : start + size] for start in range(0, len(every), size)]


def _merge(page: Page, more: Page) -> None:
    for name, value in more.items():
        if isinstance(value, list) and isinstance(page.get(name), list):
            page[name].extend(value)
        else:
            page[name] = value


def _followed(title: str, leads_to: dict[str, str]) -> str:
    seen: set[str] = set()
    while title in leads_to and title not in seen:
        seen.add(title)
        title = leads_to[title]
    return title
