"""Key points, support and ratings through the real clients."""

import asyncio
import json
from typing import Any

import pytest

from tasks.judges.decisions import Criterion
from tasks.judges.llm.excerpts import count_bytes
from tasks.judges.research import (
    CheckPoints,
    ExtractKeyPoints,
    MergeKeyPoints,
    RateReport,
    VerifySupport,
)
from tasks.judges.text import occurs_in
from tasks.models.prices import BYTES_PER_TOKEN
from tasks.warehouse.rows import Status
from tests.servers.fences import parse
from tests.servers.openai import OpenAiServer
from tests.servers.oracle import Oracle
from tests.servers.test_servers import BOTH
from tests.tasks.judges.llm.test_page import FILLER, Seeing
from tests.tasks.judges.llm.test_prompts import _shared
from tests.tasks.judges.recording import Recorder, at_server, recorded

REPORT = "# Towers\n\nThe tower opened in 1889. It was painted red by hand.\n"
POINTS = CheckPoints(
    question="What of the tower?",
    report=REPORT,
    points=("The tower opened in 1889.", "The tower opened in 1906.", "Painters earn little."),
)
SUPPORT = VerifySupport(
    claims=("The tower opened in 1889.", "The tower was painted red in spring.", "Nobody came."),
    pages=("In 1889 the tower opened to visitors.", "Hands painted it red. A dog barked."),
)
RATE = RateReport(
    question="What of the tower?",
    report=REPORT,
    criteria=(Criterion(id="clarity", text="easy"), Criterion(id="insight", text="deep")),
)


class Saying(Oracle):
    """Answers in these words, whatever it is asked; the last ones again and again."""

    def __init__(self, *answers: Any) -> None:
        super().__init__()
        self._answers = [json.dumps(answer) for answer in answers]
        self.n_asked = 0

    def answer(self, system: str, user: str, schema: dict[str, Any] | None) -> str:
        self.n_asked += 1
        return self._answers[min(self.n_asked, len(self._answers)) - 1]


@BOTH
def test_a_point_is_supported_contradicted_or_omitted_with_a_passage_of_the_report(
    kind: type[Any],
) -> None:
    answers = at_server(kind(), lambda judge: judge.decide(POINTS))
    assert [answer.label for answer in answers] == ["supported", "contradicted", "omitted"]
    assert [answer.evidence for answer in answers] == ["The tower opened in 1889."] * 2 + [None]
    assert {answer.asked_together for answer in answers} == {1}
    assert all(answer.reason and answer.call_id for answer in answers)


def test_points_are_asked_one_a_call_unless_its_judge_takes_more_together() -> None:
    for together, calls in ((1, 3), (2, 2), (9, 1)):
        recorder = Recorder()
        judge = recorded(recorder, claims_per_call=together)
        asyncio.run(judge.decide(POINTS))
        assert len(recorder.asked) == calls
        assert sum(request.purpose.n_items for request in recorder.asked) == 3


def test_the_points_of_a_report_share_all_up_to_the_point() -> None:
    recorder = Recorder()
    asyncio.run(recorded(recorder).decide(POINTS))
    common = _shared([request.prompt for request in recorder.asked])
    assert [block.text for block in parse(common).blocks] == [POINTS.question, REPORT]
    assert len({request.system for request in recorder.asked}) == 1


def test_a_passage_that_does_not_stand_in_the_report_is_no_evidence() -> None:
    said = {"passage": "The tower fell.", "point": 1, "reason": "So.", "verdict": "supported"}
    server = OpenAiServer(model=Saying({"results": [said]}))
    one = POINTS.model_copy(update={"points": POINTS.points[:1]})
    (answer,) = at_server(server, lambda judge: judge.decide(one))
    assert (answer.label, answer.evidence) == ("supported", None)


@pytest.mark.parametrize("verdict", ["Supported", "perhaps", "", None, 1])
def test_another_verdict_leaves_the_point_open(verdict: Any) -> None:
    said = {"passage": "", "point": 1, "reason": "So.", "verdict": verdict}
    server = OpenAiServer(model=Saying({"results": [said]}))
    one = POINTS.model_copy(update={"points": POINTS.points[:1]})
    (answer,) = at_server(server, lambda judge: judge.decide(one))
    assert (answer.status, answer.label) == (Status.UNPARSABLE, None)


@BOTH
def test_support_is_full_in_part_or_none_over_all_pages_together(kind: type[Any]) -> None:
    answers = at_server(kind(), lambda judge: judge.decide(SUPPORT))
    assert [answer.label for answer in answers] == ["full", "partial", "none"]
    assert {answer.asked_together for answer in answers} == {3}
    for answer in answers[:2]:
        assert answer.evidence
        assert occurs_in(answer.evidence, SUPPORT.page)
    assert [answer.shown_share for answer in answers] == [None] * 3


