"""Key points and what supports them, through the real clients."""

import json
from typing import Any

import pytest

from tasks.judges.llm.excerpts import count_bytes
from tasks.judges.questions.extract_key_points import ExtractKeyPoints
from tasks.judges.questions.merge_key_points import MergeKeyPoints
from tasks.judges.text import occurs_in
from tasks.models.prices import BYTES_PER_TOKEN
from tasks.warehouse.rows import Status
from tests.servers.fences import parse
from tests.servers.openai import OpenAiServer
from tests.servers.oracle import Oracle
from tests.servers.test_servers import BOTH
from tests.tasks.judges.llm.requests import POINTS, SUPPORT
from tests.tasks.judges.llm.test_page import FILLER, Seeing
from tests.tasks.judges.recording import Changing, at_server


class Saying(Oracle):
    """Answers in these words, whatever it is asked; the last ones again and again."""

    def __init__(self, *answers: Any) -> None:
        super().__init__()
        self._answers = [json.dumps(answer) for answer in answers]
        self.n_asked = 0

    def answer(self, system: str, user: str, schema: dict[str, Any] | None) -> str:
        self.n_asked += 1
        return self._answers[min(self.n_asked, len(self._answers)) - 1]


@pytest.mark.parametrize(("together", "calls"), [(1, 3), (2, 2), (9, 1)])
def test_points_are_asked_one_a_call_unless_its_judge_takes_more_together(
    together: int, calls: int
) -> None:
    server = OpenAiServer()
    answers = at_server(server, lambda judge: judge.decide(POINTS), claims_per_call=together)
    assert [answer.label for answer in answers] == ["supported", "contradicted", "omitted"]
    assert [answer.evidence for answer in answers] == ["The tower opened in 1889."] * 2 + [None]
    assert len(server.log.entries) == calls
    assert max(answer.asked_together or 0 for answer in answers) == min(together, 3)


def test_a_passage_that_does_not_stand_in_the_report_is_no_evidence() -> None:
    def invent(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [result | {"passage": "The tower fell."} for result in results]

    server = OpenAiServer(model=Changing(invent))
    answers = at_server(server, lambda judge: judge.decide(POINTS))
    assert [(answer.label, answer.evidence) for answer in answers] == [
        ("supported", None), ("contradicted", None), ("omitted", None),
    ]  # fmt: skip


def test_the_passages_of_support_stand_on_its_pages() -> None:
    answers = at_server(OpenAiServer(), lambda judge: judge.decide(SUPPORT))
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


DOCUMENT = "The tower opened in 1889. It is red.\n\nThe tower opened in 1889."
MERGE = MergeKeyPoints(question="Tower", points=("It is red.", "It is tall.", "It is red."))


@BOTH
def test_points_are_found_with_their_spans_and_merged_with_their_numbers(kind: type[Any]) -> None:
    asked = ExtractKeyPoints(question="Tower", document=DOCUMENT)
    said = at_server(kind(), lambda judge: judge.answer(asked))
    assert said.status is Status.OK
    assert [(point.text, point.spans) for point in said.value or ()] == [
        ("The tower opened in 1889.", ("The tower opened in 1889.",)),
        ("It is red.", ("It is red.",)),
    ]
    fewer = at_server(kind(), lambda judge: judge.answer(MERGE))
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
    said = at_server(OpenAiServer(model=model), lambda judge: judge.answer(MERGE))
    assert model.n_asked == 2
    assert [point.merged_from for point in said.value or ()] == [(1, 3), (2,)]
    model = Saying(answer)
    said = at_server(OpenAiServer(model=model), lambda judge: judge.answer(MERGE))
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
    said = at_server(OpenAiServer(model=model), lambda judge: judge.answer(asked))
    assert (model.n_asked, said.status, len(said.value or ())) == (2, Status.OK, 2)
    said = at_server(OpenAiServer(model=Saying(answer)), lambda judge: judge.answer(asked))
    assert (said.status, said.value) == (Status.UNPARSABLE, None)
    assert "no span stands in the document" in str(said.reason)
    none = Saying({"points": []})
    said = at_server(OpenAiServer(model=none), lambda judge: judge.answer(asked))
    assert (none.n_asked, said.status) == (1, Status.OK)
