"""Check that a question takes as much effort as LiveDRBench requires.

Source: LiveDRBench: at least 10 queries, about 20 information units, more than 10 minutes of an
expert. The judge estimates the effort; duplicates count once.
"""

from collections.abc import Iterable

from tasks.configuration.inversion import InversionSettings
from tasks.inversion.naming import split_words
from tasks.judges.inversion import Effort


def count_distinct(texts: Iterable[str]) -> int:
    """Count the different texts; the same words in any order are one text."""
    return len({tuple(sorted(set(found))) for text in texts if (found := split_words(text))})


def find_shortfall(effort: Effort, settings: InversionSettings) -> str | None:
    """Return what a question lacks to be hard enough; None if nothing."""
    queries, units = count_distinct(effort.queries), count_distinct(effort.units)
    if queries < settings.queries_least:
        return f"{queries} queries; at least {settings.queries_least} are asked for"
    if units < settings.units_least:
        return (
            f"{units} information units; about {settings.units_about} are asked for, "
            f"at least {settings.units_least:g}"
        )
    if effort.minutes <= settings.minutes_above:
        return f"{effort.minutes:g} minutes; more than {settings.minutes_above:g} are asked for"
    return None
