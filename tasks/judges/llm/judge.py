"""The LLM judge: it asks the questions of `judges/questions` of a model, and a fallback about the
items that the model refuses."""

import asyncio
from collections.abc import Sequence

from tasks.base import Frozen
from tasks.configuration.folders import list_files
from tasks.judges.decisions import (
    DecisionRequest,
    Judge,
    JudgeAnswer,
    StepAnswer,
    StepRequest,
    ValueT,
)
from tasks.judges.llm.excerpts import EXCERPT_VERSION
from tasks.judges.llm.prompts import load_prompt
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.questions.extract_statements import (
    ExtractClaims,
    ExtractedStatement,
    ExtractFacts,
)
from tasks.judges.questions.registry import check_declared, forms_sha, list_questions
from tasks.warehouse.rows import OPEN_STATUSES, Status, content_sha


class LlmJudge(PromptedModel):
    """A judge and extractor that uses a model of `configs/judges.yaml`."""

    sees_conflict = True
    lexical = False
    cpu_bound = False
    fallback: Judge | None = None
    """Asked about the items that it refuses, if its session has opened it."""

    @property
    def decides(self) -> frozenset[type[Frozen]]:
        """All questions: each says how a model is asked."""
        return frozenset[type[Frozen]](list_questions())

    def prompt_sha(self, protocol: str) -> str:
        """Return the sha of a protocol's prompts and of how they are sent."""
        files = list_files(f"prompts/{protocol}", [".md"])
        prompts = [f"{path.stem} {load_prompt(protocol, path.stem).sha}" for path in files.values()]
        together = str(self.entry.claims_per_call)
        items = ["schema names items"] if self.entry.schema_names_items else []
        parameters = self._parameters(1).canonical()
        return content_sha(*prompts, parameters, together, forms_sha(protocol), *items)

    def page_key_parts(self, longest_bytes: int, max_claims: int) -> tuple[str, ...]:
        """Return what sets these requests apart from those on short pages with few statements."""
        reading = []
        if longest_bytes > self.page_bytes:
            reading.append(f"excerpts {EXCERPT_VERSION} of {self.page_bytes} {self.notice().sha}")
        if max_claims > self.entry.page_claims_per_call:
            reading.append(f"at most {self.entry.page_claims_per_call} statements a call")
        return tuple(reading)

    async def decide(self, request: DecisionRequest) -> Sequence[JudgeAnswer]:
        check_declared(request)
        answers = await request.ask(self)
        return await ask_fallback(self.fallback, request, answers) if self.fallback else answers

    async def answer(self, request: StepRequest[ValueT]) -> StepAnswer[ValueT]:
        """Answer a request as a whole."""
        check_declared(request)
        return await request.ask(self)

    async def extract(
        self, request: ExtractFacts | ExtractClaims, *, again: bool = False
    ) -> StepAnswer[tuple[ExtractedStatement, ...]]:
        """Extract the statements of a text. again: ask about the empty list that it answered."""
        check_declared(request)
        return await request.ask(self, again=again)


async def ask_fallback(
    fallback: Judge, request: DecisionRequest, answers: Sequence[JudgeAnswer]
) -> list[JudgeAnswer]:
    """Return the answers, with those of the fallback for the items that are blocked.

    It is asked about each refused call on its own: what it has answered is then bought once, also
    if the judge refuses more of them in a later run.
    """
    found, refused = list(answers), dict[str | None, list[int]]()
    for index, answer in enumerate(answers):
        if answer.status is Status.BLOCKED:
            refused.setdefault(answer.call_id, []).append(index)
    requests = [request.select(indices) for indices in refused.values()]
    asked = await asyncio.gather(*map(fallback.decide, requests))
    for indices, theirs in zip(refused.values(), asked, strict=True):
        for index, answer in zip(indices, theirs, strict=True):
            found[index] = _combine(answers[index], answer, fallback.name)
    return found


def _combine(refused: JudgeAnswer, answer: JudgeAnswer, fallback: str) -> JudgeAnswer:
    """Return what a fallback decided. Its failure leaves the item open; if it cannot decide, or
    refuses too, the item stays blocked, with both reasons."""
    changed: dict[str, object] = {"decided_by": fallback, "refused_call": refused.call_id}
    if answer.status is not Status.OK:
        changed["reason"] = f"{refused.reason}; {fallback}: {answer.reason}"
        if answer.status not in OPEN_STATUSES:
            changed["status"] = Status.BLOCKED
    return answer.model_copy(update=changed)
