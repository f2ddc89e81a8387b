"""Any endpoint that speaks OpenAI's chat completions; it answers in one request.

The whole conversation is sent each time. Gateways and providers add to the form what they know:
`annotations` of the message, `citations` and `search_results` beside it, thoughts in a field of
their own or in `<think>`, money in `usage.cost`. What is there is read.
"""

from collections.abc import Iterator
from typing import Any

from tasks.agents.agent import (
    AgentUsage,
    Annotation,
    Answer,
    Gone,
    Question,
    Seen,
    Source,
    UnreadableAnswer,
)
from tasks.agents.at_once import AtOnce, bearer, messages, no_such_model
from tasks.agents.http import CONFIGURED_IN, endpoint
from tasks.agents.json_values import amount, child, count, objects, parsed_object, string
from tasks.agents.kinds import Place
from tasks.agents.thoughts import without_thoughts
from tasks.configuration.agents import ChatAsk
from tasks.models.errors import Misconfigured, Rejected, Transient

BASE_URL = "https://api.openai.com/v1"
NO_SOURCE = Source(url="")
"""Holds the place of an entry that cannot be read, so that the numbers after it stay right."""
CUT = {
    "length": "cut at its limit of tokens",
    "content_filter": "stopped by the provider's content filter",
}


class ChatClient:
    """One agent."""

    def __init__(self, agent: str, ask: ChatAsk, key: str | None) -> None:
        self._ask = ask
        self._at = AtOnce(agent, ask, key, endpoint(ask, BASE_URL), bearer(key))

    async def start(self, question: Question) -> Seen:
        answer = await self._at.buy("/chat/completions", request_body(self._ask, question))
        choice = next(iter(objects(answer.get("choices"))), None)
        return self._at.seen(string(child(choice, "finish_reason")) or "answered", answer)

    async def look(self, remote_id: str) -> Seen:
        return await self._at.look(remote_id)

    async def check(self) -> str:
        """The list of models, which costs nothing; where there is none, one token."""
        at, model = self._at, self._ask.model
        try:
            listed = await at.get("/models")
        except (Gone, Rejected):
            return await self._check_by_asking()
        names = {name for entry in objects(child(listed, "data")) if (name := entry.get("id"))}
        if names and model not in names:
            known = ", ".join(sorted(map(str, names))[:20])
            raise no_such_model(at.agent, at.base_url, model, f"it lists {known}")
        return f"{at.agent}: {at.base_url} answers and knows the model {model}."

    async def close(self) -> None:
        await self._at.close()

    async def _check_by_asking(self) -> str:
        at, model = self._at, self._ask.model
        said = {"role": "user", "content": "Say OK."}
        try:
            answer = await at.buy(
                "/chat/completions", {"model": model, "messages": [said], "max_tokens": 1}
            )
        except Rejected as error:
            raise Misconfigured(
                f"{at.agent}: {at.base_url} refuses a question to {model!r} ({error}). Check "
                f"`model`, `base_url` and `parameters` in {CONFIGURED_IN}."
            ) from None
        except Transient as error:
            raise at.in_words(error) from None
        if not objects(answer.get("choices")):
            raise Misconfigured(
                f"{at.agent}: what answers at {at.base_url} is no chat completions endpoint. "
                f"Check `base_url` in {CONFIGURED_IN}."
            )
        return f"{at.agent}: {at.base_url} answers as the model {model} (one token was bought)."


def open_client(agent: str, ask: ChatAsk, key: str | None, place: Place) -> ChatClient:
    return ChatClient(agent, ask, key)


def request_body(ask: ChatAsk, question: Question) -> dict[str, Any]:
    """What is sent to buy a report, with all that was said before."""
    return {"model": ask.model, "messages": messages(question)} | ask.parameters


