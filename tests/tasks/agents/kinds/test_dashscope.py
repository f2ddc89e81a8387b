"""qwen-deep-research over DashScope's stream."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tasks.agents.agent import JobAnswer, ReportSource
from tasks.agents.kind import AgentFolders
from tasks.agents.kinds.dashscope import read
from tasks.agents.registry import open_agent
from tasks.models.errors import (
    Misconfigured,
    ModelError,
    QuotaExhausted,
    RequestRejected,
    TransientError,
)
from tests.servers.agent_dashscope import Chunk, DashScopeServer, chunk, finished, typed
from tests.servers.serving import serving
from tests.tasks.agents.conversations import (
    KEY,
    QUICK,
    SAID,
    TOLD,
    bought,
    cited,
    entry,
    question,
    start,
)

PATH = "/api/v1"
REPORT = " Die Straße\n\nDie Straße grew by a third[2]. It then shrank by a half[1]."
REPLY = question("Decide yourself.", history=SAID)


def second_turn(server: DashScopeServer, **more: Any) -> JobAnswer:
    return bought("dashscope", server, REPLY, path=PATH, **more)


def test_the_first_answer_is_a_question_back() -> None:
    answer = bought("dashscope", DashScopeServer(), path=PATH)
    assert (answer.outcome, answer.text) == ("question", "Which decades matter, and 哪些方面?")
    assert answer.usage.searches is None


def test_the_second_is_the_report_with_its_sources_and_searches() -> None:
    server = DashScopeServer(REPORT)
    answer = second_turn(server)
    assert (answer.outcome, answer.text) == ("report", f"#{REPORT}")
    assert [(said.url, said.title) for said in answer.sources] == [
        ("https://a.org/one", "One"), ("https://b.org/two", "二")
    ]  # fmt: skip
    assert [step.query for step in answer.trace] == ["人工智能 town", "second"]
    assert answer.usage.model_dump(exclude_none=True) == {
        "input_tokens": 652, "output_tokens": 8930, "searches": 2
    }  # fmt: skip
    assert cited(answer) == [("https://b.org/two",), ("https://a.org/one",)]
    assert server.asked[0]["input"]["messages"] == TOLD


def test_parameters_of_the_entry_go_over_ours_but_pieces_stay_pieces() -> None:
    server = DashScopeServer()
    given = {"parameters": {"enable_feedback": False, "incremental_output": False}}
    second_turn(server, parameters=given)
    assert server.asked[0]["parameters"] == {
        "result_format": "message", "enable_feedback": False, "incremental_output": True
    }  # fmt: skip


def test_a_long_stream_is_kept_as_few_pieces_that_lose_nothing() -> None:
    server = DashScopeServer("A sentence of the report. " * 2_000)
    seen = start("dashscope", server, REPLY, path=PATH, limits=QUICK | {"timeout_seconds": 60})
    kept = json.loads(seen.raw or "")
    assert len(kept["stream"]) < 20
    assert "The plan is this.\u2028Then that." in {piece["content"] for piece in kept["stream"]}
    assert kept["request_id"] == "eee227a4"
    assert read(seen.raw or "").text == "#" + "A sentence of the report. " * 2_000


@pytest.mark.parametrize("chunks", [
    [], [*typed("answer", "Half a rep")], [finished("ResearchPlanning")],
    [("result", {"output": {}})], [("result", None)],
])  # fmt: skip
def test_a_stream_that_ends_before_its_answer_is_perhaps_billed(chunks: list[Chunk]) -> None:
    server = DashScopeServer()
    server.chunks = chunks
    with pytest.raises(TransientError, match="ended before its answer") as caught:
        start("dashscope", server, path=PATH)
    assert caught.value.maybe_billed


def test_an_error_amid_the_stream_ends_it_and_what_came_is_kept() -> None:
    server = DashScopeServer()
    server.chunks = [*typed("answer", "Half a rep"),
                     ("error", {"code": "InternalError", "message": "Sorry."})]  # fmt: skip
    answer = bought("dashscope", server, path=PATH)
    assert (answer.outcome, answer.text) == ("failed", "Half a rep")
    assert answer.error == "InternalError: Sorry."
    assert answer.usage.input_tokens == 652


@pytest.mark.parametrize(
    ("code", "meaning", "maybe_billed"),
    [
        ("Throttling.RateQuota", TransientError, False),
        ("InternalError", TransientError, True),
        ("Arrearage", QuotaExhausted, None),
        ("InvalidApiKey", Misconfigured, None),
        ("DataInspectionFailed", RequestRejected, None),
    ],
)
def test_an_error_in_place_of_the_stream_means_what_its_code_says(
    code: str, meaning: type[ModelError], maybe_billed: bool | None
) -> None:
    server = DashScopeServer()
    server.chunks = [("error", {"code": code, "message": f"{KEY} is no good"})]
    with pytest.raises(meaning) as caught:
        start("dashscope", server, path=PATH)
    assert KEY not in str(caught.value)
    if isinstance(caught.value, TransientError):
        assert caught.value.maybe_billed is maybe_billed


def test_an_account_in_arrears_is_told_by_its_code_not_its_status() -> None:
    class InArrears(DashScopeServer):
        def sell(self, *args: Any) -> Any:
            return self.error(400, "Access denied, is your account in good standing?", "Arrearage")

    with pytest.raises(QuotaExhausted, match="no credit"):
        start("dashscope", InArrears(), path=PATH)


def test_an_answer_that_is_whole_is_kept_although_the_stream_is_not_closed_well() -> None:
    server = DashScopeServer(faults=["half_body"])
    first = [*typed("answer", "A question?"), finished("answer")]
    server.chunks = [*first, *[chunk("KeepAlive", "typing")] * len(first) * 2]
    assert bought("dashscope", server, path=PATH).text == "A question?"


def test_a_stream_that_stays_open_after_its_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tasks.agents.kinds.dashscope.LINGER_SECONDS", 0.1)
    server = DashScopeServer(faults=["stall_mid_body"])
    first = [*typed("answer", "A question?"), finished("answer")]
    server.chunks = [*first, *[chunk("KeepAlive", "typing")] * len(first) * 2]
    assert bought("dashscope", server, path=PATH, limits=QUICK | {"timeout_seconds": 60}).text


def test_sources_without_numbers_take_the_next_and_gaps_keep_their_place() -> None:
    references = [
        {"index_number": 3, "url": "https://c.org/3"}, {"url": "https://d.org/4"},
        {"index_number": 1, "url": "https://a.org/1"}, {"index_number": 10**9, "url": "https://x.org"},
        {"index_number": -1, "url": "https://e.org/5"}, {"index_number": 2}, "odd",
    ]  # fmt: skip
    pieces = [{"phase": "answer", "content": "x", "extra": {"references": references}}]
    assert read(json.dumps({"stream": pieces})).sources == (
        ReportSource(url="https://a.org/1"), ReportSource(url=""), ReportSource(url="https://c.org/3"),
        ReportSource(url="https://d.org/4"), ReportSource(url="https://e.org/5"),
    )  # fmt: skip


def test_being_stopped_amid_a_stream_is_passed_on() -> None:
    async def run(address: str) -> None:
        ask = entry("dashscope", address + PATH)
        client = open_agent("agent-1", ask, KEY, AgentFolders(work=Path("unused"), archive=None))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.start(question()), 0.2)
        await client.close()

    with serving(DashScopeServer(faults=["stall_mid_body"])) as address:
        asyncio.run(run(address))
