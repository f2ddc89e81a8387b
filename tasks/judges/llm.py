"""The LLM judge: every decision of the seam by prompt and schema, through any model."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tasks.configuration.loading import CONFIGS
from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.decisions import (
    FIRST,
    NOT_SUPPORT,
    SECOND,
    TIE,
    Answer,
    CompareArticles,
    ExtractClaims,
    Extracted,
    ExtractFacts,
    Frozen,
    Statement,
    VerifyAgainstPage,
    VerifyClaims,
)
from tasks.judges.prompts import Prompt, load_prompt
from tasks.judges.replies import (
    ClaimVerdict,
    ClaimVerdicts,
    CriterionVerdicts,
    CriterionVerdictsOrTies,
    PageVerdict,
    PageVerdicts,
    ReplyModel,
    StatedClaims,
    StatedFacts,
    in_order,
    read,
    schema_for_items,
    schema_of,
)
from tasks.judges.text import one_line, stands_in
from tasks.models.exchange import ModelRequest, Parameters, Purpose, Turn
from tasks.models.gateway import Outcome
from tasks.models.prices import BYTES_PER_TOKEN
from tasks.warehouse.rows import Status, content_sha

ReplyT = TypeVar("ReplyT", bound=ReplyModel)
ValueT = TypeVar("ValueT")
AT_ONCE = 8
"""Prompts made in one go; then what has been answered meanwhile has its turn, so that making
prompts does not leave the model idle."""
WINNERS = {"article_1": FIRST, "article_2": SECOND, "tie": TIE}
NO_EVIDENCE = "no sentence of the other text shares a word with it; no model was asked"


class Asker(Protocol):
    """What a judge puts its requests to: the gateway, or something that only counts them."""

    async def ask(self, request: ModelRequest, read: Callable[[str], ValueT]) -> Outcome[ValueT]:
        """The value that `read` makes of the answer, or why there is none."""


class LlmJudge:
    """A model of `configs/judges.yaml`, asked through `asker`."""

    sees_conflict = True
    cpu_bound = False
    decides: frozenset[type[Frozen]] = frozenset(
        {VerifyClaims, VerifyAgainstPage, CompareArticles, ExtractFacts, ExtractClaims}
    )

    def __init__(
        self, name: str, entry: LlmJudgeEntry, asker: Asker, configs: Path = CONFIGS
    ) -> None:
        self.name = name
        self.entry = entry
        self.model_version = entry.answers_as or entry.model
        self._asker = asker
        self._configs = configs

    def prompt_sha(self, protocol: str) -> str:
        """Sha of a protocol's prompts and of how they are sent."""
        folder = self._configs / "prompts" / protocol
        prompts = [
            f"{path.stem} {load_prompt(protocol, path.stem, self._configs).sha}"
            for path in sorted(folder.glob("*.md"))
        ]
        together = str(self.entry.claims_per_call)
        items = ["schema names items"] if self.entry.schema_names_items else []
        return content_sha(*prompts, self._parameters(1).canonical(), together, REPLY_FORMS, *items)

    async def verify_claims(self, request: VerifyClaims) -> Sequence[Answer]:
        """One answer per claim; a claim for which nothing was retrieved needs no call."""
        pool = [one_line(sentence) for sentence in request.pool]
        evidence = [tuple(pool[index] for index in found) for found in request.retrieved]
        asked = [index for index, found in enumerate(evidence) if found]
        size = self.entry.claims_per_call
        groups = [asked[start : start + size] for start in range(0, len(asked), size)]
        asked_for = []
        for number, group in enumerate(groups, start=1):
            items = [(request.claims[index], evidence[index]) for index in group]
            asked_for.append(asyncio.create_task(self._verified(request.prompt, items)))
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        decided = await asyncio.gather(*asked_for)
        answers = [
            Answer(status=Status.OK, label=NOT_SUPPORT, reason=NO_EVIDENCE) for _ in request.claims
        ]
        for group, found_answers in zip(groups, decided, strict=True):
            for index, answer in zip(group, found_answers, strict=True):
                answers[index] = answer
        return answers

    async def verify_against_page(self, request: VerifyAgainstPage) -> Sequence[Answer]:
        n = len(request.claims)
        values = {"page": request.page, "claims": [one_line(claim) for claim in request.claims]}
        outcome: Outcome[list[PageVerdict]] = await self._decided(
            request.prompt, values, PageVerdicts, "statement", range(1, n + 1)
        )
        if outcome.value is None:
            return [_open(outcome, n)] * n
        return [
            _ok(outcome, n, verdict.verdict, verdict.reason, _passage(verdict, request.page))
            for verdict in outcome.value
        ]

    async def compare_articles(self, request: CompareArticles) -> Sequence[Answer]:
        n = len(request.criteria)
        ids = [criterion.id for criterion in request.criteria]
        form: Any = CriterionVerdictsOrTies if request.allow_tie else CriterionVerdicts
        values = {
            "first": request.first,
            "second": request.second,
            "criteria": [criterion.model_dump() for criterion in request.criteria],
            "allow_tie": request.allow_tie,
        }
        outcome: Outcome[list[Any]] = await self._decided(
            request.prompt, values, form, "criterion", ids
        )
        if outcome.value is None:
            return [_open(outcome, n)] * n
        return [
            _ok(outcome, n, WINNERS[verdict.winner], verdict.reason) for verdict in outcome.value
        ]

    async def extract_facts(self, request: ExtractFacts) -> Extracted:
        values = {"title": request.title, "text": request.text}
        outcome = await self._stated(request.prompt, values, StatedFacts)
        stated = outcome.value.facts if outcome.value else []
        return _extracted(outcome, [Statement(text=one_line(fact.statement)) for fact in stated])

    async def extract_claims(self, request: ExtractClaims) -> Extracted:
        values = {"title": request.title, "text": request.text}
        outcome = await self._stated(request.prompt, values, StatedClaims)
        stated = outcome.value.claims if outcome.value else []
        statements = [Statement(text=one_line(c.statement), markers=tuple(c.markers))
                      for c in stated]  # fmt: skip
        return _extracted(outcome, statements)

    async def _verified(
        self, prompt: str, items: Sequence[tuple[str, tuple[str, ...]]]
    ) -> list[Answer]:
        n = len(items)
        values = {
            "items": [
                {
                    "number": number,
                    "claim": one_line(claim),
                    "evidence": "\n".join(f"[{i}] {text}" for i, text in enumerate(evidence, 1)),
                }
                for number, (claim, evidence) in enumerate(items, start=1)
            ]
        }
        outcome: Outcome[list[ClaimVerdict]] = await self._decided(
            prompt, values, ClaimVerdicts, "item", range(1, n + 1)
        )
        if outcome.value is None:
            return [_open(outcome, n)] * n
        return [
            _ok(outcome, n, verdict.verdict, verdict.reason, _pointed_at(verdict, evidence))
            for verdict, (_, evidence) in zip(outcome.value, items, strict=True)
        ]

    async def _decided(
        self,
        prompt_name: str,
        values: dict[str, Any],
        form: type[ReplyModel],
        key: str,
        expected: Sequence[Any],
    ) -> Outcome[list[Any]]:
        """One request with one result for each item of `expected`, which they name by `key`."""
        schema = schema_of(form)
        if self.entry.schema_names_items:
            schema = schema_for_items(form, key, tuple(expected))

        def check(answer: str) -> list[Any]:
            reply: Any = read(form, answer)
            return in_order(reply.results, key, expected)

        request = self._request(prompt_name, values, len(expected), schema)
        return await self._asked(request, check)

    async def _stated(
        self, prompt_name: str, values: dict[str, Any], form: type[ReplyT]
    ) -> Outcome[ReplyT]:
        """One request whose answer may hold any number of statements."""
        request = self._request(prompt_name, values, 1, schema_of(form))
        return await self._asked(request, lambda answer: read(form, answer))

    async def _asked(
        self, request: ModelRequest, check: Callable[[str], ValueT]
    ) -> Outcome[ValueT]:
        needed = request.prompt_bytes / BYTES_PER_TOKEN + request.typical_output_tokens
        if needed > self.entry.context_tokens:
            return Outcome(
                Status.NOT_ASSESSED,
                reason=f"not_assessed: about {needed:,.0f} tokens with the answer do not fit the "
                f"{self.entry.context_tokens:,} that {self.name} can read",
            )
        return await self._asker.ask(request, check)

    def _request(
        self, prompt_name: str, values: dict[str, Any], n_items: int, reply_schema: str
    ) -> ModelRequest:
        protocol, _, step = prompt_name.partition("/")
        prompt = load_prompt(protocol, step, self._configs)
        settings = prompt.settings
        limit = settings.max_output_tokens + n_items * settings.max_output_tokens_per_item
        user = prompt.render(**values)
        tokens = len(user.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN
        restated = settings.typical_output_per_prompt_token * tokens
        typical = n_items * settings.typical_output_tokens_per_item + round(restated)
        return ModelRequest(
            provider=self.entry.provider,
            model=self.entry.model,
            parameters=self._parameters(limit),
            reply_name=step,
            reply_schema=reply_schema,
            system=prompt.system,
            turns=(Turn(role="user", text=user),),
            purpose=_purpose(self.name, protocol, step, prompt, n_items),
            typical_output_tokens=typical + self.entry.typical_thinking_tokens,
        )

    def _parameters(self, answer_limit: int) -> Parameters:
        limit = answer_limit + self.entry.thinking_room
        return Parameters(
            temperature=self.entry.temperature,
            seed=self.entry.seed,
            max_output_tokens=min(limit, self.entry.max_output_tokens or limit),
            thinking_budget=self.entry.thinking_budget,
            thinking_level=self.entry.thinking_level,
        )


FORMS = (
    ClaimVerdicts, PageVerdicts, CriterionVerdicts, CriterionVerdictsOrTies, StatedFacts,
    StatedClaims,
)  # fmt: skip
REPLY_FORMS = content_sha(*(schema_of(form) for form in FORMS))
"""Part of every prompt sha: another form of the answer is another question."""


def _purpose(judge: str, protocol: str, step: str, prompt: Prompt, n_items: int) -> Purpose:
    return Purpose(
        judge=judge, protocol=protocol, step=step, prompt_sha=prompt.sha, n_items=n_items
    )


def _ok(
    outcome: Outcome[Any], n_items: int, label: str, reason: str, evidence: str | None = None
) -> Answer:
    return _answer(outcome, n_items, label=label, reason=reason, evidence=evidence)


def _open(outcome: Outcome[Any], n_items: int) -> Answer:
    return _answer(outcome, n_items, reason=outcome.reason)


def _answer(outcome: Outcome[Any], n_items: int, **said: Any) -> Answer:
    call = outcome.call
    return Answer(
        status=outcome.status,
        model_version=call.model_version if call else None,
        call_id=call.call_id if call else None,
        attempt=call.attempt if call else 1,
        asked_together=n_items if call else None,
        **said,
    )


def _extracted(outcome: Outcome[Any], statements: Sequence[Statement]) -> Extracted:
    return Extracted(
        status=outcome.status,
        statements=tuple(s for s in statements if s.text),
        reason=outcome.reason,
        call_id=outcome.call.call_id if outcome.call else None,
    )


def _pointed_at(verdict: ClaimVerdict, evidence: Sequence[str]) -> str | None:
    """The pieces of evidence a verdict names, those that exist."""
    named = [evidence[n - 1] for n in verdict.evidence if 1 <= n <= len(evidence)]
    return "\n".join(dict.fromkeys(named)) or None


def _passage(verdict: PageVerdict, page: str) -> str | None:
    """The passage a verdict quotes, if it does stand on the page."""
    return verdict.passage.strip() if stands_in(verdict.passage, page) else None