def read(raw: str) -> Answer:
    """A chat completion.

    Raises:
        UnreadableAnswer: it is none.
    """
    body = parsed_object(raw, "a chat completion")
    choice = next(iter(objects(body.get("choices"))), None)
    if choice is None and body.get("error") is None:
        raise UnreadableAnswer(
            "expected a chat completion with `choices`, got an object with "
            f"{sorted(map(str, body))[:10]}"
        )
    message = child(choice, "message")
    whole = _content(child(message, "content"))
    thoughts, text = without_thoughts(whole)
    n_thoughts = bool(thoughts or _thoughts(message))
    problem = _problem(body, choice, text)
    return Answer(
        outcome="failed" if problem else "report",
        text=text,
        annotations=tuple(_annotations(message, len(whole) - len(text))),
        annotated="instead",
        sources=_sources(body, message),
        n_reasoning_steps=int(n_thoughts) or None,
        model_version=string(body.get("model")),
        usage=_usage(body.get("usage")),
        cost_usd=_cost(child(body.get("usage"), "cost")),
        error=problem,
    )


def _content(said: Any) -> str:
    if isinstance(said, list):
        return "".join(string(part.get("text")) or "" for part in objects(said))
    return string(said) or ""


def _thoughts(message: Any) -> str | None:
    return string(child(message, "reasoning_content")) or string(child(message, "reasoning"))


def _problem(body: dict[str, Any], choice: Any, text: str) -> str | None:
    """Why there is no report, in words; None where there is one."""
    error = body.get("error") or child(choice, "error")
    if error:
        return string(child(error, "message")) or string(error) or "the endpoint says `error`"
    if refused := string(child(choice, "message", "refusal")):
        return f"refused: {refused}"
    reason = string(child(choice, "finish_reason"))
    if reason in CUT:
        return CUT[reason]
    return None if text.strip() else f"ended ({reason or 'no reason given'}) without a text"


def _annotations(message: Any, before: int) -> Iterator[Annotation]:
    """Citations with their places. before: characters of thoughts that stood before the text."""
    for entry in objects(child(message, "annotations")):
        said = child(entry, "url_citation")
        said = said if isinstance(said, dict) else entry
        url = string(said.get("url"))
        if url is None:
            continue
        start, end = count(said.get("start_index")), count(said.get("end_index"))
        placed = start is not None and end is not None and before <= start <= end and end > 0
        yield Annotation(
            start=start - before if placed and start is not None else None,
            end=end - before if placed and end is not None else None,
            url=url,
            title=string(said.get("title")),
        )


def _sources(body: dict[str, Any], message: Any) -> tuple[Source, ...]:
    """The list that `[n]` refers to. An entry that cannot be read keeps its place."""
    results = body.get("search_results") or child(message, "search_results")
    urls = body.get("citations") or child(message, "citations")
    results = results if isinstance(results, list) else []
    urls = urls if isinstance(urls, list) else []
    titles = {child(one, "url"): string(child(one, "title")) for one in objects(results + urls)
              if string(child(one, "url"))}  # fmt: skip
    listed = results if len(results) >= len(urls) else urls
    addresses = [string(one) or string(child(one, "url")) for one in listed]
    return tuple(Source(url=url, title=titles.get(url)) if url else NO_SOURCE for url in addresses)


def _usage(said: Any) -> AgentUsage:
    tokens = count(child(said, "completion_tokens"))
    inside = count(child(said, "completion_tokens_details", "reasoning_tokens"))
    return AgentUsage(
        input_tokens=count(child(said, "prompt_tokens")),
        cached_tokens=count(child(said, "prompt_tokens_details", "cached_tokens")),
        output_tokens=None if tokens is None else max(0, tokens - (inside or 0)),
        reasoning_tokens=count(child(said, "reasoning_tokens")) if inside is None else inside,
        citation_tokens=count(child(said, "citation_tokens")),
        searches=count(child(said, "num_search_queries")),
    )


def _cost(said: Any) -> float | None:
    """Money, where the endpoint says it: a number, or an object with a sum."""
    return amount(said) if not isinstance(said, dict) else amount(said.get("total_cost"))
