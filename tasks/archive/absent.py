"""Look up whether cited addresses that lead nowhere ever existed: look at each a second time, then
ask the Wayback Machine. Every answer is committed as it comes, and nobody is asked twice.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from datetime import datetime, timedelta
from typing import Literal

from tasks.archive.fetch import OnProgress, build_fetch_row, leave_busy_hosts
from tasks.configuration.web import load_web
from tasks.pending.absent import AbsentAddress, find_absent, take_look
from tasks.pending.pages import find_reachable_urls
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.pages import AbsentPage, Fetch, FetchSource
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tasks.web.errors import FetchFailed, HostsBusy, PageDeferred, ServiceUnusable
from tasks.web.existence import CaptureIndex, Holdings
from tasks.web.fetcher import Fetcher, open_fetcher
from tasks.web.hosts import LONGEST_WISH_SECONDS
from tasks.web.page import FetchResult, PageRequest
from tasks.web.resolver import Lookup
from tasks.web.services import RUN_AGAIN

KNOWN = """
(SELECT asked_url AS url FROM fetches WHERE source = 'wayback' AND http_status = 200
    ORDER BY fetched_at DESC, url LIMIT 1)
UNION ALL
(SELECT raw_url FROM article_links
    WHERE edition = $1 AND archive_url LIKE '%//web.archive.org/web/%' ORDER BY ALL LIMIT 1)
"""
"""Addresses that the archive has: of a page that came from there, and of one in a reference."""
State = Literal["never_existed", "gone", "unknown"]


class AbsenceLookup:
    """Looks up an edition's addresses, one by one.

    Args:
        lookup: resolves names instead of the system's resolver.
        clock: tells the time.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        edition: str,
        *,
        lookup: Lookup | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._warehouse = warehouse
        self._edition = edition
        self._lookup = lookup
        self._clock = clock
        self._settings = load_web()
        self._pause = timedelta(hours=self._settings.second_look_hours)

    async def run(
        self, todo: Sequence[AbsentAddress], on_progress: OnProgress = lambda n: None
    ) -> None:
        """Do what addresses need; what a second look does not find either is asked about at once.

        Raises:
            FetchingStopped: the network is down, or the archive cannot be asked, or not believed,
                now. What is left stays pending.
        """
        if looks := [address for address in todo if address.need == "look"]:
            async with self._open_fetcher("direct") as fetcher:
                await self._look_again(fetcher, looks)
            todo = find_absent(self._warehouse, self._edition, self._clock())
        for address in todo:
            if address.need == "note":
                await self._keep(address, "unknown", address.reason, {})
        asked = [address for address in todo if address.need == "ask"]
        on_progress(len(todo) - len(asked))
        if asked:
            async with self._open_fetcher("wayback") as fetcher:
                leave_busy_hosts(self._warehouse, fetcher)
                await self._ask_all(
                    CaptureIndex(self._settings, fetcher.source), asked, on_progress
                )

    def _open_fetcher(self, source: FetchSource) -> AbstractAsyncContextManager[Fetcher]:
        store = PageStore(pages_folder(self._warehouse.location))
        return open_fetcher(self._settings, store, source, self._lookup)

    async def _look_again(self, fetcher: Fetcher, todo: Sequence[AbsentAddress]) -> None:
        """Request addresses again. A page that comes after all is there to be read."""
        by_url = {address.url: address for address in todo}

        async def keep(page: PageRequest, fetched: FetchResult) -> None:
            row = build_fetch_row(self._edition, page, fetched)
            row = row.model_copy(update={"fetched_at": self._clock()})
            address = by_url[page.url]
            looks = (*address.evidence.looks, take_look(row))
            if fetched.is_temporary_error:  # `fetch` itself looks at it again
                row = row.model_copy(update={"outcome": "unreached"})
            reason = f"another look: {fetched.error or f'HTTP {fetched.http_status}'}"
            new = {"looks": looks, "due_at": self._clock()}
            answer = Change(Fetch, [row] if row.sha else [])
            await self._keep(address, "unknown", reason, new, answer)

        leave_busy_hosts(self._warehouse, fetcher)
        wanted = [PageRequest(url=a.url, addresses=(a.evidence.address or a.url,)) for a in todo]
        reachable = find_reachable_urls(self._warehouse, self._edition)
        with suppress(HostsBusy):  # those get their second look in a later run
            await fetcher.fetch_all(wanted, keep, reachable)

    async def _ask_all(
        self, index: CaptureIndex, asked: Sequence[AbsentAddress], on_progress: OnProgress
    ) -> None:
        """Ask the archive about addresses, unless it does not find one that it has."""
        archived = self._warehouse.frame(KNOWN, [self._edition])["url"]
        known: str | None = None
        for address in asked:
            evidence = address.evidence
            whole_host = any(look.no_host for look in evidence.looks)
            try:
                known = known or await index.find_known(archived)
                holdings = await index.find(evidence.address or "", whole_host=whole_host)
            except FetchFailed as error:
                await self._keep_failure(address, error)
            else:
                state, reason = decide(holdings)
                new = {"holdings": holdings, "known": known, "due_at": None}
                await self._keep(address, state, reason, new)
            on_progress(1)

    async def _keep_failure(self, address: AbsentAddress, error: FetchFailed) -> None:
        """Note that the archive gave no answer, and when it is asked again.

        Raises:
            ServiceUnusable: it has none for others either.
        """
        wish = timedelta(seconds=min(error.hint_seconds or 0, LONGEST_WISH_SECONDS))
        until = self._clock() + max(self._pause, wish)
        is_closed = isinstance(error, PageDeferred)
        new = {"due_at": until} | ({"closed_until": until} if is_closed else {})
        await self._keep(address, "unknown", str(error), new)
        if is_closed or error.retryable:
            raise ServiceUnusable(f"{error}. {RUN_AGAIN}")

    async def _keep(
        self,
        address: AbsentAddress,
        state: State,
        reason: str,
        new: Mapping[str, object],
        *changes: Change,
    ) -> None:
        """Write an address's row. new: what is known beside the address's evidence so far."""
        evidence = address.evidence.model_copy(update=new)
        row = AbsentPage(
            edition=self._edition,
            url=address.url,
            state=state,
            reason=reason,
            evidence=evidence.model_dump_json(exclude_none=True),
            checked_at=self._clock(),
        )
        await self._warehouse.write_async(*changes, Change(AbsentPage, [row]))


def decide(holdings: Holdings) -> tuple[State, str]:
    """Return the state of an address that two looks did not find, and why."""
    if holdings.snapshot or holdings.has_content:
        return "gone", "an archive has it"
    if holdings.captures:
        return "unknown", "the archive has only errors of it"
    if holdings.host_captures:
        return "unknown", "the archive has other pages of its host"
    host = "" if holdings.host_captures is None else ", nor of its host"
    return "never_existed", f"two looks hours apart found nothing, and the archive has none{host}"
