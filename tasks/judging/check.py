"""Whether a judge can be reached and answers as it should: one cheap call, kept nowhere."""

from contextlib import AbstractAsyncContextManager, nullcontext

from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.decisions import VerifyClaims
from tasks.judges.registry import judge
from tasks.judging.clients import open_client
from tasks.judging.preconditions import check_judge, price_today
from tasks.models.budget import Budget
from tasks.models.errors import Misconfigured
from tasks.models.gateway import Gateway
from tasks.models.live import LiveSender
from tasks.warehouse.calls import Call
from tasks.warehouse.rows import Status, utc_now

QUESTION = VerifyClaims(
    claims=("The bridge was opened in 1932.",),
    pool=("The bridge, opened in 1932, crosses the harbour.",),
    retrieved=((0,),),
)


class NoLedger:
    """A check is asked anew each time."""

    def alone(self, request_id: str) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def attempts(self, request_id: str) -> list[Call]:
        return []

    async def keep(self, call: Call, *, again: bool) -> None:
        """Forget it."""


async def check_judge_live(name: str, entry: LlmJudgeEntry) -> str:
    """What the judge answered as, and what one such call costs.

    Raises:
        StopsTheStage: no key, a wrong one, no such model, another version; says what to do.
        Misconfigured: it answered, but nothing that can be used.
    """
    check_judge(name, entry, None, utc_now().date())
    price = price_today(entry)
    few = entry.retries.model_copy(update={"tries": 2, "rate_limit_tries": 2})
    sender = LiveSender(await open_client(name, entry), entry.limits, price, few)
    gateway = Gateway(sender, NoLedger(), answers_as=entry.answers_as, price=price, budget=Budget())
    try:
        [answer] = await judge(name, gateway).decide(QUESTION)
    finally:
        await gateway.close()
    if answer.status is not Status.OK:
        raise Misconfigured(f"The judge {name} gave no usable answer: {answer.reason}")
    cost = f"${gateway.spent:.6f}" if price else "price unknown"
    return f"answers as {answer.model_version}; said {answer.label} ({cost})."
