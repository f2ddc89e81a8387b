"""Whether an answer rests on what was banned: the article its question was made of, or a copy."""

from collections.abc import Sequence

from tasks.extraction.answers import AnsweredClaim
from tasks.extraction.banned import Banned, read_banned
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

    Raises:
        UnreadableBan: what is banned cannot be read.
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
    an address, or to where a banned page redirects: of pages that were fetched this is known.

    Raises:
        UnreadableBan: what is banned cannot be read.
    """
    named = read_banned(banned)
    pages = tuple(each for page in named.pages for each in addresses(page, redirects))
    all_of_it = Banned(pages=pages, hosts=named.hosts)
    return any(all_of_it.names(each) for each in addresses(url, redirects))


def _sources(claim: AnsweredClaim) -> tuple[str, ...]:
    below = [url for sub_claim in claim.sub_claims for url in _sources(sub_claim)]
    return (*claim.sources, *below)