def test_no_address_of_a_page_is_shown_and_long_pages_are_cut_together() -> None:
    model = Seeing()
    pages = (FILLER, *SUPPORT.pages, FILLER)
    long = SUPPORT.model_copy(update={"pages": pages})
    server = OpenAiServer(model=model)
    answers = at_server(server, lambda judge: judge.decide(long), page_tokens=2_000)
    assert [answer.label for answer in answers] == ["full", "partial", "none"]
    ((_, user),) = model.seen
    (shown,) = parse(user).texts("pages")
    assert count_bytes(shown) <= 2_000 * BYTES_PER_TOKEN
    assert all(0 < (answer.shown_share or 0) < 1 for answer in answers)
    assert "http" not in user


@BOTH
def test_a_report_is_rated_by_all_criteria_in_one_call(kind: type[Any]) -> None:
    answers = at_server(kind(), lambda judge: judge.decide(RATE))
    assert [(answer.status, answer.label) for answer in answers] == [(Status.OK, "0")] * 2
    assert {answer.asked_together for answer in answers} == {2}


@pytest.mark.parametrize("score", ["11", "-1", "7.5", 7, "", "ten"])
def test_a_rating_that_is_no_whole_number_of_the_scale_is_unusable(score: Any) -> None:
    said = [{"criterion": c.id, "reason": "So.", "score": score} for c in RATE.criteria]
    answers = at_server(
        OpenAiServer(model=Saying({"results": said})), lambda judge: judge.decide(RATE)
    )
    assert {answer.status for answer in answers} == {Status.UNPARSABLE}


DOCUMENT = "The tower opened in 1889. It is red.\n\nThe tower opened in 1889."
MERGE = MergeKeyPoints(question="Tower", points=("It is red.", "It is tall.", "It is red."))


@BOTH
def test_points_are_found_with_their_spans_and_merged_with_their_numbers(kind: type[Any]) -> None:
    asked = ExtractKeyPoints(question="Tower", document=DOCUMENT)
    said = at_server(kind(), lambda judge: judge.extract_key_points(asked))
    assert said.status is Status.OK
    assert [(point.text, point.spans) for point in said.value or ()] == [
        ("The tower opened in 1889.", ("The tower opened in 1889.",)),
        ("It is red.", ("It is red.",)),
    ]
    fewer = at_server(kind(), lambda judge: judge.merge_key_points(MERGE))
    assert [(point.text, point.merged_from) for point in fewer.value or ()] == [
        ("It is red.", (1, 3)), ("It is tall.", (2,)),
    ]  # fmt: skip


def merged(*points: tuple[str, list[int]]) -> dict[str, Any]:
    return {"points": [{"merged_from": numbers, "point": text} for text, numbers in points]}


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (merged(("It is red.", [1, 3])), "2 is in no point"),
        (merged(("It is red and tall.", [1, 2, 3, 4])), "4 is none of 1 to 3"),
        (merged(("It is.", [0, 1, 2, 3])), "0 is none of 1 to 3"),
        (merged(("It is.", [1, 2, 3]), ("More.", [])), "merged from nothing"),
        (merged(("It is.", [1, 2, 3]), (" ", [1])), "has no text"),
        (merged(), "1 is in no point"),
    ],
)
def test_a_merging_that_loses_or_makes_up_points_is_asked_for_again(
    answer: dict[str, Any], says: str
) -> None:
    good = merged(("It is red.", [3, 1]), ("It is tall.", [2, 2]))
    model = Saying(answer, good)
    said = at_server(OpenAiServer(model=model), lambda judge: judge.merge_key_points(MERGE))
    assert model.n_asked == 2
    assert [point.merged_from for point in said.value or ()] == [(1, 3), (2,)]
    model = Saying(answer)
    said = at_server(OpenAiServer(model=model), lambda judge: judge.merge_key_points(MERGE))
    assert (said.status, said.value) == (Status.UNPARSABLE, None)
    assert says in str(said.reason)


def found(*points: tuple[str, list[str]]) -> dict[str, Any]:
    return {"points": [{"point": text, "spans": spans} for text, spans in points]}


@pytest.mark.parametrize(
    "answer",
    [
        found(("It is blue.", ["It is blue."]), ("It is old.", [])),
        found((" ", ["It is red."])),
    ],
)
def test_points_none_of_which_the_document_bears_out_are_asked_for_again(
    answer: dict[str, Any],
) -> None:
    asked = ExtractKeyPoints(question="Tower", document=DOCUMENT)
    good = found(("It is blue.", ["It is blue."]), ("It is red.", ["it  is red"]))
    model = Saying(answer, good)
    said = at_server(OpenAiServer(model=model), lambda judge: judge.extract_key_points(asked))
    assert (model.n_asked, said.status, len(said.value or ())) == (2, Status.OK, 2)
    said = at_server(
        OpenAiServer(model=Saying(answer)), lambda judge: judge.extract_key_points(asked)
    )
    assert (said.status, said.value) == (Status.UNPARSABLE, None)
    assert "no span stands in the document" in str(said.reason)
    none = Saying({"points": []})
    said = at_server(OpenAiServer(model=none), lambda judge: judge.extract_key_points(asked))
    assert (none.n_asked, said.status) == (1, Status.OK)
