"""Numbers, dates and outcomes in the words and signs of the pages."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Tone = Literal["good", "bad", "poor", "open", "none"]
"""How a mark is coloured: supported, conflicting, not supported, to be decided, nothing to say."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How an outcome is shown: never by colour alone."""

    sign: str
    word: str
    tone: Tone


MARKS = {
    "supported": Mark("✓", "supported", "good"),
    "partly_supported": Mark("◐", "supported in part", "poor"),
    "conflicting": Mark("✗", "conflicting", "bad"),
    "not_supported": Mark("○", "not supported", "poor"),
    "not_assessed": Mark("–", "not assessed", "none"),
    "uncited": Mark("–", "not assessed: no citation", "none"),
    "never_fetched": Mark("–", "not assessed: page never fetched", "none"),
    "unreachable": Mark("–", "not assessed: page could not be read", "none"),
    "untrusted": Mark("–", "not assessed: citations cannot be told", "none"),
    "open": Mark("?", "open: still to be decided", "open"),
    "unjudged": Mark("–", "not judged", "none"),
}
"""Of a claim, by its outcome; `unjudged` where a judge has none, as it has not begun with the
report, or decides nothing about claims."""
LABELS = {
    "consistent": Mark("✓", "consistent", "good"),
    "inconsistent": Mark("✗", "contradicted", "bad"),
    "not_support": Mark("○", "not supported", "poor"),
    "support": Mark("✓", "supported", "good"),
    "conflict": Mark("✗", "conflicting", "bad"),
    "supported": Mark("✓", "supported", "good"),
    "unsupported": Mark("○", "not supported", "poor"),
    "full": Mark("✓", "supported", "good"),
    "partial": Mark("◐", "supported in part", "poor"),
    "none": Mark("○", "none", "poor"),
    "omitted": Mark("○", "omitted", "poor"),
    "contradicted": Mark("✗", "contradicted", "bad"),
    "report": Mark("✓", "the report is better", "good"),
    "reference": Mark("○", "the reference is better", "poor"),
}
"""Of a verdict, by its label; the others stand for themselves."""
OF_FACTS = {
    "consistent": Mark("✓", "covered", "good"),
    "not_support": Mark("○", "not found", "poor"),
}
"""The same where a fact is looked for in a report."""
COVERAGE, CONFLICT = "coverage", "conflict"
OF_CONFLICTS = {
    "inconsistent": Mark("✗", "contradicts the reference", "bad"),
    "consistent": Mark("✓", "agrees with the reference", "good"),
    "not_support": Mark("–", "no contradiction with the reference", "none"),
}
"""Where a claim is held against the reference article."""
SAID = {COVERAGE: OF_FACTS, CONFLICT: OF_CONFLICTS}
STATUSES = {
    "judge_error": Mark("?", "open: the judge did not answer", "open"),
    "unparsable": Mark("?", "open: the answer could not be read", "open"),
    "blocked": Mark("–", "blocked by the provider", "none"),
    "unfetchable": Mark("–", "page could not be read", "none"),
    "not_assessed": Mark("–", "not assessed", "none"),
    "skipped": Mark("–", "skipped", "none"),
}
"""Of a verdict that is not `ok`, by its status."""


def decision_mark(status: str, label: str | None, score: float | None, step: str) -> Mark:
    """How a verdict of a protocol's step is shown: by its label where it is decided, else by why
    it is not."""
    if status != "ok":
        return STATUSES.get(status, Mark("?", status, "open"))
    if label is None:
        return Mark("●", "rated" if score is None else f"rated {number(score)}", "none")
    known = LABELS | SAID.get(step, {})
    return known.get(label, Mark("●", label.replace("_", " "), "none"))


def number(value: float | int | None, digits: int = 2) -> str:
    """With thousands apart, no more digits than it has; a dash for nothing."""
    if value is None:
        return "–"
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.{digits}f}"


def figure(value: float | None, unit: str = "share") -> str:
    """A metric's value: shares in percent with one digit, numbers with two."""
    if value is None:
        return "–"
    return f"{value * 100:.1f}" if unit == "share" else f"{value:,.2f}"


def interval(low: float | None, high: float | None, unit: str = "share") -> str:
    """`20.9–24.0`, with words between the ends where one is negative; empty without one."""
    if low is None or high is None:
        return ""
    dash = " to " if low < 0 or high < 0 else "–"
    return f"{figure(low, unit)}{dash}{figure(high, unit)}"


def items(n: int) -> str:
    return "1 item" if n == 1 else f"{n:,} items"


def ranks(first: int | None, last: int | None) -> str:
    """`2–4`, `1`, or a dash for an agent without a figure."""
    if first is None or last is None:
        return "–"
    return str(first) if first == last else f"{first}–{last}"


def reason(said: str | None) -> str:
    """Why there is no figure; a status that it begins with (`not_assessed: …`) in words."""
    status, colon, why = (said or "").partition(":")
    return f"{status.replace('_', ' ') if status in STATUSES else status}{colon}{why}"


def dollars(value: float | None) -> str:
    """US dollars; a dash where unknown."""
    if value is None:
        return "–"
    return f"${value:,.2f}" if value >= 0.1 or value == 0 else f"${value:.4f}"


def moment(value: datetime | None) -> str:
    """`2026-11-22 14:05 UTC`."""
    return f"{value:%Y-%m-%d %H:%M} UTC" if value else "–"


def day(value: datetime | None) -> str:
    return f"{value:%Y-%m-%d}" if value else "–"


def size(n_bytes: int) -> str:
    """`12 kB`, `3.4 MB`."""
    if n_bytes < 1_000_000:
        return f"{max(1, round(n_bytes / 1000)):,} kB"
    return f"{n_bytes / 1_000_000:,.1f} MB"
