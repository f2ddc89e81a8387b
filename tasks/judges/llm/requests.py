"""Requests to one model: each a prompt file, its values, and the form of the reply."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeVar

from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.decisions import JudgeAnswer, PromptedRequest, StepAnswer
from tasks.judges.llm.excerpts import ExcerptNotice, load_notice
from tasks.judges.llm.prompts import (
    PICTURES_WORDING,
    AttachedFiles,
    choose_wording,
    find_fence_end,
    load_prompt,
    load_wording,
)
from tasks.judges.replies import (
    ItemResults,
    ReplyT,
    ResultT,
    order_results,
    parse_reply,
    render_item_schema,
    render_schema,
    restrict_values,
)
from tasks.models.attachments import Attachment, supported_media_types
from tasks.models.exchange import Message, ModelRequest, Parameters, Purpose
from tasks.models.gateway import RequestOutcome
from tasks.models.prices import BYTES_PER_TOKEN
from tasks.warehouse.rows import Status, content_sha

EMPTY = "it is empty, but the text seems to state something; if it does not, answer so again"
AnsweredT = TypeVar("AnsweredT")
ValueT = TypeVar("ValueT")


class RequestSender(Protocol):
    """Sends a judge's requests: the gateway, or a counter that sends nothing."""

    async def ask(
        self, request: ModelRequest, read: Callable[[str], ValueT]
    ) -> RequestOutcome[ValueT]:
        """Return what `read` makes of the answer, or why there is none."""


class PromptAttachments(Protocol):
    """Additions to a prompt: files, or a notice."""

    @property
    def files(self) -> tuple[Attachment, ...]: ...
    @property
    def system(self) -> str:
        """Added to the prompt's system text."""

    @property
    def sha(self) -> str: ...


class PromptedModel:
    """Sends questions to one model of `configs/judges.yaml`."""

    def __init__(self, name: str, entry: LlmJudgeEntry, sender: RequestSender) -> None:
        self.name = name
        self.entry = entry
        self.model_version = entry.answers_as or entry.model
        self.reads = supported_media_types(entry.kind, entry.reads)
        """Media types of the files that can be attached."""
        self._sender = sender
        tokens = entry.page_tokens or entry.context_tokens * 3 // 4
        self.page_bytes = int(tokens * BYTES_PER_TOKEN)
        """The most bytes of a page's text, in UTF-8, in one request."""

    def attach(self, files: tuple[Attachment, ...], prompt_name: str) -> AttachedFiles:
        """Return files for a prompt, with the wording that introduces them."""
        wording = choose_wording(prompt_name.partition("/")[0])
        return load_wording(wording).describe(files)

    def attach_pictures(self, files: tuple[Attachment, ...]) -> AttachedFiles:
        """Return pictures that go along with a report's text, named in the system text."""
        attached = load_wording(PICTURES_WORDING).describe(files)
        return replace(attached, system=f"{attached.system}\n\n{attached.placeholder.strip()}")

    def notice(self) -> ExcerptNotice:
        """Return the notice that introduces an excerpt of a page."""
        return load_notice()

    async def ask_items(
        self,
        prompt_name: str,
        values: Mapping[str, Any],
        form: type[ItemResults[ResultT]],
        key: str,
        expected: Sequence[int] | Sequence[str],
        validate: Callable[[Sequence[ResultT]], None] = lambda results: None,
        attachments: PromptAttachments | None = None,
        allowed_values: Mapping[str, tuple[str, ...]] | None = None,
        shared_text: str = "",
    ) -> RequestOutcome[list[ResultT]]:
        """Send one request for several items; return a result for each, in their order.

        Args:
            key: the field by which results name their item.
            expected: the items' keys.
            validate: raises InvalidReply for results that fit the form but are wrong.
            allowed_values: for each field of a result the texts it may hold, where its form leaves
                that open.
            shared_text: the fenced text up to whose end several requests are alike, so that their
                provider need read it only once; none if empty.
        """
        schema = render_schema(form)
        if self.entry.schema_names_items:
            schema = render_item_schema(form, key, tuple(expected))
        if allowed_values:
            schema = restrict_values(schema, allowed_values)

        def check(answer: str) -> list[ResultT]:
            results = order_results(parse_reply(form, answer).results, key, expected)
            validate(results)
            return results

        request = self._request(
            prompt_name, values, len(expected), schema, attachments, shared_text
        )
        return await self._send(request, check)

    async def answer_step(
        self,
        request: PromptedRequest,
        form: type[ReplyT],
        read: Callable[[ReplyT], ValueT],
        validate: Callable[[ReplyT], None] = lambda reply: None,
        doubted: ReplyT | None = None,
        **changed: object,
    ) -> StepAnswer[ValueT]:
        """Answer a request as a whole.

        Args:
            read: converts the reply.
            validate: raises InvalidReply for replies that fit the form but are wrong.
            doubted: the empty reply that a request of its own asks about.
            changed: values of the template that are not the request's own.
        """

        def check(answer: str) -> ReplyT:
            reply = parse_reply(form, answer)
            validate(reply)
            return reply

        values = request.template_values() | changed
        asked = self._request(request.prompt, values, 1, render_schema(form))
        if doubted:
            asked = asked.with_correction(doubted.model_dump_json(), EMPTY)
        return make_step_answer(await self._send(asked, check), read)

    async def _send(
        self, request: ModelRequest, check: Callable[[str], ValueT]
    ) -> RequestOutcome[ValueT]:
        needed = request.prompt_bytes / BYTES_PER_TOKEN + request.typical_output_tokens
        if needed > self.entry.context_tokens:
            return RequestOutcome(
                Status.NOT_ASSESSED,
                reason=f"not_assessed: about {needed:,.0f} tokens with the answer do not fit the "
                f"{self.entry.context_tokens:,} that {self.name} can read",
            )
        return await self._sender.ask(request, check)

    def _request(
        self,
        prompt_name: str,
        values: Mapping[str, Any],
        n_items: int,
        reply_schema: str,
        attachments: PromptAttachments | None = None,
        shared_text: str = "",
    ) -> ModelRequest:
        protocol, _, step = prompt_name.partition("/")
        prompt = load_prompt(protocol, step)
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
            system=f"{prompt.system}\n\n{attachments.system}" if attachments else prompt.system,
            messages=(Message(role="user", text=user),),
            attachments=attachments.files if attachments else (),
            shared_chars=find_fence_end(user, shared_text),
            purpose=Purpose(
                judge=self.name,
                protocol=protocol,
                step=step,
                prompt_sha=content_sha(prompt.sha, attachments.sha) if attachments else prompt.sha,
                n_items=n_items,
            ),
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


