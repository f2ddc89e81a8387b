"""What all packages share: the base class of immutable values, and counts in words."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable model that rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def format_count(n: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun: `1 row`, `2,000 rows`. many: the plural, if not with an s."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"
