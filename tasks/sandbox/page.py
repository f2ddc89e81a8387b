"""A page as the sandbox serves it."""

from collections.abc import AsyncIterator, Callable, Iterable
from datetime import date, datetime

from tasks.base import Frozen
from tasks.judges.text import one_line
from tasks.warehouse.rows import content_sha

MOST_CHARACTERS = 2_000_000
"""Of a page's text; what is longer is cut."""
MOST_TITLE = 500
OnMessage = Callable[[str], None]
"""Called with where something is, and what is wrong with it."""


class ServedPage(Frozen):
    url: str
    """Its key: the normalised address."""
    title: str
    text: str
    language: str | None = None
    final_url: str | None = None
    """The key of the page that its redirects led to, where that is another."""
    published_on: date | None = None
    fetched_at: datetime | None = None

    @property
    def day(self) -> date | None:
        """When it was as it is: the day it was published, else fetched; None if nobody knows."""
        if self.published_on:
            return self.published_on
        return self.fetched_at.date() if self.fetched_at else None

    @property
    def sha(self) -> str:
        """Another one says that the page has changed."""
        return content_sha(self.model_dump_json())


def title_of(said: str | None) -> str:
    """A title on one line, not longer than any needs."""
    return one_line(said or "")[:MOST_TITLE]


async def in_turn(pages: Iterable[ServedPage]) -> AsyncIterator[ServedPage]:
    """Pages that are at hand, for those who would also wait for them."""
    for page in pages:
        yield page
