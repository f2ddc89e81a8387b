"""Days as corpora write them."""

import calendar
import re
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime

MOST_CHARACTERS = 100
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECONDS_FROM = 100_000_000_000
"""An epoch number as large as this counts milliseconds: in seconds it is beyond the year 5000."""

_YEAR_OR_MONTH = re.compile(r"(\d{4})(?:-(\d\d))?", re.ASCII)
_EPOCH = re.compile(r"-?\d{9,13}", re.ASCII)


def read_day(said: str | int) -> date | None:
    """The day, in UTC, that a corpus gives; None for what cannot be read.

    Read are ISO 8601 (a month or a year alone is its last day: nothing in it is later), RFC 2822
    as HTTP writes it, and whole numbers of seconds or milliseconds since 1970.
    """
    try:
        if isinstance(said, int):
            return _of_epoch(said)
        text = said.strip()[:MOST_CHARACTERS]
        if found := _YEAR_OR_MONTH.fullmatch(text):
            year, month = int(found[1]), int(found[2] or 12)
            return date(year, month, calendar.monthrange(year, month)[1])
        if _EPOCH.fullmatch(text):
            return _of_epoch(int(text))
        return _of_time(_time(text))
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return parsedate_to_datetime(text)


def _of_time(at: datetime) -> date:
    return (at.astimezone(UTC) if at.tzinfo else at).date()


def _of_epoch(number: int) -> date:
    seconds = number / 1000 if abs(number) >= MILLISECONDS_FROM else number
    return (EPOCH + timedelta(seconds=seconds)).date()
