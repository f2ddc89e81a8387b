"""Pages that are asked, answers that do not come, and targets that are decided already."""

import asyncio
from typing import Any

import pytest

from tasks.inversion.draft import QuestionDraft
from tasks.inversion.steps import invert
from tasks.warehouse.rows import Status
from tests.tasks.inversion.scripted import (
    PAGE,
    RIGHT,
    SOURCE,
    TARGET,
    TEXT,
    WRONG,
    ScriptedInverter,
    bench,
    drafted,
    failed,
)


def test_pages_are_asked_by_promise_and_no_more_than_the_bound_allows() -> None:
    good = "https://good.example.org/p"
    archived = [(f"https://p{n}.example.org", f"{PAGE} {n}") for n in range(5)]
    archived.append((good, f"{PAGE} Marguerite Oakeshott died in 1891."))
    inverter = ScriptedInverter()
    draft = drafted(inverter, archived=archived, pages_per_question=2)
    assert draft.page_probes is not None
    assert len(draft.page_probes) == 2
    assert draft.page_probes[0].url == good


def test_the_article_and_its_copies_are_never_asked() -> None:
    inverter = ScriptedInverter(answer_from_page=RIGHT)
    archived = [(SOURCE.url, TEXT), ("https://copy.example.org", TEXT)]
    draft = drafted(inverter, archived=archived)
    assert (draft.state, draft.page_probes) == ("accepted", ())
    assert "answer_from_page" not in inverter.steps()


def test_a_page_that_cannot_be_assessed_is_noted_and_the_question_kept() -> None:
    for status in (Status.BLOCKED, Status.NOT_ASSESSED):
        draft = drafted(ScriptedInverter(answer_from_page=failed(status)))
        assert draft.state == "accepted"
        assert [(p.status, p.f1) for p in draft.page_probes or ()] == [(status, None)]


ASKED = ["pose_question", "find_others", "answer_closed_book", "answer_from_page",
         "estimate_difficulty"]  # fmt: skip


@pytest.mark.parametrize("status", [Status.JUDGE_ERROR, Status.UNPARSABLE, Status.SKIPPED])
@pytest.mark.parametrize("step", ASKED)
def test_a_step_without_a_usable_answer_leaves_the_question_open(step: str, status: Status) -> None:
    draft = drafted(ScriptedInverter(**{step: failed(status)}))
    assert (draft.state, draft.reason) == ("open", status)
    assert step in str(draft.detail)


@pytest.mark.parametrize("step", ["answer_closed_book", "answer_from_page"])
def test_a_probe_that_cannot_be_matched_leaves_the_question_open(step: str) -> None:
    replies: dict[str, Any] = {step: WRONG, "match_claims": failed(Status.UNPARSABLE)}
    draft = drafted(ScriptedInverter(**replies))
    assert (draft.state, draft.reason) == ("open", Status.UNPARSABLE)
    assert draft.closed_book_f1 == (None if step == "answer_closed_book" else 0)


@pytest.mark.parametrize(
    "step", ["pose_question", "find_others", "answer_closed_book", "estimate_difficulty"]
)
def test_a_step_that_was_refused_for_good_rejects_the_question(step: str) -> None:
    draft = drafted(ScriptedInverter(**{step: failed(Status.BLOCKED)}))
    assert (draft.state, draft.reason) == ("rejected", "blocked")


def test_decided_targets_are_not_asked_again() -> None:
    inverter = ScriptedInverter(find_targets=(TARGET, TARGET, TARGET))
    heard: dict[int, QuestionDraft] = {}

    async def note(number: int, n_targets: int, draft: QuestionDraft) -> None:
        assert n_targets == 3
        heard[number] = draft

    done = asyncio.run(invert(bench(inverter), {0, 2}, note))
    assert heard.keys() == done.drafts.keys() == {1}
    assert inverter.steps().count("pose_question") == 1


def test_without_a_target_nothing_else_is_asked() -> None:
    for reply in ((), failed()):
        inverter = ScriptedInverter(find_targets=reply)
        assert asyncio.run(invert(bench(inverter))).drafts == {}
        assert inverter.steps() == ["find_targets"]
