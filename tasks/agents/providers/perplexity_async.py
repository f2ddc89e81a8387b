"""The answers of Perplexity's asynchronous chat completions (Sonar), which have ended."""

from typing import Any

from tasks.agents.agent import JobAnswer
from tasks.agents.json_values import (
    child,
    objects,
    parse_object,
    string,
    strings,
    unexpected_object,
)
from tasks.agents.providers.answers import (
    SearchAction,
    build_trace,
    join_content,
    list_urls,
    parse_cost,
    parse_sources,
)
from tasks.agents.providers.chat import parse_chat_usage
from tasks.models.embedded_json import split_reasoning
from tasks.models.finish_reasons import describe_cut

COMPLETED = "COMPLETED"
NO_TEXT = "COMPLETED, but without text"


def read(raw: str) -> JobAnswer:
    """Read a request that has ended, with its chat completion.

    Raises:
        UnreadableJobAnswer: `raw` is not such a request.
    """
    body = parse_object(raw, "a request of Perplexity's asynchronous API")
    if "status" not in body:
        raise unexpected_object(body, "a request of Perplexity's asynchronous API with a `status`")
    response = body.get("response")
    choice = next(iter(objects(child(response, "choices"))), {})
    thoughts, text = split_reasoning(join_content(child(choice, "message", "content")))
    steps = objects(child(choice, "message", "reasoning_steps"))
    problem = _describe_problem(body, choice, text)
    usage = child(response, "usage")
    return JobAnswer(
        outcome="failed" if problem else "report",
        silent=problem == NO_TEXT and response is not None,
        text=text,
        sources=parse_sources(child(response, "search_results"), child(response, "citations")),
        trace=build_trace(map(_list_action, steps)),
        n_reasoning_steps=(len(steps) + bool(thoughts)) or None,
        model_version=string(child(response, "model")) or string(body.get("model")),
        usage=parse_chat_usage(usage),
        cost_usd=parse_cost(child(usage, "cost")),
        error=problem,
    )


def _describe_problem(body: dict[str, Any], choice: dict[str, Any], text: str) -> str | None:
    """Describe why there is no report; None if there is one."""
    status = string(body.get("status")) or "no status"
    if status != COMPLETED:
        return ": ".join(filter(None, [status, string(body.get("error_message"))]))
    cut = describe_cut(string(choice.get("finish_reason")))
    return cut or (None if text.strip() else NO_TEXT)


def _list_action(step: dict[str, Any]) -> SearchAction:
    """Return the searches and the pages read in a step of its reasoning."""
    queries = strings(child(step, "web_search", "search_keywords"))
    found = list_urls(child(step, "web_search", "search_results"))
    return queries, found, list_urls(child(step, "fetch_url_content", "contents"))
