"""How far an edition is: what it has already."""

from collections.abc import Sequence

from tasks.warehouse.store import Readable


def is_begun(source: Readable, edition: str) -> bool:
    """Whether collecting the edition has begun."""
    return _exists(source, "collections", edition)


def is_frozen(source: Readable, edition: str) -> bool:
    """Whether the edition is frozen."""
    return _exists(source, "collections", edition, "frozen_at IS NOT NULL")


def has_prompts(source: Readable, edition: str) -> bool:
    """Whether the edition has prompts."""
    return _exists(source, "assignments", edition, "prompt IS NOT NULL")


def has_pages(source: Readable, edition: str) -> bool:
    """Whether the edition has archived pages that every agent may search."""
    withheld = "SELECT url FROM withheld_pages WHERE edition = $1"
    return _exists(source, "pages", edition, f"status = 'ok' AND url NOT IN ({withheld})")


def has_figures(source: Readable, edition: str) -> bool:
    """Whether the edition has a leaderboard."""
    return _exists(source, "leaderboard", edition)


def find_reporting_agents(source: Readable, edition: str, agents: Sequence[str]) -> list[str]:
    """Return those of these agents that have reports in the edition."""
    found = source.frame("SELECT DISTINCT agent FROM reports WHERE edition = $1", [edition])
    return [agent for agent in agents if agent in {*found["agent"]}]


def _exists(source: Readable, table: str, edition: str, condition: str = "true") -> bool:
    """Whether a table has a row of the edition that meets an SQL condition."""
    sql = f"SELECT count(*) > 0 FROM {table} WHERE edition = $1 AND {condition}"
    return bool(source.frame(sql, [edition]).item())
