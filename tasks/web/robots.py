"""robots.txt, for those who want to obey it (RFC 9309)."""

import asyncio
from urllib.parse import urlsplit

from protego import Protego

from tasks.configuration.web import Manners
from tasks.models.client import retry_after
from tasks.web.errors import Disallowed, Failed, LeftAlone, Unfetched
from tasks.web.guard import Target
from tasks.web.retrying import heals, retrying
from tasks.web.trail import Trail
from tasks.web.visiting import Visitor

PRODUCT = "EvergreenBench"
"""What a robots.txt calls us."""
MOST_BYTES = 512_000
"""RFC 9309 asks for 500 KiB at least; a longer one is taken as one that cannot be read."""
MOST_REDIRECTS = 5


class Robots:
    """Asks each site for its robots.txt once, again where that may help."""

    def __init__(self, visitor: Visitor, manners: Manners) -> None:
        self._visitor = visitor
        self._manners = manners
        self._rules: dict[str, asyncio.Task[Protego | None]] = {}

    async def permit(self, target: Target) -> None:
        """Do nothing for an address that its site allows.

        Raises:
            Disallowed: the site forbids it, or its robots.txt cannot be had.
        """
        parts = urlsplit(target.url)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._rules:
            self._rules[site] = asyncio.create_task(self._read(site))
        rules = await asyncio.shield(self._rules[site])
        if rules is None:
            raise Disallowed(f"{site}/robots.txt cannot be had, which forbids all")
        if not rules.can_fetch(target.url, PRODUCT):
            raise Disallowed(f"{site}/robots.txt forbids {parts.path[:200]}")

    async def close(self) -> None:
        """End what is under way."""
        for task in self._rules.values():
            task.cancel()
        await asyncio.gather(*self._rules.values(), return_exceptions=True)

    async def _read(self, site: str) -> Protego | None:
        """A site's rules; None where they forbid all because they cannot be had."""
        trail = Trail("direct", f"{site}/robots.txt")
        try:
            async for attempt in retrying(self._manners, self._manners.tries):
                with attempt:
                    return await self._said(trail)
        except Unfetched as error:
            # Where its pages cannot be reached either, or later, that is what they say.
            if isinstance(error, LeftAlone) or _unreachable(error):
                del self._rules[site]
                raise
        return None

    async def _said(self, trail: Trail) -> Protego:
        async with self._visitor.visit(
            trail, most_redirects=MOST_REDIRECTS, most_bytes=MOST_BYTES
        ) as answer:
            if 400 <= answer.status < 500:
                return Protego.parse("")
            if answer.status < 300:
                return Protego.parse(await answer.text())
            hint = retry_after(answer.headers) or 0.0
            raise Failed(
                f"{answer.host} answered HTTP {answer.status}", host=answer.host,
                heals=heals(answer.status) and hint <= self._manners.longest_wait_seconds,
                hint_seconds=hint,
            )  # fmt: skip


def _unreachable(error: Unfetched) -> bool:
    return isinstance(error, Failed) and error.stage == "connecting"
