"""Putting a protocol's steps to one model: by prompt file and form of reply."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tasks.configuration.loading import CONFIGS
from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.decisions import Answer
from tasks.judges.forms.replies import (
    ReplyModel,
    forms_sha,
    in_order,
    read,
    schema_for_items,
    schema_of,
    schema_with_values,
)
from tasks.judges.llm.attachments import Attached, load_wording, wording_of
from tasks.judges.llm.excerpts import Notice, load_notice
from tasks.judges.llm.prompts import load_prompt
from tasks.models.attachments import Attachment, media_types
from tasks.models.exchange import ModelRequest, Parameters, Purpose, Turn
from tasks.models.gateway import Outcome
from tasks.models.prices import BYTES_PER_TOKEN
from tasks.warehouse.rows import Status, content_sha

ReplyT = TypeVar("ReplyT", bound=ReplyModel)
ValueT = TypeVar("ValueT")


class Asker(Protocol):
    """What a judge puts its requests to: the gateway, or something that only counts them."""

    async def ask(self, request: ModelRequest, read: Callable[[str], ValueT]) -> Outcome[ValueT]:
        """The value that `read` makes of the answer, or why there is none."""


class Beside(Protocol):
    """What goes with a question beside its prompt's file: files, or a notice."""

    @property
    def files(self) -> tuple[Attachment, ...]: ...
    @property
    def system(self) -> str:
        """Added to the prompt's system text."""

    @property
    def sha(self) -> str: ...


class Asking:
    """The steps of all protocols as requests to one model of `configs/judges.yaml`."""

    def __init__(
        self, judge: str, entry: LlmJudgeEntry, asker: Asker, configs: Path = CONFIGS
    ) -> None:
        self.judge = judge
        self.entry = entry
        self.reads = media_types(entry.kind, entry.reads)
        """Media types of the files that can go with a question."""
        self._asker = asker
        self._configs = configs
        tokens = entry.page_tokens or entry.context_tokens * 3 // 4
        self.page_bytes = int(tokens * BYTES_PER_TOKEN)
        """As much of a page's text, in UTF-8, as is shown in one request."""

    def prompt_sha(self, protocol: str) -> str:
        """Sha of a protocol's prompts and of how they are sent."""
        folder = self._configs / "prompts" / protocol
        prompts = [
            f"{path.stem} {load_prompt(protocol, path.stem, self._configs).sha}"
            for path in sorted(folder.glob("*.md"))
        ]
        together = str(self.entry.claims_per_call)
        items = ["schema names items"] if self.entry.schema_names_items else []
        parameters = self._parameters(1).canonical()
        return content_sha(*prompts, parameters, together, forms_sha(protocol), *items)

    def attached(self, files: tuple[Attachment, ...], prompt_name: str) -> Attached:
        """Files to go with a question, and what is to be said of them in it."""
        wording = wording_of(prompt_name.partition("/")[0])
        return load_wording(wording, self._configs).attached(files)

    def notice(self) -> Notice:
        """What is to be said of an excerpt of a page."""
        return load_notice(self._configs)

    async def decided(
        self,
        prompt_name: str,
        values: dict[str, Any],
        form: type[ReplyModel],
        key: str,
        expected: Sequence[Any],
        also: Callable[[Sequence[Any]], None] = lambda results: None,
        beside: Beside | None = None,
        one_of: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Outcome[list[Any]]:
        """One request with one result for each item of `expected`, which they name by `key`.

        also: raises InvalidReply for results that a form alone cannot tell to be wrong.
        beside: what goes with it.
        one_of: by field of a result, the texts it may hold, where its form leaves that open.
        """
        schema = schema_of(form)
        if self.entry.schema_names_items:
            schema = schema_for_items(form, key, tuple(expected))
        if one_of:
            schema = schema_with_values(schema, one_of)

        def check(answer: str) -> list[Any]:
            reply: Any = read(form, answer)
            results = in_order(reply.results, key, expected)
            also(results)
            return results

        request = self._request(prompt_name, values, len(expected), schema, beside)
        return await self._asked(request, check)

    async def stated(
        self,
        prompt_name: str,
        values: dict[str, Any],
        form: type[ReplyT],
        also: Callable[[ReplyT], None] = lambda reply: None,
    ) -> Outcome[ReplyT]:
        """One request whose answer may hold any number of statements.

        also: raises InvalidReply for what the form alone cannot tell to be wrong.
        """

        def check(answer: str) -> ReplyT:
            reply = read(form, answer)
            also(reply)
            return reply

        return await self._asked(self._request(prompt_name, values, 1, schema_of(form)), check)

    async def _asked(
        self, request: ModelRequest, check: Callable[[str], ValueT]
    ) -> Outcome[ValueT]:
        needed = request.prompt_bytes / BYTES_PER_TOKEN + request.typical_output_tokens
        if needed > self.entry.context_tokens:
            return Outcome(
                Status.NOT_ASSESSED,
                reason=f"not_assessed: about {needed:,.0f} tokens with the answer do not fit the "
                f"{self.entry.context_tokens:,} that {self.judge} can read",
            )
        return await self._asker.ask(request, check)

    def _request(
        self,
        prompt_name: str,
        values: dict[str, Any],
        n_items: int,
        reply_schema: str,
        beside: Beside | None = None,
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
            system=f"{prompt.system}\n\n{beside.system}" if beside else prompt.system,
            turns=(Turn(role="user", text=user),),
            attachments=beside.files if beside else (),
            purpose=Purpose(
                judge=self.judge,
                protocol=protocol,
                step=step,
                prompt_sha=content_sha(prompt.sha, beside.sha) if beside else prompt.sha,
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


class AsksModel:
    """What decides by asking one model of `configs/judges.yaml`, through `asker`."""

    def __init__(
        self, name: str, entry: LlmJudgeEntry, asker: Asker, configs: Path = CONFIGS
    ) -> None:
        self.name = name
        self.entry = entry
        self.model_version = entry.answers_as or entry.model
        self._asking = Asking(name, entry, asker, configs)
        self.reads = self._asking.reads

    def prompt_sha(self, protocol: str) -> str:
        """Sha of a protocol's prompts and of how they are sent."""
        return self._asking.prompt_sha(protocol)


def ok(
    outcome: Outcome[Any],
    n_items: int,
    label: str,
    reason: str,
    evidence: str | None = None,
    shown_share: float | None = None,
) -> Answer:
    return _answer(
        outcome, n_items, label=label, reason=reason, evidence=evidence, shown_share=shown_share
    )


def still_open(outcome: Outcome[Any], n_items: int) -> Answer:
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
