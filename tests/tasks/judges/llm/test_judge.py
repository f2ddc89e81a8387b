"""Every decision of the seam, through the real clients, by a model that counts words."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from tasks.judges.decisions import JudgeAnswer
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.questions.extract_statements import ExtractClaims, ExtractFacts
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.warehouse.rows import Status
from tests.servers.base import ModelServer
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.servers.test_servers import BOTH
from tests.tasks.judges.llm.requests import CLAIMS, ON_PAGE, PAIR, POOL
from tests.tasks.judges.recording import Changing, Recorder, at_server, recorded
from tests.tasks.models.scripted import MemoryLedger

LABELS = ["consistent", "inconsistent", "not_support", "consistent", "not_support"]
SAME = PAIR.model_copy(update={"second": PAIR.first})
REPORT = "# Tower\nThe tower opened\tin 1889.[1] It is tall. It is old [2].\n"


def verified(request: VerifyClaims) -> Callable[[LlmJudge], Awaitable[Sequence[JudgeAnswer]]]:
    return lambda judge: judge.decide(request)


def on_page(judge: LlmJudge) -> Awaitable[Sequence[JudgeAnswer]]:
    return judge.decide(ON_PAGE)


def labels(answers: Sequence[JudgeAnswer]) -> list[str | None]:
    return [answer.label for answer in answers]


def check_called(answers: Sequence[JudgeAnswer], ledger: MemoryLedger, together: int) -> None:
    for answer in answers:
        assert answer.status is Status.OK
        assert answer.call_id in ledger.calls
        assert answer.model_version == "some-model"
        assert answer.asked_together == together
        assert answer.attempt == 1
        assert answer.reason


@BOTH
def test_claims_are_verified_one_call_each(kind: type[ModelServer]) -> None:
    server, ledger = kind(), MemoryLedger()
    answers = at_server(server, verified(CLAIMS), ledger)
    assert labels(answers) == LABELS
    check_called(answers[:4], ledger, together=1)
    assert [answer.evidence for answer in answers] == [
        "In 1889 the tower opened to visitors.", "In 1889 the tower opened to visitors.", None,
        "It is made of iron.", None,
    ]  # fmt: skip
    assert len(server.log.entries) == len(ledger.calls) == 4


def test_a_claim_for_which_nothing_was_retrieved_needs_no_call() -> None:
    server = GeminiServer()
    nothing = VerifyClaims(claims=("A claim.",), pool=POOL, retrieved=((),))
    (answer,) = at_server(server, verified(nothing))
    assert (answer.status, answer.label) == (Status.OK, "not_support")
    assert answer.reason
    assert "no model was asked" in answer.reason
    assert (answer.call_id, answer.asked_together, answer.model_version) == (None, None, None)
    assert server.log.entries == []


@BOTH
@pytest.mark.parametrize(("size", "together"), [(2, [2, 2, 2, 2]), (3, [3, 3, 3, 1]), (9, [4] * 4)])
def test_claims_asked_together_get_the_same_labels_and_say_so(
    kind: type[ModelServer], size: int, together: list[int]
) -> None:
    answers = at_server(kind(), verified(CLAIMS), claims_per_call=size)
    assert labels(answers) == LABELS
    assert [answer.asked_together for answer in answers] == [*together, None]
    assert len({answer.call_id for answer in answers[:4]}) == len(set(together)) or size == 2


def invent(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Quote what stands nowhere and point at evidence that is not there."""
    made_up = {"passage": "It says: in 1889 it opened.", "evidence": [0, 2, 7, -1]}
    return [r | {key: made_up[key] for key in made_up.keys() & r.keys()} for r in results]


@BOTH
def test_evidence_that_does_not_stand_there_is_dropped(kind: type[ModelServer]) -> None:
    answers = at_server(kind(model=Changing(invent)), on_page)
    assert labels(answers) == ["support", "conflict", "not_support"]
    assert [answer.evidence for answer in answers] == [None, None, None]
    one = VerifyClaims(claims=CLAIMS.claims[:1], pool=POOL, retrieved=((0, 1),))
    (answer,) = at_server(kind(model=Changing(invent)), verified(one))
    assert (answer.label, answer.evidence) == ("consistent", "It is made of iron.")


@BOTH
def test_articles_are_compared_by_all_criteria_in_one_call(kind: type[ModelServer]) -> None:
    server, ledger = kind(), MemoryLedger()
    answers = at_server(server, lambda judge: judge.decide(PAIR), ledger)
    assert set(labels(answers)) == {"first", "second"}
    check_called(answers, ledger, together=len(PAIR.criteria))
    turned = PAIR.model_copy(update={"first": PAIR.second, "second": PAIR.first})
    swapped = {"first": "second", "second": "first"}
    back = at_server(server, lambda judge: judge.decide(turned))
    assert labels(back) == [swapped[str(label)] for label in labels(answers)]


