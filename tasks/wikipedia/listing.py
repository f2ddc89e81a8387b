"""Which good articles were created in a window, with few requests.

A wiki says when a page came into a category, not when it was created; the latter costs a request
a page. Page ids rise with creation, so the members in order of their ids are halved until the
window's edges are found, and only what lies between is asked for. Imports, merged histories and
undeleted pages break that order: at each edge members are asked for until a margin of them in a
row lies outside, and every member between is confirmed by its first revision.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tasks.wikipedia.client import MediaWiki

STAMP = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class Member:
    """A page of the category of good articles."""

    page_id: int
    title: str
    listed_at: datetime
    """When its place in the category was last written: at the earliest when it was promoted."""


@dataclass(frozen=True)
class FirstRevision:
    """How a page began."""

    revision_id: int
    at: datetime


@dataclass(frozen=True)
class Looked:
    """What became known of the members: by page id how each began that was asked for (None: it is
    gone), and the lower edge."""

    first: dict[int, FirstRevision | None]
    low: int
    """Members before this index that were not asked for lie before the window, others after it."""


Ask = Callable[[Member], Awaitable[FirstRevision | None]]
"""The first revision of a page; None if the page is gone."""
Look = Callable[[int], Awaitable[FirstRevision | None]]
"""The same by a member's index; asked once."""
Beyond = Callable[[datetime], bool]


@dataclass(frozen=True)
class Window:
    """Articles created in [since, until)."""

    since: datetime
    until: datetime

    def place(self, at: datetime) -> int:
        """-1 before, 0 inside, 1 after."""
        return -1 if at < self.since else int(at >= self.until)


async def members_since(wiki: MediaWiki, category: str, since: datetime) -> list[Member]:
    """Members that a page created since then can be, by page id.

    A page is created, then listed as good; so `since` bounds the listing from below. From above
    nothing bounds it: a page of the window may be listed at any time after.
    """
    entries = wiki.listing(
        "categorymembers",
        cmtitle=category,
        cmnamespace=0,
        cmprop="ids|title|timestamp",
        cmsort="timestamp",
        cmdir="newer",
        cmstart=since.strftime(STAMP),
        cmlimit=500,
    )
    # A page that is listed again while we read comes twice.
    found = {
        entry["pageid"]: Member(entry["pageid"], entry["title"], parsed(entry["timestamp"]))
        async for entry in entries
    }
    return sorted(found.values(), key=lambda member: member.page_id)


async def first_revision(wiki: MediaWiki, member: Member) -> FirstRevision | None:
    """How a page began; a request for each page, the API gives no other way."""
    # Asked once: the continuation it offers would be all the other revisions.
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
    return FirstRevision(revisions[0]["revid"], parsed(revisions[0]["timestamp"]))


async def look_inside(members: Sequence[Member], window: Window, ask: Ask, margin: int) -> Looked:
    """The first revision of every member that may lie in the window.

    Args:
        members: by page id.
        ask: called once for each of them at most; several at once.

    A member that was not asked for lies outside by its page id, with `margin` confirmed ones in
    a row between it and the window.
    """
    known: dict[int, FirstRevision | None] = {}

    under_way: dict[int, asyncio.Task[FirstRevision | None]] = {}

    async def look(index: int) -> FirstRevision | None:
        if index not in under_way:
            under_way[index] = asyncio.ensure_future(ask(members[index]))
        known[members[index].page_id] = first = await under_way[index]
        return first

    n = len(members)
    low = await _edge(n, lambda at: window.place(at) >= 0, look, margin)
    high = await _edge(n, lambda at: window.place(at) > 0, look, margin)
    await asyncio.gather(
        _outward(range(low - 1, -1, -1), lambda at: window.place(at) < 0, look, margin),
        _outward(range(high, n), lambda at: window.place(at) > 0, look, margin),
        *(look(index) for index in range(low, high)),
    )
    return Looked(known, low)


async def _edge(n: int, beyond: Beyond, look: Look, margin: int) -> int:
    """The first index whose page lies beyond, if ids rise with creation.

    A page that breaks the order can send the search astray, so its neighbours have a vote:
    where most of those on one side are on the wrong one, the search goes on there.
    """
    low, high = 0, n
    while True:
        edge = await _halved(low, high, beyond, look)
        left = await _votes(range(max(low, edge - margin), edge), beyond, look)
        right = await _votes(range(edge, min(high, edge + margin)), beyond, look)
        if 2 * sum(left) > len(left):
            high = max(low, edge - margin)
        elif 2 * sum(right) < len(right):
            low = min(high, edge + margin)
        else:
            return edge


async def _halved(low: int, high: int, beyond: Beyond, look: Look) -> int:
    while low < high:
        probe = middle = (low + high) // 2
        first = await look(probe)
        while first is None and probe + 1 < high:  # gone: its neighbour tells as much
            probe += 1
            first = await look(probe)
        if first is None or beyond(first.at):
            high = middle
        else:
            low = probe + 1
    return low


async def _votes(indices: Sequence[int], beyond: Beyond, look: Look) -> list[bool]:
    """Of each page there whether it lies beyond; those that are gone have no vote."""
    first = await asyncio.gather(*(look(index) for index in indices))
    return [beyond(revision.at) for revision in first if revision]


async def _outward(indices: Sequence[int], outside: Beyond, look: Look, margin: int) -> None:
    """Look on until `margin` pages in a row lie outside on this side, or are gone."""
    in_a_row = 0
    for index in indices:
        first = await look(index)
        in_a_row = in_a_row + 1 if first is None or outside(first.at) else 0
        if in_a_row == margin:
            return


def parsed(stamp: str) -> datetime:
    """A timestamp of MediaWiki's, in UTC."""
    return datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)
