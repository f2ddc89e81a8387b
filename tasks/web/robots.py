"""robots.txt, for those who want to obey it (RFC 9309)."""

import asyncio
from urllib.parse import urlsplit

from protego import Protego

from tasks.web.errors import Disallowed, Failed, Unfetched
from tasks.web.guard import Target
from tasks.web.trail import Trail
from tasks.web.visiting import Visitor

PRODUCT = "EvergreenBench"
"""What a robots.txt calls us."""
MOST_BYTES = 512_000
"""RFC 9309 asks for 500 KiB at least; a longer one is taken as one that cannot be read."""
MOST_REDIRECTS = 5


class Robots:
    """Asks each site for its robots.txt once."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor
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
        try:
            async with self._visitor.visit(
                Trail("direct", f"{site}/robots.txt"),
                most_redirects=MOST_REDIRECTS,
                most_bytes=MOST_BYTES,
            ) as answer:
                if 400 <= answer.status < 500:
                    return Protego.parse("")
                return Protego.parse(await answer.text()) if answer.status < 300 else None
        except Failed as error:
            if error.stage == "connecting":  # its pages cannot be reached either
                del self._rules[site]
                raise
            return None
        except Unfetched:
            return None
