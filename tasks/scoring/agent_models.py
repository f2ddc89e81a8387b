"""Agents that answered as more than one model: an alias that led elsewhere, a preset that changed.

Only reports count that were asked for here: those that were imported name no model.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import polars as pl

from tasks.base import format_count
from tasks.foreign_text import make_visible
from tasks.models.exchange import normalize_model, same_model
from tasks.warehouse.store import Readable

ANSWERED = """
SELECT r.agent, r.assignment, j.model_version, j.created_at, j.job FROM reports AS r
JOIN jobs AS j ON r.source_path = 'job ' || j.job AND j.edition = r.edition AND j.agent = r.agent
    AND j.assignment = r.assignment
WHERE r.edition = $1 AND j.model_version IS NOT NULL ORDER BY j.created_at, j.job
"""
FIGURE = "agent", "protocol", "metric", "judge"
BEHIND_FIGURES = f"""
WITH answered AS ({ANSWERED})
SELECT {", ".join(FIGURE)}, model_version FROM scores JOIN answered USING (agent, assignment)
WHERE edition = $1 AND value IS NOT NULL ORDER BY created_at, job
"""
MAX_NAMED, MAX_CHARS = 4, 80
"""Models named, and characters of each name: some presets change with every report."""
WORDS = ("two", "three", "four")


def load_models(source: Readable, edition: str) -> dict[str, list[str]]:
    """Return by agent the models that say that they wrote its reports, the oldest first."""
    found: dict[str, list[str]] = {}
    for agent, _, model, *_ in source.frame(ANSWERED, [edition]).iter_rows():
        found.setdefault(agent, []).append(model)
    return found


def count_models(answered: Iterable[str]) -> list[tuple[str, int]]:
    """Return the models that these names mean, each with its number; the first name first."""
    shown: dict[str, str] = {}
    names = [(normalize_model(name), name) for name in answered]
    for model, name in names:
        shown.setdefault(model, make_visible(name[:MAX_CHARS], one_line=True))
    counts = Counter(model for model, _ in names)
    return [(name, counts[model]) for model, name in shown.items()]


def describe_models(answered: Iterable[str]) -> str | None:
    """Describe the models of these reports, such as `two models: 4 and 1 reports (a, b)`; None if
    they are not several."""
    counts = count_models(answered)
    if len(counts) < 2:
        return None
    names, numbers = zip(*counts, strict=True)
    shown = list(map(str, numbers[:MAX_NAMED]))
    if more := len(counts) - MAX_NAMED > 0:
        shown.append(f"{sum(numbers[MAX_NAMED:])} others'")
    word = str(len(counts)) if more else WORDS[len(counts) - 2]
    named = ", ".join(names[:MAX_NAMED]) + ", …" * more
    return f"{word} models: {', '.join(shown[:-1])} and {shown[-1]} reports ({named})"


def describe_change(earlier: Sequence[str], model: str) -> str | None:
    """Say that a report's model wrote none of the earlier reports; None if it did, or if there are
    none."""
    counts = count_models(earlier)
    if not counts or any(same_model(model, name) for name in earlier):
        return None
    named = ", ".join(f"{format_count(n, 'report')} by {name}" for name, n in counts[-MAX_NAMED:])
    now, _ = count_models([model])[0]
    return f"answered as {now}; earlier in this edition: {named}"


def add_models(source: Readable, edition: str, board: pl.DataFrame) -> pl.DataFrame:
    """Return a leaderboard's rows with `models`: those whose reports a figure mixes; null if it
    mixes none."""
    behind = source.frame(BEHIND_FIGURES, [edition]).rows_by_key(FIGURE)
    described = [
        describe_models(model for (model,) in behind.get(key, ()))
        for key in board.select(FIGURE).iter_rows()
    ]
    return board.with_columns(models=pl.Series(described, dtype=pl.String))
