"""Keywords put to a model: what it is shown, and which answers count."""

import asyncio
from typing import Any

import pytest

from tasks.judges.research import RateKeywords
from tasks.warehouse.rows import Status
from tests.servers.fences import Parsed, parse
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.servers.oracle import Answer, Oracle
from tests.tasks.judges.recording import Recorder, at_server, recorded

REQUEST = RateKeywords(
    report="The vet, a vet and the vet: deworming.", keywords=("vet", "Deworming", "feral\ncat")
)


class Says(Oracle):
    """Answers as it is told."""

    def __init__(self, **changes: Any) -> None:
        super().__init__()
        self.changes = changes

    def decide(self, prompt: Parsed, schema: dict[str, Any] | None) -> Answer:
        answer = super().decide(prompt, schema)
        answer["results"][0] |= self.changes
        return answer


@pytest.mark.parametrize("server", [OpenAiServer, GeminiServer])
def test_each_keyword_gets_a_score_and_a_reason(server: Any) -> None:
    answers = at_server(server(), lambda judge: judge.decide(REQUEST))
    assert [answer.label for answer in answers] == ["4", "2", "1"]
    assert {(answer.status, answer.asked_together) for answer in answers} == {(Status.OK, 3)}
    assert answers[0].reason == "It stands there 3 times."


@pytest.mark.parametrize(
    "changes", [{"score": "0"}, {"score": "6"}, {"score": "2.5"}, {"score": None}, {"keyword": 2},
                {"keyword": 9}],
)  # fmt: skip
def test_an_answer_off_the_scale_or_about_something_else_is_none(changes: dict[str, Any]) -> None:
    server = GeminiServer(model=Says(**changes))
    answers = at_server(server, lambda judge: judge.decide(REQUEST))
    assert {answer.status for answer in answers} == {Status.UNPARSABLE}


def test_requests_about_one_report_begin_alike_and_keywords_stay_on_one_line() -> None:
    recorder = Recorder()
    judge = recorded(recorder)
    for keyword in REQUEST.keywords:
        one = REQUEST.model_copy(update={"keywords": (keyword,)})
        asyncio.run(judge.decide(one))
    blocks = [parse(request.prompt).blocks for request in recorder.asked]
    assert [[block.name for block in found] for found in blocks] == [["report", "keyword"]] * 3
    assert {found[0].text for found in blocks} == {REQUEST.report}
    assert [found[1].text for found in blocks] == ["vet", "Deworming", "feral cat"]
    end = recorder.asked[0].prompt.index("Keyword 1")
    assert len({request.prompt[:end] for request in recorder.asked}) == 1
