"""The pages that the sandbox serves."""

from collections.abc import AsyncIterator, Callable, Iterable
from datetime import date, datetime

from tasks.base import Frozen
from tasks.judges.text import collapse_whitespace
from tasks.warehouse.rows import content_sha

MAX_TEXT_CHARS = 2_000_000
"""How much of a page's text is kept."""
MAX_TITLE_CHARS = 500
OnMessage = Callable[[str], None]
"""A callback for messages with a location and a problem."""


class ServedPage(Frozen):
    url: str
    """The page's key: its normalised URL."""
    title: str
    text: str
    language: str | None = None
    final_url: str | None = None
    """The key of the page that it redirects to, if any."""
    published_on: date | None = None
    fetched_at: datetime | None = None

    @property
    def day(self) -> date | None:
        """The day of its content: when it was published, else fetched; None if unknown."""
        if self.published_on:
            return self.published_on
        return self.fetched_at.date() if self.fetched_at else None

    @property
    def sha(self) -> str:
        """A hash of all fields, to recognise changed pages."""
        return content_sha(self.model_dump_json())


def clean_title(title: str | None) -> str:
    """Return a title on one line, up to MAX_TITLE_CHARS."""
    return collapse_whitespace(title or "")[:MAX_TITLE_CHARS]


async def iterate_async(pages: Iterable[ServedPage]) -> AsyncIterator[ServedPage]:
    """Yield pages asynchronously."""
    for page in pages:
        yield page
