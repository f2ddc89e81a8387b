"""Fetch pages through Jina Reader, which converts them to Markdown. Its answers are kept as is.

Source: https://jina.ai/reader; the answer is JSON with the page's text as Markdown.
"""

import json
import os
from typing import Any

from tasks.configuration.web import JinaReader, RequestPolicy
from tasks.models.client import redact_key
from tasks.warehouse.page_store import PageStore
from tasks.web.bodies import BodyWriter, StoredBody
from tasks.web.errors import FetchError, FetchFailed, ServiceUnusable, printable
from tasks.web.fetch_record import FetchRecord
from tasks.web.guard import Guard
from tasks.web.page import PageRequest
from tasks.web.redirects import PageResponse, RedirectFollower
from tasks.web.retries import retry_failures
from tasks.web.services import RUN_AGAIN, check_limits, require_service, was_reached
from tasks.web.sources import SourceResult

NAME = "Jina Reader"


class JinaSource:
    """Fetches pages through Jina Reader.

    Args:
        patience_seconds: time for the first byte of an answer: the service fetches the page first.
    """

    def __init__(
        self,
        settings: JinaReader,
        manners: RequestPolicy,
        follower: RedirectFollower,
        guard: Guard,
        store: PageStore,
        patience_seconds: float,
    ) -> None:
        self._base = _read_environment(settings.url_env) or settings.url
        self._key = get_jina_key(settings)
        self._key_env = settings.key_env
        self._manners = manners
        self._follower = follower
        self._guard = guard
        self._store = store
        self._patience = patience_seconds

    async def fetch(self, wanted: PageRequest) -> SourceResult:
        """Fetch one page.

        Raises:
            ServiceUnusable: the key, the quota or the network is at fault, not the page.
            UnwritableWarehouse: the page could not be stored.
        """
        address = wanted.addresses[0] if wanted.addresses else wanted.url
        record = FetchRecord("jina", address)
        reached: bool | None
        final: str | None
        try:
            target = self._guard.check_url(address)  # request nothing there that we refuse here
            record.asked_url = f"{self._base.rstrip('/')}/{target.url}"
            body = await self._store_body(record)
            fetched, reached, final = record.to_result("fetched", body=body), True, address
        except FetchError as error:
            message = redact_key(str(error), self._key)
            fetched = record.to_result(error.outcome, error=message)
            reached, final = was_reached(error), None
        urls = {"asked_url": address, "final_url": final}
        return SourceResult(fetched.model_copy(update=urls), reached)

    async def _store_body(self, record: FetchRecord) -> StoredBody:
        headers = {"Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        async with require_service(NAME):
            async for attempt in retry_failures(self._manners, self._manners.tries):
                with attempt:
                    last = attempt.retry_state.attempt_number >= self._manners.tries
                    async with BodyWriter(self._store) as body:
                        async with self._follower.open(
                            record, headers=headers, max_redirects=0, read_seconds=self._patience
                        ) as answer:
                            await self._check_answer(answer, last)
                            await body.add(answer.pieces())
                        return await body.store()
        raise AssertionError("tenacity returns or raises")

    async def _check_answer(self, answer: PageResponse, last: bool) -> None:
        """Raise an error unless the answer holds the page."""
        if answer.status == 401:
            has = "does not accept the key in" if self._key else "asks for a key: set"
            raise ServiceUnusable(f"{NAME} {has} {self._key_env} (HTTP 401). {RUN_AGAIN}")
        if answer.status == 402:
            raise ServiceUnusable(f"{NAME}: the account has no quota left (HTTP 402). {RUN_AGAIN}")
        check_limits(NAME, answer, self._manners, last=last)
        if answer.status != 200:
            message = _format_message(await answer.text())
            raise FetchFailed(f"{NAME} could not read the page (HTTP {answer.status}{message})")


def get_jina_key(settings: JinaReader) -> str | None:
    """Return the API key from the environment."""
    return _read_environment(settings.key_env)


def _read_environment(name: str | None) -> str | None:
    return os.environ.get(name, "").strip() or None if name else None


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
