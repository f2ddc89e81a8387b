"""The pages that the sandbox serves: their days, and their texts split into passages, which are
indexed and returned as snippets."""

import calendar
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime

from tasks.base import Frozen
from tasks.errors import ExpectedError
from tasks.judges.text import collapse_whitespace
from tasks.warehouse.rows import content_sha

MAX_TEXT_CHARS = 2_000_000
"""How much of a page's text is kept."""
MAX_TITLE_CHARS = 500
OnMessage = Callable[[str], None]
"""A callback for messages with a location and a problem."""
MAX_DATE_CHARS = 100
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECONDS_FROM = 100_000_000_000
"""The smallest epoch number read as milliseconds: as seconds it is beyond the year 5000."""

_YEAR_OR_MONTH = re.compile(r"(\d{4})(?:-(\d\d))?", re.ASCII)
_EPOCH = re.compile(r"-?\d{9,13}", re.ASCII)
_WORD = re.compile(r"\S{1,60}")
"""A longer run counts as several words, so that a page without spaces has passages too."""
_SENTENCE_END = re.compile(r"[.!?…][\"”’')\]]{0,3}\Z")
_MAX_SHORTENING = 4
"""A passage may be shortened by up to 1/n of its words, to end with a sentence."""


class SandboxError(ExpectedError):
    """The pages cannot be read, indexed or served; the message says why, and what to do."""


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


def parse_day(value: str | int) -> date | None:
    """Parse a date as a day in UTC; return None if it cannot be read.

    Accepts ISO 8601 (a month or a year alone means its last day, so that nothing in it is later),
    RFC 2822 dates as in HTTP, and integer seconds or milliseconds since 1970.
    """
    try:
        if isinstance(value, int):
            return _epoch_day(value)
        text = value.strip()[:MAX_DATE_CHARS]
        if match := _YEAR_OR_MONTH.fullmatch(text):
            year, month = int(match[1]), int(match[2] or 12)
            return date(year, month, calendar.monthrange(year, month)[1])
        if _EPOCH.fullmatch(text):
            return _epoch_day(int(text))
        at = _parse_time(text)
        return (at.astimezone(UTC) if at.tzinfo else at).date()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _parse_time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return parsedate_to_datetime(text)


def _epoch_day(number: int) -> date:
    seconds = number / 1000 if abs(number) >= MILLISECONDS_FROM else number
    return (EPOCH + timedelta(seconds=seconds)).date()


def split_passages(text: str, n_words: int) -> Iterator[str]:
    """Yield passages of similar length and at most `n_words` words in order, each on one line.

    A passage ends with a sentence if one ends nearby. Together the passages are the whole text.
    """
    words = [match.span() for match in _WORD.finditer(text)]
    start = 0
    while start < len(words):
        left = len(words) - start
        size = -(-left // -(-left // n_words))  # the rest in equal parts, rounded up
        end = start + size
        if end < len(words):
            end = _find_sentence_end(text, words, end, end - size // _MAX_SHORTENING)
        yield collapse_whitespace(text[words[start][0] : words[end - 1][1]])
        start = end


def _find_sentence_end(text: str, words: list[tuple[int, int]], end: int, least: int) -> int:
    """Return the last sentence end after `least` and up to `end`; else `end`."""
    for place in range(end, least, -1):
        first, last = words[place - 1]
        if _SENTENCE_END.search(text[first:last]):
            return place
    return end
