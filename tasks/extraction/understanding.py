"""What the offline extractor understands of a report."""

from collections import Counter

from tasks.base import format_count
from tasks.extraction.claims import extract_claims
from tasks.extraction.languages import count_words, is_wide
from tasks.processes.answers import HelperFailed
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import TEXT_SECONDS, HelperProcesses

NOT_RELIABLE = "; not reliable: "
"""Comes before the reason why it is not known which claim cites what."""


def describe_understood(text: str) -> str:
    """Count what the offline extractor finds in a report, and say why it is not reliable which
    claim cites what, if it is not: `900 words, 40 claims (…), …`. Never raises."""
    found = extract_claims("", text)
    kinds = Counter(claim.citations[0].kind for claim in found.claims if claim.citations)
    cited = (
        f" (cited by their own markers {kinds['explicit']:,}, by others of their paragraph "
        f"{kinds['paragraph']:,}, by later ones {kinds['inferred']:,})"
    )
    n_words = count_words(text) if is_wide(text) else len(text.split())
    reason = f"{NOT_RELIABLE}{found.pairs_reason}" if found.pairs_reason else ""
    return (
        f"{format_count(n_words, 'word')}, {format_count(len(found), 'claim')}"
        f"{cited if kinds else ''}, {format_count(found.n_markers, 'citation marker')} "
        f"({found.n_resolved:,} lead to a URL), "
        f"{format_count(found.n_entries, 'list entry', 'list entries')} with a URL{reason}"
    )


def describe_in_helper(helpers: HelperProcesses, text: str) -> str:
    """The same within a helper's limits; beyond them it says so."""
    try:
        return helpers.submit(describe_understood, text, seconds=TEXT_SECONDS).result()
    except (LimitExceeded, HelperFailed) as error:
        return f"reading it {error}"
