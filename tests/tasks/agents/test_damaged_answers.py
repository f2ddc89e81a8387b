"""Answers that came at once, with anything in any place of them: read, or unreadable."""

import json
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.agents.agent import UnreadableJobAnswer
from tasks.agents.citations.markdown import render_report
from tasks.agents.kinds import read_answer
from tests.servers.agent_anthropic import AnthropicServer, search, text
from tests.servers.agent_chat import ChatAgentServer
from tests.servers.agent_dashscope import DashScopeServer
from tests.servers.agent_service import ServiceServer
from tests.servers.agent_xai import XaiServer
from tests.tasks.agents.conversations import SAID, question, start
from tests.tasks.agents.foreign_json import damaged

A = "https://a.org/one"


@cache
def whole(kind: str) -> Any:
    """An answer with something of everything in it."""
    server: Any
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


@pytest.mark.parametrize("kind", ["xai", "chat", "anthropic", "dashscope", "http"])
@given(st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_answer_is_read_as_far_as_it_goes(kind: str, data: st.DataObject) -> None:
    raw = data.draw(damaged(whole(kind)))
    with suppress(UnreadableJobAnswer):
        answer = read_answer(kind, raw)
        assert (answer.error is not None) == (answer.outcome == "failed")
        answer.model_dump_json().encode()
        render_report(answer, kind="write_article", citations=None).encode()
