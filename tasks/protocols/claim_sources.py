"""Whether an answer rests on what was banned: the article its question was made of, or a copy."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from tasks.extraction.answers import AnsweredClaim
from tasks.extraction.urls import normalise_url, same_page
from tasks.protocols.redirects import Redirects, addresses

NOTHING_BANNED = "not_assessed: nothing is banned for this question"
NO_SOURCES = "no claim of the answer names a source"
Figure = tuple[float | None, int, int, str | None]
"""Numerator, items, open items, why there is no value."""


def leakage_figure(
    claims: Sequence[AnsweredClaim], banned: Sequence[str], redirects: Redirects
) -> Figure:
    """The claims that name a banned source, over those that name any; of the highest level.

    A claim answers for its sub-claims: their sources count as its own.
    """
    if not banned:
        return None, 0, 0, NOTHING_BANNED
    sourced = [sources for claim in claims if (sources := _sources(claim))]
    if not sourced:
        return None, 0, 0, NO_SOURCES
    leaked = sum(any(is_banned(url, banned, redirects) for url in each) for each in sourced)
    return float(leaked), len(sourced), 0, None


def is_banned(url: str, banned: Sequence[str], redirects: Redirects) -> bool:
    """Whether an address is one of the banned pages or lies on a banned host, or redirects to such
    an address: of pages that were fetched this is known."""
    return any(_named(each, banned) for each in addresses(url, redirects))


def _named(url: str, banned: Sequence[str]) -> bool:
    key = normalise_url(url)
    host = urlsplit(key).hostname or "" if key else ""
    return any(
        same_page(url, what) if "/" in what else host == what or host.endswith(f".{what}")
        for what in banned
    )


def _sources(claim: AnsweredClaim) -> tuple[str, ...]:
    below = [url for sub_claim in claim.sub_claims for url in _sources(sub_claim)]
    return (*claim.sources, *below)
