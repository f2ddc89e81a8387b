"""Check a judge with one cheap call that is not stored."""

from contextlib import AbstractAsyncContextManager, nullcontext

from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.judges.registry import load_judge
from tasks.judging.clients import open_client
from tasks.judging.preconditions import check_judge, find_current_price
from tasks.models.errors import Misconfigured
from tasks.models.gateway import Gateway
from tasks.models.live_sender import LiveSender
from tasks.models.prices import Budget
from tasks.warehouse.calls import Call
from tasks.warehouse.rows import Status, utc_now

QUESTION = VerifyClaims(
    claims=("The bridge was opened in 1932.",),
    pool=("The bridge, opened in 1932, crosses the harbour.",),
    retrieved=((0,),),
)


class NoLedger:
    """A ledger that stores nothing, so that every check calls the model."""

    def lock_request(self, request_id: str) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def load_attempts(self, request_id: str) -> list[Call]:
        return []

    async def save(self, call: Call, *, replace: bool) -> None:
        """Forget it."""


async def check_judge_live(name: str, entry: LlmJudgeEntry) -> str:
    """Return the model version the judge answered as, its answer, and the call's cost.

    Raises:
        StopStage: a missing or wrong key, an unknown model or another version; says what to do.
        Misconfigured: its answer is unusable.
    """
    check_judge(name, entry, None, utc_now().date())
    price = find_current_price(entry)
    few = entry.retries.model_copy(update={"tries": 2, "rate_limit_tries": 2})
    sender = LiveSender(await open_client(name, entry), entry.limits, price, few)
    gateway = Gateway(sender, NoLedger(), answers_as=entry.answers_as, price=price, budget=Budget())
    try:
        [answer] = await load_judge(name, gateway).decide(QUESTION)
    finally:
        await gateway.close()
    if answer.status is not Status.OK:
        raise Misconfigured(f"The judge {name} gave no usable answer: {answer.reason}")
    cost = f"${gateway.spent:.6f}" if price else "price unknown"
    return f"answers as {answer.model_version}; said {answer.label} ({cost})."
