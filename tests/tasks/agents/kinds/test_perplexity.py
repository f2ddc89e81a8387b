"""Perplexity's Agent API: numbered sources, what was searched, what it cost."""

import json
from typing import Any

import pytest
from perplexity.generated.api import ResponsesRequestInput

from tasks.agents.agent import JobAnswer, ReportSource
from tasks.agents.kinds.perplexity import list_sources, read
from tasks.agents.registry import open_agent
from tasks.agents.wire.answers import UNKNOWN_SOURCE
from tasks.models.errors import Misconfigured
from tests.servers.job_reports import default_report, passages
from tests.servers.jobs import JobScript
from tests.tasks.agents.conversations import PLACE, PROMPT, question
from tests.tasks.agents.job_clients import PERPLEXITY, answer_of, ask_of, request_of

URLS = [passage.url for passage in passages(default_report(PROMPT)) if passage.url]


def read_of(body: Any) -> JobAnswer:
    return read(json.dumps(body))


def results(*found: tuple[Any, str]) -> dict[str, Any]:
    return {"type": "search_results", "results": [{"id": n, "url": url} for n, url in found]}


def test_a_report_is_bought_waited_for_and_read_with_its_numbered_sources() -> None:
    answer = answer_of(PERPLEXITY, JobScript(polls=2))
    assert answer.outcome == "report"
    assert "Insel Ærø [1]. 東京の人口は約1400万人である [2]." in answer.text
    assert "75 Minuten ⛴ [1]." in answer.text
    assert [source.url for source in answer.sources] == list(dict.fromkeys(URLS))
    assert answer.sources[1].title == "Tokyo"
    assert [(s.query, s.opened, s.parent) for s in answer.trace] == [
        (PROMPT, (), None),
        ("more", (), None),
        ("", (URLS[0],), 1),
    ]
    assert answer.cost_usd == 0.415
    assert answer.usage.searches == 7
    assert (answer.usage.input_tokens, answer.usage.cached_tokens) == (60_000, 1_000)
    assert answer.model_version == PERPLEXITY.model


def test_sources_stand_where_their_numbers_say() -> None:
    found = list_sources([results((4, "https://d/"), (1, "https://a/")), {"type": "message"}])
    assert found == (
        ReportSource(url="https://a/"),
        UNKNOWN_SOURCE,
        UNKNOWN_SOURCE,
        ReportSource(url="https://d/"),
    )
    unnumbered = list_sources([results((1, "https://a/")), results((None, "https://b/"))])
    assert [source.url for source in unnumbered] == ["https://a/", "https://b/"]
    assert list_sources([results((10**9, "https://far/"))]) == ()
    assert list_sources([]) == ()


@pytest.mark.parametrize("name", ["effort", "preset"])
def test_an_effort_takes_the_models_place_and_one_of_them_must_be_named(name: str) -> None:
    asked = {"input": PROMPT, "background": True, name: "high"}
    assert request_of(PERPLEXITY, question(), parameters={name: "high"}) == asked
    assert ResponsesRequestInput.model_validate(asked, extra="forbid")  # by the maker's own types
    assert request_of(PERPLEXITY, question())["model"] == "openai/gpt-5.5"
    nobody = ask_of(PERPLEXITY, "http://x", model="")
    with pytest.raises(Misconfigured, match=r"name a `model`, or an `effort`.*agents\.yaml"):
        open_agent("a", nobody, "k", PLACE)


def test_searches_are_counted_as_billed_else_as_listed_else_not_at_all() -> None:
    listed = {"status": "completed", "output": [results((1, "https://a/"))]}
    billed = {"tool_calls_details": {"web_search": {"invocation": 3}, "fetch_url": {}}}
    assert read_of(listed | {"usage": billed}).usage.searches == 3
    assert read_of(listed).usage.searches == 1
    assert read_of({"status": "completed", "output": []}).usage.searches is None


def test_a_cost_in_other_money_is_not_taken_for_dollars() -> None:
    def of(cost: Any) -> float | None:
        return read_of({"status": "completed", "usage": {"cost": cost}}).cost_usd

    assert of({"currency": "USD", "total_cost": 0}) == 0.0
    assert of({"currency": "EUR", "total_cost": 1.0}) is None
    assert of({"total_cost": -1}) is None
    assert of({"total_cost": float("nan")}) is None
    assert of("1") is None
