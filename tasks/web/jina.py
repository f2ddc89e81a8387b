"""Fetch pages through Jina Reader, which converts them to Markdown. Its answers are kept as is.

Source: https://jina.ai/reader; the answer is JSON with the page's text as Markdown.
"""

import json
from datetime import date
from functools import partial
from typing import Any

from tasks.configuration.secrets import read_address
from tasks.configuration.web import JinaReader, RequestPolicy
from tasks.warehouse.contents import PageStore
from tasks.web.errors import FetchFailed, ServiceUnusable, printable
from tasks.web.page import FetchResult, PageRequest
from tasks.web.redirects import PageResponse, RedirectFollower
from tasks.web.services import RUN_AGAIN, ServiceSource, read_environment


class JinaSource(ServiceSource):
    """Fetches pages through Jina Reader.

    Args:
        patience_seconds: time for the first byte of an answer: the service fetches the page first.
    """

    source = "jina"
    name = "Jina Reader"

    def __init__(
        self,
        settings: JinaReader,
        follower: RedirectFollower,
        manners: RequestPolicy,
        store: PageStore,
        patience_seconds: float,
    ) -> None:
        super().__init__(follower, manners, store)
        self._base = read_address(settings.url_env) or settings.url
        self._key = get_jina_key(settings)
        self._key_env = settings.key_env
        self._patience = patience_seconds

    async def fetch(self, wanted: PageRequest) -> FetchResult:
        """Fetch one page. As `ServiceSource.fetch`; Jina's own URL is not where the page is."""
        result = await super().fetch(wanted)
        result.final_url = result.asked_url if result.outcome == "fetched" else None
        return result

    async def _fetch_copy(self, result: FetchResult, url: str, cited_on: date | None) -> None:
        result.asked_url = f"{self._base.rstrip('/')}/{url}"
        headers = {"Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        open_page = partial(
            self._follower.open, headers=headers, max_redirects=0, read_seconds=self._patience
        )
        await self._download(result, open_page, self._check_answer)

    async def _check_answer(self, answer: PageResponse, is_last: bool) -> None:
        """Raise an error unless the answer holds the page."""
        if answer.status == 401:
            has = "does not accept the key in" if self._key else "asks for a key: set"
            raise ServiceUnusable(f"{self.name} {has} {self._key_env} (HTTP 401). {RUN_AGAIN}")
        if answer.status == 402:
            raise ServiceUnusable(
                f"{self.name}: the account has no quota left (HTTP 402). {RUN_AGAIN}"
            )
        self._check_limits(answer, is_last)
        if answer.status != 200:
            message = _format_message(await answer.text())
            raise FetchFailed(
                f"{self.name} could not read the page (HTTP {answer.status}{message})"
            )


def get_jina_key(settings: JinaReader) -> str | None:
    """Return the API key from the environment."""
    return read_environment(settings.key_env)


def _format_message(text: str) -> str:
    """Format the service's error message as the end of a sentence."""
    try:
        body: Any = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(body, dict):
        return ""
    message = body.get("readableMessage") or body.get("message")
    return f": {printable(message)}" if isinstance(message, str) else ""
