"""Parsing of the date formats found in corpora."""

import calendar
import re
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime

MAX_CHARACTERS = 100
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECONDS_FROM = 100_000_000_000
"""The smallest epoch number read as milliseconds: as seconds it is beyond the year 5000."""

_YEAR_OR_MONTH = re.compile(r"(\d{4})(?:-(\d\d))?", re.ASCII)
_EPOCH = re.compile(r"-?\d{9,13}", re.ASCII)


def parse_day(value: str | int) -> date | None:
    """Parse a date as a day in UTC; return None if it cannot be read.

    Accepts ISO 8601 (a month or a year alone means its last day, so that nothing in it is later),
    RFC 2822 dates as in HTTP, and integer seconds or milliseconds since 1970.
    """
    try:
        if isinstance(value, int):
            return _epoch_day(value)
        text = value.strip()[:MAX_CHARACTERS]
        if match := _YEAR_OR_MONTH.fullmatch(text):
            year, month = int(match[1]), int(match[2] or 12)
            return date(year, month, calendar.monthrange(year, month)[1])
        if _EPOCH.fullmatch(text):
            return _epoch_day(int(text))
        return _utc_day(_parse_time(text))
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _parse_time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return parsedate_to_datetime(text)


def _utc_day(at: datetime) -> date:
    return (at.astimezone(UTC) if at.tzinfo else at).date()


def _epoch_day(number: int) -> date:
    seconds = number / 1000 if abs(number) >= MILLISECONDS_FROM else number
    return (EPOCH + timedelta(seconds=seconds)).date()
