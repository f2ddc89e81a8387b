"""Whether a question takes as much as LiveDRBench asks of one.

Source: LiveDRBench: at least 10 queries, about 20 information units, more than 10 minutes of an
expert. The figures are a judge's estimate; what it lists twice counts once.
"""

from collections.abc import Iterable

from tasks.configuration.inversion import InversionSettings
from tasks.inversion.naming import words
from tasks.judges.inversion import Effort


def n_distinct(texts: Iterable[str]) -> int:
    """How many say something of their own: the same words in any order are the same."""
    return len({tuple(sorted(set(found))) for text in texts if (found := words(text))})


def too_easy(effort: Effort, settings: InversionSettings) -> str | None:
    """What is missing for a question to be admitted; None where nothing is."""
    queries, units = n_distinct(effort.queries), n_distinct(effort.units)
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
