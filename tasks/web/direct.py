"""A page from its own server: as reports wrote its address, tried again where that may help."""

from tasks.configuration.web import Manners
from tasks.models.client import retry_after
from tasks.warehouse.page_store import PageStore
from tasks.web.bodies import Body, Kept
from tasks.web.errors import Disallowed, Failed, LeftAlone, Refused, TooLarge, Unfetched
from tasks.web.hosts import Turns
from tasks.web.page import Wanted
from tasks.web.retrying import ASKS_TO_WAIT, heals, retrying, seconds
from tasks.web.trail import Trail
from tasks.web.visiting import Answer, Permit, Visitor
from tasks.web.ways import Finding

MOST_SPELLINGS = 3
"""Of an address. Reports write one with and without `www.`, a slash, a tracking parameter."""
NO_SUCH_PAGE = frozenset({404, 410})


class Direct:
    """Asks the servers of pages."""

    def __init__(
        self, visitor: Visitor, turns: Turns, manners: Manners, store: PageStore, permit: Permit
    ) -> None:
        self._visitor = visitor
        self._turns = turns
        self._manners = manners
        self._store = store
        self._permit = permit

    async def fetch(self, wanted: Wanted) -> Finding:
        """One page. Any whole answer counts, whatever its status: it is evidence for the reader.

        Another spelling of its address is asked where one is refused, brings nothing in all
        tries, or is no page of the server; the first that was asked says what went wrong.

        Raises:
            LeftAlone: the page may come in another run, not in this one.
            UnwritableWarehouse: the page could not be kept.
        """
        trail = Trail("direct", wanted.url)
        spellings = list(dict.fromkeys(wanted.addresses))[:MOST_SPELLINGS] or [wanted.url]
        first: Finding | None = None
        left_alone: LeftAlone | None = None
        for number, address in enumerate(spellings, 1):
            trail.asked = address
            try:
                kept = await self._kept(trail, another=number < len(spellings))
            except LeftAlone as error:
                left_alone = error
            except Unfetched as error:
                if isinstance(error, Failed) and error.stage != "answering":
                    self._turns.silent(wanted.url, error)
                found = Finding(trail.done(error.outcome, error=str(error)), _reached(error))
                if first is None or first.fetched.outcome == "refused":
                    first = found
                if isinstance(error, Disallowed | TooLarge):
                    break
            else:
                assert trail.answered_at is not None
                return Finding(trail.done("fetched", kept=kept), True, trail.answered_at)
        if left_alone:
            raise left_alone
        assert first is not None
        whole = {"tries": trail.tries, "seconds": found.fetched.seconds}
        return Finding(first.fetched.model_copy(update=whole), first.reached, first.at)

    async def _kept(self, trail: Trail, *, another: bool) -> Kept:
        """The body of the first answer that counts.

        another: whether there is another spelling to ask.
        """
        left = max(1, self._manners.tries - trail.tries)
        async for attempt in retrying(self._manners, left):
            with attempt:
                last = attempt.retry_state.attempt_number >= left
                async with Body(self._store) as body:
                    async with self._visitor.visit(trail, permit=self._permit) as answer:
                        self._pass_over(answer, last, another)
                        await body.take(answer.pieces())
                    return await body.keep()
        raise AssertionError("tenacity returns or raises")

    def _pass_over(self, answer: Answer, last: bool, another: bool) -> None:
        """Raise Failed for an answer that is not taken: there may be a better one."""
        status, host = answer.status, answer.host
        if status in NO_SUCH_PAGE and another:
            raise Failed(f"{host} answered HTTP {status}", host=host)
        if not heals(status):
            return
        hint = retry_after(answer.headers)
        if hint is not None and hint > self._manners.longest_wait_seconds:
            words = f"{host} asks to be left alone for {seconds(hint)} (HTTP {status})"
            self._turns.leave_alone(host, words)
            return
        if status == 429 or (status in ASKS_TO_WAIT and hint):
            self._turns.put_off(host, hint or self._manners.first_wait_seconds)
        if not last:
            raise Failed(f"{host} answered HTTP {status}", host=host, heals=True, hint_seconds=hint)


def _reached(error: Unfetched) -> bool | None:
    if isinstance(error, Failed):
        return {"connecting": False, "waiting": None, "answering": True}[error.stage]
    return None if isinstance(error, Refused | Disallowed) else True
