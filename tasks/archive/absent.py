"""Look up whether cited addresses that lead nowhere ever existed: look at each a second time, then
ask the Wayback Machine: its availability API and its CDX server, the list of all captures. Every
answer is committed as it comes, and nobody is asked twice.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from tasks.archive.fetch import OnProgress, build_fetch_row, leave_busy_hosts
from tasks.archive.lost_addresses import Holdings, Look, LostAddress, find_absent, found_nothing
from tasks.archive.pending import find_reachable_urls
from tasks.configuration.secrets import read_address
from tasks.configuration.web import WebSettings, load_web
from tasks.extraction.urls import normalise_url
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.pages import AbsentPage, AbsentState, Fetch, FetchSource
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tasks.web.errors import FetchFailed, HostsBusy, PageDeferred, ServiceUnusable
from tasks.web.fetcher import Fetcher, open_fetcher
from tasks.web.guard import Guard
from tasks.web.hosts import LONGEST_WISH_SECONDS
from tasks.web.page import FetchResult, PageRequest
from tasks.web.resolver import Lookup
from tasks.web.services import RUN_AGAIN, WAYBACK, WaybackSource, parse_answer
from tasks.web.sources import WebSource

SHOWN_CAPTURES = 50
"""The first captures of a page; if all of them are errors, nothing is concluded."""
_FIELDS = ("timestamp", "statuscode")
_Captures = TypeAdapter(list[tuple[str, str]])


class CaptureIndex:
    """Asks the Wayback Machine, for public addresses only, whether it has one. It treats http and
    https, with `www.` and without, as one."""

    def __init__(self, settings: WebSettings, wayback: WebSource) -> None:
        assert isinstance(wayback, WaybackSource)
        self._known = settings.existence.known
        self._guard = Guard(settings.allowed)
        self._wayback = wayback
        self._cdx = read_address(settings.wayback.cdx_url_env) or settings.wayback.cdx_url

    async def find_known(self) -> str:
        """Return the address of the configuration that the archive has, if both services find it.

        Raises:
            FetchFailed: they do not, so the archive is not believed.
        """
        found = await self.find(self._known)
        if not (found.snapshot and found.captures and found.has_page):
            words = f"does not find {self._known}, which it has, so what it lacks says nothing"
            raise FetchFailed(f"{WAYBACK} {words}")
        return self._known

    async def find(self, address: str, *, whole_host: bool = False) -> Holdings:
        """Return what the archive has of an address, also without its tracking parameters.

        whole_host: also what it has of the address's host.

        Raises:
            AddressRefused: the address is not public.
            FetchFailed: there is no valid answer; PageDeferred: the archive asks to be left alone.
        """
        asked, key = self._guard.check_url(address), normalise_url(address) or address
        is_tracked = urlsplit(key).query != urlsplit(asked.url).query
        snapshot: str | None = None
        captures: tuple[str, ...] = ()
        for spelling in (asked.url, key) if is_tracked else (asked.url,):
            if not snapshot:
                found = parse_answer(await self._wayback.ask(self._wayback.base, {"url": spelling}))
                snapshot = f"{found.url} {found.status}" if found else None
            captures += await self._list_captures(spelling, "exact", SHOWN_CAPTURES)
        host = await self._list_captures(asked.host, "host", 1) if whole_host else None
        return Holdings(snapshot=snapshot, captures=captures, host_captures=host)

    async def _list_captures(self, address: str, match: str, most: int) -> tuple[str, ...]:
        query = {"url": address, "matchType": match, "limit": str(most)}
        query |= {"output": "json", "fl": ",".join(_FIELDS)}
        text = await self._wayback.ask(self._cdx, query)
        try:
            head, *rows = _Captures.validate_json(text) or [_FIELDS]
        except ValidationError:
            head, rows = ("", ""), []
        if head != _FIELDS:
            raise FetchFailed(f"{WAYBACK} did not say which captures there are")
        return tuple(map(" ".join, rows))


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
        self, todo: Sequence[LostAddress], on_progress: OnProgress = lambda n: None
    ) -> None:
        """Look up addresses; what a second look does not find either is asked about at once.

        Raises:
            FetchingStopped: the network is down, or the archive cannot be asked, or not believed,
                now. What is left stays pending.
        """
        for lost in todo:
            if lost.objection:
                await self._warehouse.write_async(self._note(lost, "unknown", lost.objection))
        if looks := [lost for lost in todo if not lost.objection and not lost.is_certain]:
            async with self._open_fetcher("direct") as fetcher:
                await self._look_again(fetcher, looks)
        left = find_absent(self._warehouse, self._edition, self._clock())
        asked = [lost for lost in left if lost.is_certain and not lost.objection]
        on_progress(len(todo) - len(asked))
        if asked:
            async with self._open_fetcher("wayback") as fetcher:
                await self._ask_all(fetcher, asked, on_progress)

    def _open_fetcher(self, source: FetchSource) -> AbstractAsyncContextManager[Fetcher]:
        store = PageStore(pages_folder(self._warehouse.location))
        return open_fetcher(self._settings, store, source, self._lookup)

    async def _look_again(self, fetcher: Fetcher, todo: Sequence[LostAddress]) -> None:
        """Request addresses again. A page that comes after all is there to be read."""
        by_url = {lost.url: lost for lost in todo}

        async def keep(page: PageRequest, fetched: FetchResult) -> None:
            lost, now = by_url[page.url], self._clock()
            row = build_fetch_row(self._edition, page, fetched)
            row = row.model_copy(update={"fetched_at": now})
            said = f"another look: {fetched.error or f'HTTP {fetched.http_status}'}"
            looks, due, answer = lost.evidence.looks, now + self._pause, Change(Fetch, [])
            if found_nothing(row):
                looks = (*looks, Look(at=now, status=row.http_status))
                due = now if len(looks) > 1 else due
            elif row.sha and not fetched.is_temporary_error:
                answer = Change(Fetch, [row])
            due_at = None if answer.rows else due
            note = self._note(lost, "unknown", said, due_at=due_at, looks=looks)
            await self._warehouse.write_async(answer, note)

        leave_busy_hosts(self._warehouse, fetcher)
        wanted = [PageRequest(url=a.url, addresses=(a.evidence.address,)) for a in todo]
        reachable = find_reachable_urls(self._warehouse, self._edition)
        with suppress(HostsBusy):  # those get their second look in a later run
            await fetcher.fetch_all(wanted, keep, reachable)

    async def _ask_all(
        self, fetcher: Fetcher, asked: Sequence[LostAddress], on_progress: OnProgress
    ) -> None:
        leave_busy_hosts(self._warehouse, fetcher)
        index = CaptureIndex(self._settings, fetcher.source)
        for place, lost in enumerate(asked):
            try:
                await self._ask(index, lost)
            except FetchFailed as error:  # about no address: it is busy, or not believed
                wish = timedelta(seconds=min(error.hint_seconds or 0, LONGEST_WISH_SECONDS))
                until = self._clock() + max(self._pause, wish)
                left = asked[place:]
                await self._warehouse.write_async(
                    *(self._note(each, "unknown", str(error), due_at=until) for each in left)
                )
                raise ServiceUnusable(f"{error}. {RUN_AGAIN}") from None
            on_progress(1)

    async def _ask(self, index: CaptureIndex, lost: LostAddress) -> None:
        """Ask the archive about an address. If it has none, it must find one that it has.

        Raises:
            FetchFailed: it does not, or asks to be left alone.
        """
        whole_host = any(look.status is None for look in lost.evidence.looks)
        holdings = None
        try:
            holdings = await index.find(lost.evidence.address, whole_host=whole_host)
            state, reason = decide(holdings)
        except PageDeferred:
            raise
        except FetchFailed as error:
            state, reason = "unknown", str(error)
        is_settled = holdings and state != "never_existed"
        known = None if is_settled else await index.find_known()
        new = {"holdings": holdings, "known": known}
        due_at = None if holdings else self._clock() + self._pause
        await self._warehouse.write_async(self._note(lost, state, reason, due_at=due_at, **new))

    def _note(
        self,
        lost: LostAddress,
        state: AbsentState,
        reason: str,
        *,
        due_at: datetime | None = None,
        **evidence: object,
    ) -> Change:
        """Return the row of an address. evidence: what is known beside its evidence so far."""
        known = lost.evidence.model_copy(update=evidence)
        return Change(AbsentPage, [AbsentPage(
            edition=self._edition, url=lost.url, state=state, reason=reason,
            evidence=known.model_dump_json(exclude_none=True),
            checked_at=self._clock(), due_at=due_at,
        )])  # fmt: skip


def decide(holdings: Holdings) -> tuple[AbsentState, str]:
    """Return the state of an address that two looks did not find, and why."""
    if holdings.has_page:
        return "gone", "an archive has it"
    if holdings.snapshot or holdings.captures:
        return "unknown", "the archive has only errors of it"
    if holdings.host_captures:
        return "unknown", "the archive has other pages of its host"
    host = "" if holdings.host_captures is None else ", nor of its host"
    return "never_existed", f"two looks hours apart found nothing, and the archive has none{host}"
