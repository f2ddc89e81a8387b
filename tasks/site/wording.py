"""Format numbers, dates and outcomes for pages."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from tasks.base import format_count
from tasks.metrics.ratios import rests_on_few
from tasks.warehouse.explanations import ReportScore

Tone = Literal["good", "bad", "poor", "open", "none"]
"""Colour of a mark: supported, conflicting, not supported, open, no result."""


@dataclass(frozen=True, slots=True)
class OutcomeMark:
    """The display of an outcome, never by colour alone."""

    sign: str
    word: str
    tone: Tone


MARKS = {
    "supported": OutcomeMark("✓", "supported", "good"),
    "partly_supported": OutcomeMark("◐", "supported in part", "poor"),
    "conflicting": OutcomeMark("✗", "conflicting", "bad"),
    "not_supported": OutcomeMark("○", "not supported", "poor"),
    "not_assessed": OutcomeMark("–", "not assessed", "none"),
    "uncited": OutcomeMark("–", "not assessed: no citation", "none"),
    "never_fetched": OutcomeMark("–", "not assessed: page never fetched", "none"),
    "unreachable": OutcomeMark("–", "not assessed: page could not be read", "none"),
    "untrusted": OutcomeMark("–", "not assessed: citations are unreliable", "none"),
    "open": OutcomeMark("?", "open: not decided yet", "open"),
    "unjudged": OutcomeMark("–", "not judged", "none"),
}
"""Marks of a claim's outcomes; `unjudged`: the judge has not judged the report yet, or does not
judge claims."""
LABELS = {
    "consistent": OutcomeMark("✓", "consistent", "good"),
    "inconsistent": OutcomeMark("✗", "contradicted", "bad"),
    "not_support": OutcomeMark("○", "not supported", "poor"),
    "support": OutcomeMark("✓", "supported", "good"),
    "conflict": OutcomeMark("✗", "conflicting", "bad"),
    "supported": OutcomeMark("✓", "supported", "good"),
    "unsupported": OutcomeMark("○", "not supported", "poor"),
    "full": OutcomeMark("✓", "supported", "good"),
    "partial": OutcomeMark("◐", "supported in part", "poor"),
    "none": OutcomeMark("○", "none", "poor"),
    "omitted": OutcomeMark("○", "omitted", "poor"),
    "contradicted": OutcomeMark("✗", "contradicted", "bad"),
    "report": OutcomeMark("✓", "the report is better", "good"),
    "reference": OutcomeMark("○", "the reference is better", "poor"),
}
"""Marks of verdicts' labels; other labels are shown as they are."""
FACT_LABELS = {
    "consistent": OutcomeMark("✓", "covered", "good"),
    "not_support": OutcomeMark("○", "not found", "poor"),
}
"""Marks of labels where a fact is searched in a report."""
COVERAGE, COVERAGE_ALL, CONFLICT = "coverage", "coverage_all", "conflict"
CONFLICT_LABELS = {
    "inconsistent": OutcomeMark("✗", "contradicts the reference", "bad"),
    "consistent": OutcomeMark("✓", "agrees with the reference", "good"),
    "not_support": OutcomeMark("–", "no contradiction with the reference", "none"),
}
"""Marks of labels where a claim is compared with the reference article."""
STEP_LABELS = {COVERAGE: FACT_LABELS, COVERAGE_ALL: FACT_LABELS, CONFLICT: CONFLICT_LABELS}
STATUSES = {
    "judge_error": OutcomeMark("?", "open: the judge did not answer", "open"),
    "unparsable": OutcomeMark("?", "open: the answer could not be read", "open"),
    "blocked": OutcomeMark("–", "blocked by the provider", "none"),
    "unfetchable": OutcomeMark("–", "page could not be read", "none"),
    "not_assessed": OutcomeMark("–", "not assessed", "none"),
    "skipped": OutcomeMark("–", "skipped", "none"),
}
"""Marks of the statuses of verdicts other than `ok`."""


def choose_mark(status: str, label: str | None, score: float | None, step: str) -> OutcomeMark:
    """Return the mark of a verdict: by its label if it is decided, else by its status."""
    if status != "ok":
        return STATUSES.get(status, OutcomeMark("?", status, "open"))
    if label is None:
        return OutcomeMark(
            "●", "rated" if score is None else f"rated {format_number(score)}", "none"
        )
    known = LABELS | STEP_LABELS.get(step, {})
    return known.get(label, OutcomeMark("●", label.replace("_", " "), "none"))


def format_number(value: float | int | None, digits: int = 2) -> str:
    """Format a number with thousands separators and without needless digits; a dash for None."""
    if value is None:
        return "–"
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.{digits}f}"


def format_figure(value: float | None, unit: str = "share") -> str:
    """Format a metric's value: shares in percent with one digit, numbers with two."""
    if value is None:
        return "–"
    return f"{value * 100:z.1f}" if unit == "share" else f"{value:z,.2f}"


def format_interval(low: float | None, high: float | None, unit: str = "share") -> str:
    """Format an interval: `20.9–24.0`, with `to` if an end is negative; empty without one."""
    if low is None or high is None:
        return ""
    ends = format_figure(low, unit), format_figure(high, unit)
    return (" to " if any(end.startswith("-") for end in ends) else "–").join(ends)


def format_refused(score: ReportScore, unit: str = "share") -> str:
    """Say, after a figure's title, how many of its items the judge refused, and what it would be
    had it decided them; empty if it refused none."""
    if not score.n_blocked and score.bound_low is None:
        return ""
    bounds = format_interval(score.bound_low, score.bound_high, unit) or "no bounds"
    return f" (refused: {format_count(score.n_blocked or 0, 'item')}; with them: {bounds})"


def format_basis(n_items: int, n_reports: int, n_delivered: int | None) -> str:
    """Format what a figure rests on: its items, and its reports if they are few."""
    few = rests_on_few(n_reports, n_delivered)
    reports = f", only {n_reports:,} of {n_delivered:,} reports" if few else ""
    return f"{format_count(n_items, 'item')}{reports}"


NOT_RANKED = "not ranked"
"""In the place of the rank of an agent that is listed apart."""


def format_ranks(first: int | None, last: int | None) -> str:
    """Format a rank range: `2–4`, `1`, or a dash for an agent without a figure."""
    if first is None or last is None:
        return "–"
    return str(first) if first == last else f"{first}–{last}"


def format_reason(text: str | None) -> str:
    """Format why there is no figure; a leading status (`not_assessed: …`) becomes words."""
    status, colon, why = (text or "").partition(":")
    return f"{status.replace('_', ' ') if status in STATUSES else status}{colon}{why}"


def format_dollars(value: float | None) -> str:
    """Format US dollars; a dash if unknown."""
    if value is None:
        return "–"
    return f"${value:,.2f}" if value >= 0.1 or value == 0 else f"${value:.4f}"


def format_moment(value: datetime | None) -> str:
    """Format a time: `2026-11-22 14:05 UTC`."""
    return f"{value:%Y-%m-%d %H:%M} UTC" if value else "–"


def format_day(value: datetime | None) -> str:
    return f"{value:%Y-%m-%d}" if value else "–"


def format_size(n_bytes: int) -> str:
    """Format a size: `12 kB`, `3.4 MB`."""
    if n_bytes < 1_000_000:
        return f"{max(1, round(n_bytes / 1000)):,} kB"
    return f"{n_bytes / 1_000_000:,.1f} MB"