class ItemReading(NamedTuple):
    """What a model says of one item."""

    label: str
    reason: str
    evidence: str | None = None


def make_answers(
    outcome: RequestOutcome[list[ResultT]],
    n_items: int,
    read: Callable[[ResultT], ItemReading],
    shown_share: float | None = None,
) -> list[JudgeAnswer]:
    """Return the answers for the items of one request, or why there are none."""
    call = outcome.call
    unsaid = JudgeAnswer(
        status=outcome.status,
        reason=outcome.reason,
        model_version=call.model_version if call else None,
        call_id=call.call_id if call else None,
        attempt=call.attempt if call else 1,
        asked_together=n_items if call else None,
    )
    if outcome.value is None:
        return [unsaid] * n_items
    return [
        unsaid.model_copy(update={**read(result)._asdict(), "shown_share": shown_share})
        for result in outcome.value
    ]


def make_step_answer(
    outcome: RequestOutcome[AnsweredT], read: Callable[[AnsweredT], ValueT]
) -> StepAnswer[ValueT]:
    """Convert an outcome; `read` converts its value."""
    call = outcome.call
    return StepAnswer(
        status=outcome.status,
        value=None if outcome.value is None else read(outcome.value),
        reason=outcome.reason,
        model_version=call.model_version if call else None,
        call_id=call.call_id if call else None,
    )


ItemT = TypeVar("ItemT")
BatchT = TypeVar("BatchT")
AnswerT = TypeVar("AnswerT")


def split_batches(items: Sequence[ItemT], size: int) -> list[Sequence[ItemT]]:
    """Split items, in order, into batches of `size`; the last may be smaller."""
    return [items[start : start + size] for start in range(0, len(items), size)]


async def ask_first_alone(
    ask: Callable[[BatchT], Awaitable[Sequence[AnswerT]]], batches: Sequence[BatchT]
) -> list[AnswerT]:
    """Ask about each batch; return all answers in order.

    The first call is made alone, so that what all calls have in common is in the provider's cache
    for the others.
    """
    answered = [await ask(batch) for batch in batches[:1]]
    answered += await asyncio.gather(*(ask(batch) for batch in batches[1:]))
    return [answer for answers in answered for answer in answers]
