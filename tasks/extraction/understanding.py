"""What the offline extractor understands of a report."""

from tasks.base import format_count
from tasks.extraction.claims import extract_claims
from tasks.processes.answers import HelperFailed
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import HELPERS, TEXT_SECONDS


def describe_understood(text: str) -> str:
    """Count what the offline extractor finds in a report, and say why it is not reliable which
    claim cites what, if it is not: `900 words, 40 claims, …`. Never raises."""
    found = extract_claims("", text)
    reason = f"; {found.pairs_reason}" if found.pairs_reason else ""
    return (
        f"{format_count(len(text.split()), 'word')}, {format_count(len(found), 'claim')}, "
        f"{format_count(found.n_markers, 'citation marker')} ({found.n_resolved:,} lead to an "
        f"address), {format_count(found.n_entries, 'list entry', 'list entries')} with an "
        f"address{reason}"
    )


def describe_in_helper(text: str) -> str:
    """The same within a helper's limits; beyond them it says so."""
    try:
        return HELPERS.submit(describe_understood, text, seconds=TEXT_SECONDS).result()
    except (LimitExceeded, HelperFailed) as error:
        return f"reading it {error}"
