"""Detect answers that cite banned sources: the article behind the question, or a copy of it."""

from collections.abc import Sequence

from tasks.extraction.answers import AnsweredClaim
from tasks.extraction.bans import BanList, parse_bans
from tasks.protocols.figures import FigureValues
from tasks.protocols.redirects import Redirects, redirect_chain

NOTHING_BANNED = "not_assessed: nothing is banned for this question"
NO_SOURCES = "no claim of the answer names a source"


def compute_leakage(
    claims: Sequence[AnsweredClaim], banned: Sequence[str], redirects: Redirects
) -> FigureValues:
    """Return top-level claims with a banned source over those with any source.

    The sources of sub-claims count as their claim's own.

    Raises:
        InvalidBan: a ban cannot be parsed.
    """
    if not banned:
        return FigureValues(None, reason=NOTHING_BANNED)
    sourced = [sources for claim in claims if (sources := _collect_sources(claim))]
    if not sourced:
        return FigureValues(None, reason=NO_SOURCES)
    leaked = sum(any(is_banned(url, banned, redirects) for url in each) for each in sourced)
    return FigureValues(float(leaked), len(sourced))


def is_banned(url: str, banned: Sequence[str], redirects: Redirects) -> bool:
    """Whether an address is a banned page or on a banned host, redirects to one, or redirects to
    where a banned page does. Redirects are known for fetched pages only.

    Raises:
        InvalidBan: a ban cannot be parsed.
    """
    named = parse_bans(banned)
    pages = tuple(each for page in named.pages for each in redirect_chain(page, redirects))
    bans = BanList(pages=pages, hosts=named.hosts)
    return any(bans.matches(each) for each in redirect_chain(url, redirects))


def _collect_sources(claim: AnsweredClaim) -> tuple[str, ...]:
    below = [url for sub_claim in claim.sub_claims for url in _collect_sources(sub_claim)]
    return (*claim.sources, *below)
