"""Answers with anything in any place of them: read as far as they go, or unreadable."""

import json
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.agents.agent import JobAnswer, UnreadableJobAnswer
from tasks.agents.citations.markdown import render_report
from tasks.agents.registry import read_answer
from tests.servers.agent_anthropic import AnthropicServer, search, text
from tests.servers.agent_chat import ChatAgentServer
from tests.servers.agent_dashscope import DashScopeServer
from tests.servers.agent_service import ServiceServer
from tests.servers.agent_xai import XaiServer
from tests.servers.jobs import JobScript
from tests.tasks.agents.conversations import SAID, question, start
from tests.tasks.agents.foreign_json import ANYTHING, damaged
from tests.tasks.agents.job_clients import KINDS, with_client

A = "https://a.org/one"
JOBS = {kind.name: kind for kind in KINDS}
EXPECTED = {
    "xai": "xAI's Responses API", "chat": "chat completion", "anthropic": "Messages API",
    "dashscope": "stream of DashScope", "http": "ended job of a service",
    "gemini_deep_research": "an interaction of Gemini", "openai_responses": "the Responses API",
    "perplexity": "Perplexity's Agent API",
}  # fmt: skip
"""By kind, what an answer that is none is said not to be."""
NO_OBJECTS = ("", "[]", "null", "<html>", "1" * 5000, "[" * 200_000)


@cache
def whole(kind: str) -> Any:
    """An answer with something of everything in it."""
    server: Any
    if kind in JOBS:
        served = JOBS[kind].server(JobScript(polls=0))
        ended = with_client(JOBS[kind], served, lambda client: client.start(question()))
        return json.loads(ended.raw or "")
    if kind == "xai":
        server, path = XaiServer(f"A report [[1]]({A})."), "/v1"
    elif kind == "chat":
        server, path = ChatAgentServer("<think>so</think>A report [1]."), "/v1"
        place = {"url": A, "title": "One", "start_index": 17, "end_index": 25}
        server.extra = {"annotations": [{"type": "url_citation", "url_citation": place}]}
        server.body = {"citations": [A], "search_results": [{"url": A, "title": "One"}]}
    elif kind == "anthropic":
        server, path = AnthropicServer([*search("town", A), text("A report.", A)]), ""
    elif kind == "dashscope":
        server, path = DashScopeServer(" A report [1]."), "/api/v1"
    else:
        sources = [{"url": A, "title": "One"}]
        trace = [{"query": "x", "opened": [A], "parent": None}]
        told = {"sources": sources, "trace": trace, "usage": {"searches": 1}, "cost_usd": 0.1}
        server, path = ServiceServer("A report.", at_once=True, given=told), "/reports"
    raw = start(kind, server, question(history=SAID), path=path).raw
    assert raw is not None
    assert read_answer(kind, raw).outcome == "report"
    return json.loads(raw)


def assert_sound(kind: str, answer: JobAnswer) -> None:
    """It makes sense, and can be kept and read. Places beyond the text may stay where links are
    read with the text: what reads them passes them over."""
    assert (answer.outcome == "failed") == (answer.error is not None)
    assert answer.outcome == "failed" or answer.text.strip()
    for annotation in answer.annotations if kind in JOBS else ():
        if annotation.start is not None or annotation.end is not None:
            assert annotation.start is not None
            assert annotation.end is not None
            assert 0 <= annotation.start <= annotation.end <= len(answer.text)
    for index, step in enumerate(answer.trace):
        assert step.parent is None or step.parent < index
    counted = answer.usage.model_dump().values()
    assert all(number is None or 0 <= number < 2**63 for number in counted)
    assert answer.cost_usd is None or answer.cost_usd >= 0
    answer.model_dump_json().encode()
    render_report(answer, kind="write_article", citations=None).encode()


@pytest.mark.parametrize("kind", EXPECTED)
@given(st.data())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_answer_is_read_as_far_as_it_goes(kind: str, data: st.DataObject) -> None:
    raw = data.draw(damaged(whole(kind)) | ANYTHING.map(json.dumps) | st.text(max_size=20))
    with suppress(UnreadableJobAnswer):
        assert_sound(kind, read_answer(kind, raw))


@pytest.mark.parametrize("kind", EXPECTED)
@pytest.mark.parametrize("raw", NO_OBJECTS, ids=lambda raw: raw[:9])
def test_what_is_no_answer_is_unreadable_and_says_what_was_expected(kind: str, raw: str) -> None:
    with pytest.raises(UnreadableJobAnswer, match=EXPECTED[kind]):
        read_answer(kind, raw)


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        *((kind, "{}") for kind in EXPECTED if kind != "http"),
        *(("anthropic", f'{{"parts": [{part}]}}') for part in ("", "{}", '{"content": "x"}')),
        ("chat", '{"choices": "x"}'),
        ("dashscope", '{"stream": 3}'),
        ("xai", '{"a": 1}'),
    ],
)
def test_neither_is_an_object_of_another_form(kind: str, raw: str) -> None:
    with pytest.raises(UnreadableJobAnswer, match=EXPECTED[kind]):
        read_answer(kind, raw)


def test_the_fields_that_an_answer_needs_are_named_beside_those_it_has() -> None:
    with pytest.raises(UnreadableJobAnswer, match=r"with `status` and `output`.*'choices'"):
        read_answer("openai_responses", '{"choices": []}')
