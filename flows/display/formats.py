"""The output formats."""

import json
from enum import StrEnum

from tasks.foreign_text import escape_hidden


class Format(StrEnum):
    """The format in which a result is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def format_json(value: object) -> str:
    """Format as JSON for people and programs: what JSON has no form for becomes text, and what
    nobody sees is escaped."""
    return escape_hidden(json.dumps(value, ensure_ascii=False, default=str, indent=1))
