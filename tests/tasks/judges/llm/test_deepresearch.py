"""Citations and pairs of articles put to a model: what it is shown, and which answers count."""

import asyncio
from typing import Any

import pytest

from tasks.judges.decisions import Criterion
from tasks.judges.research import CheckCitations, CheckPoints, GradeItems, RubricItem, ScorePair
from tasks.warehouse.rows import Status
from tests.servers.base import ModelServer
from tests.servers.fences import Parsed, parse
from tests.servers.gemini import GeminiServer
from tests.servers.oracle import Answer, Oracle
from tests.servers.test_servers import BOTH
from tests.tasks.judges.recording import Recorder, at_server, recorded

PAGE = "The lighthouse was built in 1882. It was designed by James Douglass."
CITED = CheckCitations(
    claims=("The lighthouse was built in 1882.", "Seals live on Mars."), url="https://a.org/",
    page=PAGE,
)  # fmt: skip
CRITERIA = (Criterion(id="insight-1", text="Depth: is it deep?"), Criterion(id="b", text="Order?"))
PAIR = ScorePair(
    task="Why?", report=" ".join(map(str, range(60))), reference="Short.", criteria=CRITERIA
)
OWN = GradeItems(
    question="Why?", report=PAGE, prompt="own_rubric/grade_items",
    items=(RubricItem(id="a", text="built in 1882", allowed=("0", "0.5", "2"),
                      instructions="Half is 0.5."),),
)  # fmt: skip
POINTS = CheckPoints(
    question="Why?", report=PAGE, points=("The lighthouse was built in 1882.",),
    prompt="own_rubric/check_points",
)  # fmt: skip


class Says(Oracle):
    """Answers the first result as it is told."""

    def __init__(self, **changes: Any) -> None:
        super().__init__()
        self.changes = changes

    def decide(self, prompt: Parsed, schema: dict[str, Any] | None) -> Answer:
        answer = super().decide(prompt, schema)
        answer["results"][0] |= self.changes
        return answer


@BOTH
def test_all_statements_of_a_page_are_checked_in_one_call(kind: type[ModelServer]) -> None:
    server = kind()
    answers = at_server(server, lambda judge: judge.decide(CITED))
    assert [answer.label for answer in answers] == ["supported", "unsupported"]
    assert answers[0].evidence == "The lighthouse was built in 1882."
    assert len(server.log.entries) == 1


def test_a_page_without_content_makes_its_statements_unknown() -> None:
    empty = CITED.model_copy(update={"page": "Not found."})
    answers = at_server(GeminiServer(), lambda judge: judge.decide(empty))
    assert {answer.label for answer in answers} == {"unknown"}


@BOTH
def test_a_pair_gets_two_scores_a_criterion_the_report_s_first(kind: type[ModelServer]) -> None:
    answers = at_server(kind(), lambda judge: judge.decide(PAIR))
    assert len(answers) == 4
    ours, theirs = answers[0::2], answers[1::2]
    assert all(float(str(a.label)) >= 2 for a in ours)
    assert all(float(str(a.label)) <= 1.5 for a in theirs)
    assert {(answer.status, answer.asked_together) for answer in answers} == {(Status.OK, 2)}


def test_turned_around_the_scores_stay_with_their_articles() -> None:
    turned = PAIR.model_copy(update={"report_first": False})
    found = [
        at_server(GeminiServer(), lambda judge: judge.decide(PAIR)),
        at_server(GeminiServer(), lambda judge: judge.decide(turned)),
    ]
    assert [a.label for a in found[0]] == [a.label for a in found[1]]


@pytest.mark.parametrize(
    "changes",
    [{"score_1": 10.5}, {"score_2": -1}, {"score_1": "7"}, {"score_1": True}, {"score_2": None},
     {"score_1": 10**400}, {"criterion": "b"}, {"criterion": "Depth: is it deep?"}],
)  # fmt: skip
def test_a_score_off_the_scale_or_for_something_else_makes_the_answer_none(
    changes: dict[str, Any],
) -> None:
    answers = at_server(GeminiServer(model=Says(**changes)), lambda judge: judge.decide(PAIR))
    assert {answer.status for answer in answers} == {Status.UNPARSABLE}
    assert len(answers) == 4


@BOTH
def test_items_of_one_s_own_rubric_get_one_of_their_values(kind: type[ModelServer]) -> None:
    answers = at_server(kind(), lambda judge: judge.decide(OWN))
    assert [answer.label for answer in answers] == ["2"]
    points = at_server(kind(), lambda judge: judge.decide(POINTS))
    assert [answer.label for answer in points] == ["supported"]


def test_what_others_have_written_is_fenced_and_texts_come_before_what_is_asked_of_them() -> None:
    recorder = Recorder()
    judge = recorded(recorder)
    for request in (PAIR, CITED, OWN):
        asyncio.run(judge.decide(request))
    pair, cited, own = (parse(request.prompt) for request in recorder.asked)
    assert [b.name for b in pair.blocks] == [
        "task", "article_1", "article_2", "criterion", "criterion",
    ]  # fmt: skip
    assert [b.name for b in cited.blocks] == ["source", "statement", "statement"]
    assert [b.name for b in own.blocks] == ["query", "report", "item"]
    assert "Half is 0.5." in own.tail
    assert "Depth" not in pair.outside
    assert "https://a.org/" not in recorder.asked[1].prompt
