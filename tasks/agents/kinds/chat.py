"""Any endpoint with OpenAI's chat completions; it answers in one request.

Each request holds the whole conversation. The extensions of gateways and providers are read where
present: `annotations` of the message, `citations` and `search_results` of the body, thoughts in a
separate field or in `<think>`, and the cost in `usage.cost`.
"""

from collections.abc import Iterator
from typing import Any, Literal

from tasks.agents.agent import AgentUsage, Annotation, Gone, JobAnswer, JobRequest, JobStatus
from tasks.agents.kind import AgentKind, ApiAsk
from tasks.agents.wire.answers import (
    child,
    count,
    join_content,
    objects,
    parse_annotation,
    parse_cost,
    parse_object,
    parse_sources,
    string,
    subtract_reasoning,
    unexpected_object,
)
from tasks.agents.wire.http import CONFIGURED_IN, SynchronousClient
from tasks.models.answer_metadata import (
    classify_finish,
    count_cache_writes,
    count_cached,
    count_tokens,
    describe_cut,
)
from tasks.models.embedded_json import split_reasoning
from tasks.models.errors import Misconfigured, RequestRejected


class ChatAsk(ApiAsk):
    provider_url = "https://api.openai.com/v1"
    kind: Literal["chat"]
    """Any OpenAI-compatible chat completions endpoint; answers in one request."""


class ChatClient(SynchronousClient):
    async def start(self, request: JobRequest) -> JobStatus:
        body = {"model": self.ask.model, "messages": request.chat_messages()}
        answer = await self.buy_object("/chat/completions", body | self.ask.parameters)
        choice = next(iter(objects(answer.get("choices"))), None)
        return self.ended_status(string(child(choice, "finish_reason")) or "answered", answer)

    def find_lone_error(self, answer: dict[str, Any]) -> Any:
        """Return the error in the place of an answer, also in a choice; None beside any text, or if
        tokens were written: then it was billed."""
        choice = next(iter(objects(answer.get("choices"))), None)
        message = child(choice, "message")
        text = join_content(child(message, "content")) or _find_thoughts(message)
        billed = text or count_tokens(child(answer, "usage", "completion_tokens"))
        return None if billed else answer.get("error") or child(choice, "error")

    async def check(self) -> str:
        """Look the model up in the free list of models; if there is no list, buy one token."""
        model = self.ask.model
        try:
            with self.explain_errors():
                catalogue = await self.get("/models")
        except (Gone, RequestRejected):
            return await self._check_by_request()
        names = {name for entry in objects(child(catalogue, "data")) if (name := entry.get("id"))}
        if names and model not in names:
            known = ", ".join(sorted(map(str, names))[:20])
            raise self.unknown_model_error(model, f"it lists {known}")
        return f"{self.base_url} answers and knows the model {model}."

    async def _check_by_request(self) -> str:
        model = self.ask.model
        message = {"role": "user", "content": "Say OK."}
        body = {"model": model, "messages": [message], "max_tokens": 1}
        try:
            with self.explain_errors():
                answer = await self.buy_object("/chat/completions", body)
        except RequestRejected as error:
            raise Misconfigured(
                f"{self.agent}: {self.base_url} refuses a request to {model!r} ({error}). Check "
                f"`model`, `base_url` and `parameters` in {CONFIGURED_IN}."
            ) from None
        if not objects(answer.get("choices")):
            raise Misconfigured(
                f"{self.agent}: {self.base_url} does not answer as a chat completions endpoint. "
                f"Check `base_url` in {CONFIGURED_IN}."
            )
        return f"{self.base_url} answers as the model {model} (one token was bought)."


