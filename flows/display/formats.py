"""The output formats."""

from enum import StrEnum


class Format(StrEnum):
    """The format in which a result is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
