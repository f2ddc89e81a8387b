"""Jina Reader: a service that fetches and reads a page for us. What it answers is kept as it is.

Source: https://jina.ai/reader; the answer is JSON, with the page's text as Markdown.
"""

import json
import os
from typing import Any

from tasks.configuration.web import JinaReader, Manners
from tasks.models.client import redacted
from tasks.warehouse.page_store import PageStore
from tasks.web.bodies import Body, Kept
from tasks.web.errors import Failed, ServiceUnusable, Unfetched, shown
from tasks.web.guard import Guard
from tasks.web.page import Wanted
from tasks.web.retrying import retrying
from tasks.web.services import AGAIN, check_limits, reachable, reached
from tasks.web.trail import Trail
from tasks.web.visiting import Answer, Visitor
from tasks.web.ways import Finding

NAME = "Jina Reader"


class Jina:
    """Asks Jina Reader for pages.

    Args:
        patience_seconds: for the first piece of an answer: the service fetches the page first.
    """

    def __init__(
        self,
        settings: JinaReader,
        manners: Manners,
        visitor: Visitor,
        guard: Guard,
        store: PageStore,
        patience_seconds: float,
    ) -> None:
        self._base = _from_environment(settings.url_env) or settings.url
        self._key = jina_key(settings)
        self._key_env = settings.key_env
        self._manners = manners
        self._visitor = visitor
        self._guard = guard
        self._store = store
        self._patience = patience_seconds

    async def fetch(self, wanted: Wanted) -> Finding:
        """One page.

        Raises:
            ServiceUnusable: key, quota or network; not this page.
            UnwritableWarehouse: the page could not be kept.
        """
        address = wanted.addresses[0] if wanted.addresses else wanted.url
        trail = Trail("jina", address)
        had: bool | None
        try:
            target = self._guard.target(address)  # nobody is sent where we would not go
            trail.asked = f"{self._base.rstrip('/')}/{target.url}"
            kept = await self._kept(trail)
            fetched, had, final = trail.done("fetched", kept=kept), True, address
        except Unfetched as error:
            words = redacted(str(error), self._key)
            fetched, had, final = trail.done(error.outcome, error=words), reached(error), None
        named = {"asked_url": address, "final_url": final}
        return Finding(fetched.model_copy(update=named), had)

    async def _kept(self, trail: Trail) -> Kept:
        headers = {"Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        async with reachable(NAME):
            async for attempt in retrying(self._manners, self._manners.tries):
                with attempt:
                    last = attempt.retry_state.attempt_number >= self._manners.tries
                    async with Body(self._store) as body:
                        async with self._visitor.visit(
                            trail, headers=headers, most_redirects=0, read_seconds=self._patience
                        ) as answer:
                            await self._check(answer, last)
                            await body.take(answer.pieces())
                        return await body.keep()
        raise AssertionError("tenacity returns or raises")

    async def _check(self, answer: Answer, last: bool) -> None:
        """Do nothing for an answer that holds the page."""
        if answer.status == 401:
            has = "does not accept the key in" if self._key else "asks for a key: set"
            raise ServiceUnusable(f"{NAME} {has} {self._key_env} (HTTP 401). {AGAIN}")
        if answer.status == 402:
            raise ServiceUnusable(f"{NAME}: the account has no quota left (HTTP 402). {AGAIN}")
        check_limits(NAME, answer, self._manners, last=last)
        if answer.status != 200:
            said = _message(await answer.text())
            raise Failed(f"{NAME} could not read the page (HTTP {answer.status}{said})")


def jina_key(settings: JinaReader) -> str | None:
    """The key, from the environment only."""
    return _from_environment(settings.key_env)


def _from_environment(name: str | None) -> str | None:
    return os.environ.get(name, "").strip() or None if name else None


def _message(text: str) -> str:
    """What the service says is wrong, as the end of a sentence."""
    try:
        body: Any = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    said = (body.get("readableMessage") or body.get("message")) if isinstance(body, dict) else None
    return f": {shown(said)}" if isinstance(said, str) else ""