def read(raw: str) -> JobAnswer:
    """Read a chat completion.

    Raises:
        UnreadableJobAnswer: `raw` is not a chat completion.
    """
    body = parse_object(raw, "a chat completion")
    choice = next(iter(objects(body.get("choices"))), None)
    if choice is None and body.get("error") is None:
        raise unexpected_object(body, "a chat completion with `choices`")
    message = child(choice, "message")
    whole = join_content(child(message, "content"))
    thoughts, text = split_reasoning(whole)
    has_thoughts = bool(thoughts or _find_thoughts(message))
    problem = _describe_problem(body, choice, text, has_thoughts=has_thoughts)
    return JobAnswer(
        outcome="failed" if problem else "report",
        silent=_is_silent(body, choice, text),
        text=text,
        annotations=tuple(_parse_annotations(message, len(whole) - len(text))),
        marker_placement="instead",
        sources=parse_sources(
            body.get("search_results") or child(message, "search_results"),
            body.get("citations") or child(message, "citations"),
        ),
        n_reasoning_steps=int(has_thoughts) or None,
        model_version=string(body.get("model")),
        usage=parse_chat_usage(body.get("usage")),
        cost_usd=parse_cost(child(body.get("usage"), "cost")),
        error=problem,
    )


def _find_thoughts(message: Any) -> str | None:
    return string(child(message, "reasoning_content")) or string(child(message, "reasoning"))


def _describe_problem(
    body: dict[str, Any], choice: Any, text: str, *, has_thoughts: bool
) -> str | None:
    """Describe why there is no whole report; None if there is one.

    A gateway may say `stop` where its provider's own reason says that the answer was cut.
    """
    if error := body.get("error") or child(choice, "error"):
        return string(child(error, "message")) or string(error) or "the endpoint reports `error`"
    if refused := string(child(choice, "message", "refusal")):
        return f"refused: {refused}"
    reason = string(child(choice, "finish_reason"))
    native = string(child(choice, "native_finish_reason")) or string(
        child(choice, "provider_specific_fields", "native_finish_reason")
    )
    if cut := describe_cut(reason) or describe_cut(native):
        return cut
    if text.strip():
        return None
    ended = f"ended ({reason or 'no reason given'})"
    return f"{ended} with nothing but its reasoning" if has_thoughts else f"{ended} without text"


def _is_silent(body: dict[str, Any], choice: Any, text: str) -> bool:
    """Whether the model stopped of itself, by a refusal or without text."""
    if body.get("error") or child(choice, "error"):
        return False
    reason = string(child(choice, "finish_reason"))
    stopped = reason is not None and classify_finish(reason) == "whole"
    return (stopped and not text.strip()) or bool(string(child(choice, "message", "refusal")))


def _parse_annotations(message: Any, before: int) -> Iterator[Annotation]:
    """Yield the citations. before: the length of the thoughts before the text."""
    for entry in objects(child(message, "annotations")):
        nested = child(entry, "url_citation")
        citation = nested if isinstance(nested, dict) else entry
        url = string(citation.get("url"))
        if url is None:
            continue
        start, end = count(citation.get("start_index")), count(citation.get("end_index"))
        span = None
        if start is not None and end and before <= start <= end:
            span = (start, end)
        yield parse_annotation(citation, url, span, -before)


def parse_chat_usage(usage: Any) -> AgentUsage:
    """Return the usage of a chat completion."""
    tokens = count_tokens(child(usage, "completion_tokens"))
    inside = count_tokens(child(usage, "completion_tokens_details", "reasoning_tokens"))
    beside = count_tokens(child(usage, "reasoning_tokens"))
    return AgentUsage(
        input_tokens=count_tokens(child(usage, "prompt_tokens")),
        cached_tokens=count_cached(usage),
        output_tokens=subtract_reasoning(tokens, inside),
        reasoning_tokens=beside if inside is None else inside,
        citation_tokens=count_tokens(child(usage, "citation_tokens")),
        searches=count_tokens(child(usage, "num_search_queries")),
        **count_cache_writes(usage),
    )


KIND = AgentKind(ChatAsk, ChatClient, read, says_finish_reason=True)
