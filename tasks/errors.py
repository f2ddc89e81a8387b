"""Errors that a user can fix. Separate from `base`, since `--help` must not load pydantic."""

from collections.abc import Iterable

LIKENESS = 80
"""How alike a wrong name and a known one must be, of 100."""
EQUALLY_ALIKE = 2
"""Names that are so much less alike than the nearest one are suggested, too."""
MOST_SUGGESTIONS, MOST_LISTED = 5, 40
"""Names in a message."""


class ExpectedError(Exception):
    """An error whose message tells the user what is wrong and what to do. `evergreen` prints it
    without a traceback and exits with 1."""


def suggest_names(wrong: str, known: Iterable[str]) -> str:
    """Return a sentence that suggests the known names nearest to a wrong one ("Did you mean
    sample_scholar?"), or lists all of them if none is near."""
    from rapidfuzz import fuzz, process, utils  # only for errors

    names = sorted(known)
    found = process.extract(
        wrong, names, scorer=fuzz.WRatio, processor=utils.default_process,
        score_cutoff=LIKENESS, limit=MOST_SUGGESTIONS,
    )  # fmt: skip
    near = sorted(name for name, score, _ in found if score >= found[0][1] - EQUALLY_ALIKE)
    if near:
        return f"Did you mean {' or '.join(filter(None, (', '.join(near[:-1]), near[-1])))}?"
    if not names:
        return "There are none yet."
    more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    return f"Known: {', '.join(names[:MOST_LISTED])}{more}."
