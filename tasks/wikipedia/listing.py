"""Find the good articles that were created in a time window, with few requests.

A wiki tells when a page entered a category, but its creation date costs a request per page. Page
ids rise with creation, so a binary search over the members' ids finds the window's edges, and
only members between them are requested. Imports, merged histories and undeleted pages break that
order: at each edge members are requested until a margin of them in a row lies outside, and every
member between is confirmed by its first revision.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tasks.wikipedia.client import MediaWiki

TIMESTAMP_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class CategoryMember:
    """A page in the category of good articles."""

    page_id: int
    title: str
    listed_at: datetime
    """When its category entry was last written, never before its promotion."""


@dataclass(frozen=True)
class FirstRevision:
    """A page's first revision."""

    revision_id: int
    at: datetime


@dataclass(frozen=True)
class DatedMembers:
    """The first revisions that were requested, by page id (None: the page is gone), and the lower
    edge."""

    first: dict[int, FirstRevision | None]
    low: int
    """Members not requested lie before the window if their index is lower, else after it."""


FetchFirst = Callable[[CategoryMember], Awaitable[FirstRevision | None]]
"""Fetches the first revision of a page; None if the page is gone."""
LookUp = Callable[[int], Awaitable[FirstRevision | None]]
"""The same by a member's index; each is fetched once."""
Beyond = Callable[[datetime], bool]


@dataclass(frozen=True)
class Window:
    """The time window [since, until) of article creation."""

    since: datetime
    until: datetime

    def position(self, at: datetime) -> int:
        """Return -1 before the window, 0 inside, 1 after."""
        return -1 if at < self.since else int(at >= self.until)


async def fetch_members(wiki: MediaWiki, category: str, since: datetime) -> list[CategoryMember]:
    """Fetch the members that may have been created since `since`, sorted by page id.

    A page is created before it is listed as good, so `since` bounds the listing from below.
    Nothing bounds it from above: a page of the window may be listed at any later time.
    """
    entries = wiki.list_entries(
        "categorymembers",
        cmtitle=category,
        cmnamespace=0,
        cmprop="ids|title|timestamp",
        cmsort="timestamp",
        cmdir="newer",
        cmstart=since.strftime(TIMESTAMP_FORMAT),
        cmlimit=500,
    )
    # A page that is listed again meanwhile comes twice.
    found = {
        entry["pageid"]: CategoryMember(
            entry["pageid"], entry["title"], parse_timestamp(entry["timestamp"])
        )
        async for entry in entries
    }
    return sorted(found.values(), key=lambda member: member.page_id)


async def fetch_first_revision(wiki: MediaWiki, member: CategoryMember) -> FirstRevision | None:
    """Fetch a page's first revision. The API has no way to fetch those of several pages."""
    # No continuation: it would bring all the other revisions.
    answer = await wiki.ask(
        action="query",
        pageids=member.page_id,
        prop="revisions",
        rvdir="newer",
        rvlimit=1,
        rvprop="ids|timestamp",
    )
    [page] = answer["query"]["pages"]
    revisions = page.get("revisions")
    if not revisions:
        return None
    return FirstRevision(revisions[0]["revid"], parse_timestamp(revisions[0]["timestamp"]))


async def find_first_revisions(
    members: Sequence[CategoryMember], window: Window, ask: FetchFirst, margin: int
) -> DatedMembers:
    """Find the first revision of every member that may lie in the window.

    Args:
        members: sorted by page id.
        ask: called at most once for each member, and concurrently.

    A member that is not requested lies outside by its page id, with `margin` confirmed ones in a
    row between it and the window.
    """
    known: dict[int, FirstRevision | None] = {}

    under_way: dict[int, asyncio.Task[FirstRevision | None]] = {}

    async def look(index: int) -> FirstRevision | None:
        if index not in under_way:
            under_way[index] = asyncio.ensure_future(ask(members[index]))
        known[members[index].page_id] = first = await under_way[index]
        return first

    n = len(members)
    low = await _find_edge(n, lambda at: window.position(at) >= 0, look, margin)
    high = await _find_edge(n, lambda at: window.position(at) > 0, look, margin)
    await asyncio.gather(
        _confirm_outward(range(low - 1, -1, -1), lambda at: window.position(at) < 0, look, margin),
        _confirm_outward(range(high, n), lambda at: window.position(at) > 0, look, margin),
        *(look(index) for index in range(low, high)),
    )
    return DatedMembers(known, low)


async def _find_edge(n: int, beyond: Beyond, look: LookUp, margin: int) -> int:
    """Find the first index whose page lies beyond, assuming that ids rise with creation.

    A page that breaks the order can mislead the search, so its neighbours vote: if most of those
    on one side contradict the edge, the search continues on that side.
    """
    low, high = 0, n
    while True:
        edge = await _bisect(low, high, beyond, look)
        left = await _collect_votes(range(max(low, edge - margin), edge), beyond, look)
        right = await _collect_votes(range(edge, min(high, edge + margin)), beyond, look)
        if 2 * sum(left) > len(left):
            high = max(low, edge - margin)
        elif 2 * sum(right) < len(right):
            low = min(high, edge + margin)
        else:
            return edge


async def _bisect(low: int, high: int, beyond: Beyond, look: LookUp) -> int:
    while low < high:
        probe = middle = (low + high) // 2
        first = await look(probe)
        while first is None and probe + 1 < high:  # gone: ask its neighbour instead
            probe += 1
            first = await look(probe)
        if first is None or beyond(first.at):
            high = middle
        else:
            low = probe + 1
    return low


async def _collect_votes(indices: Sequence[int], beyond: Beyond, look: LookUp) -> list[bool]:
    """Return whether each page lies beyond; deleted pages have no vote."""
    first = await asyncio.gather(*(look(index) for index in indices))
    return [beyond(revision.at) for revision in first if revision]


async def _confirm_outward(
    indices: Sequence[int], outside: Beyond, look: LookUp, margin: int
) -> None:
    """Continue until `margin` pages in a row lie outside on this side, or are gone."""
    in_a_row = 0
    for index in indices:
        first = await look(index)
        in_a_row = in_a_row + 1 if first is None or outside(first.at) else 0
        if in_a_row == margin:
            return


def parse_timestamp(stamp: str) -> datetime:
    """Parse a MediaWiki timestamp, in UTC."""
    return datetime.strptime(stamp, TIMESTAMP_FORMAT).replace(tzinfo=UTC)