@BOTH
def test_equal_articles_tie_where_a_tie_is_allowed(kind: type[ModelServer]) -> None:
    allowed = SAME.model_copy(update={"allow_tie": True})
    server = kind()
    tied = at_server(server, lambda judge: judge.decide(allowed))
    assert set(labels(tied)) == {"tie"}
    decided = at_server(server, lambda judge: judge.decide(SAME))
    assert set(labels(decided)) <= {"first", "second"}


@BOTH
def test_facts_and_claims_are_extracted(kind: type[ModelServer]) -> None:
    server, ledger = kind(), MemoryLedger()
    facts = at_server(
        server, lambda judge: judge.extract(ExtractFacts(title="T", text=REPORT)), ledger
    )
    assert [s.text for s in facts.value or ()] == [
        "The tower opened in 1889.", "It is tall.", "It is old.",
    ]  # fmt: skip
    claims = at_server(
        server, lambda judge: judge.extract(ExtractClaims(title="T", text=REPORT)), ledger
    )
    assert [s.markers for s in claims.value or ()] == [("[1]",), ("[2]",), ("[2]",)]
    assert facts.status is claims.status is Status.OK
    assert {facts.call_id, claims.call_id} == ledger.calls.keys()


@pytest.mark.parametrize("words", [100, 3000])
def test_a_prompt_that_does_not_fit_is_not_assessed_and_not_sent(words: int) -> None:
    server = OpenAiServer()
    claims = (*ON_PAGE.claims[:2], ON_PAGE.claims[2] + " And more" * words)
    long = ON_PAGE.model_copy(update={"claims": claims})
    answers = at_server(server, lambda judge: judge.decide(long), context_tokens=4000)
    if words == 100:
        assert labels(answers) == ["support", "conflict", "not_support"]
        return
    assert [answer.status for answer in answers] == [Status.NOT_ASSESSED] * 3
    assert all(str(answer.reason).startswith("not_assessed: about ") for answer in answers)
    assert all("do not fit the 4,000 that a_judge can read" in str(a.reason) for a in answers)
    assert server.log.entries == []


FAILING = [
    ("prose", Status.UNPARSABLE, 2),
    ("missing_item", Status.UNPARSABLE, 2),
    ("max_tokens", Status.UNPARSABLE, 2),
    ("safety", Status.BLOCKED, 2),
    ("unavailable_503", Status.JUDGE_ERROR, 1),
]


@BOTH
@pytest.mark.parametrize(("fault", "status", "n_calls"), FAILING)
def test_what_went_wrong_is_in_every_answer_of_the_call(
    kind: type[ModelServer], fault: str, status: Status, n_calls: int
) -> None:
    ledger = MemoryLedger()
    answers = at_server(kind(faults=FaultPlan((fault,), times=None)), on_page, ledger)
    assert [answer.status for answer in answers] == [status] * 3
    assert labels(answers) == [None] * 3
    assert all(answer.reason for answer in answers)
    assert {answer.call_id for answer in answers} <= ledger.calls.keys()
    assert len(ledger.calls) == n_calls
    assert {answer.attempt for answer in answers} == {n_calls}


def test_settings_and_prompts_are_part_of_the_prompt_sha() -> None:
    shas = [
        recorded(Recorder(), **settings).prompt_sha("wiki_fact")
        for settings in ({}, {"temperature": 0}, {"claims_per_call": 2}, {"thinking_level": "low"},
                         {"thinking_room": 10}, {"seed": 1})
    ]  # fmt: skip
    assert len(set(shas)) == len(shas)
    assert recorded(Recorder(), title="Another").prompt_sha("wiki_fact") == shas[0]
    assert recorded(Recorder()).prompt_sha("wiki_writing") != shas[0]


def test_a_schema_names_its_items_only_where_the_judge_is_set_so() -> None:
    plain, naming = Recorder(), Recorder()
    for recorder, named in ((plain, False), (naming, True)):
        judge = recorded(recorder, schema_names_items=named)
        asyncio.run(judge.decide(PAIR))
    assert 'enum":["ww_cc_1"' not in plain.asked[0].reply_schema
    assert 'enum":["ww_cc_1"' in naming.asked[0].reply_schema
    shas = [recorded(plain, schema_names_items=n).prompt_sha("wiki_writing") for n in (False, True)]
    assert shas[0] != shas[1]
