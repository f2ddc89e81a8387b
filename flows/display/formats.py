"""In what form an answer is printed."""

from enum import StrEnum


class Format(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
