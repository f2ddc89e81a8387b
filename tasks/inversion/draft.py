"""The draft of a question, updated by each step."""

from dataclasses import dataclass, replace
from typing import Literal

from tasks.inversion.checks import QuestionMeasures
from tasks.judges.decisions import StepAnswer
from tasks.judges.inversion import (
    Effort,
    FoundAnswer,
    OtherAnswer,
    QuestionTarget,
)
from tasks.warehouse.rows import OPEN_STATUSES, Status
from tasks.warehouse.truths import TruthClaim

DraftState = Literal["under_way", "accepted", "rejected", "open"]


@dataclass(frozen=True)
class PageProbe:
    """The result of asking one page for the answer."""

    url: str
    status: Status
    f1: float | None = None
    """F1 of its answers; null if undecided."""
    reason: str | None = None


@dataclass(frozen=True)
class QuestionDraft:
    """One target's question in the making."""

    target: QuestionTarget
    state: DraftState = "under_way"
    reason: str | None = None
    """The category by which rejections are counted."""
    detail: str | None = None
    dropped: tuple[str, ...] = ()
    """Properties and sub-claims that failed a check, with the problem."""
    n_properties: int = 0
    """Number of the target's properties, from the first, that the question asks for."""
    question: str | None = None
    figures: QuestionMeasures | None = None
    pose_rounds: int = 0
    refinement_rounds: int = 0
    others: tuple[OtherAnswer, ...] = ()
    """Other answers to the current question."""
    added: tuple[OtherAnswer, ...] = ()
    """Other answers that joined the ground truth."""
    truths: tuple[TruthClaim, ...] = ()
    closed_book: tuple[FoundAnswer, ...] | None = None
    closed_book_f1: float | None = None
    page_probes: tuple[PageProbe, ...] | None = None
    """Null before the step; empty if there was no page to ask."""
    effort: Effort | None = None
    call_ids: tuple[str, ...] = ()
    model_version: str | None = None
    """The model version of the last answer."""

    @property
    def asked_of_it(self) -> tuple[str, ...]:
        """Names of the sub-claims that the question asks for."""
        return tuple(claim.name for claim in self.target.sub_claims)

    @property
    def properties(self) -> tuple[str, ...]:
        """Texts of the properties that the question asks for."""
        return tuple(prop.text for prop in self.target.properties[: self.n_properties])

    def reject(self, reason: str, detail: str) -> "QuestionDraft":
        return replace(self, state="rejected", reason=reason, detail=detail)

    def record_answer(self, answer: StepAnswer[object]) -> "QuestionDraft":
        """Record the call and model version of any answer."""
        calls = self.call_ids + ((answer.call_id,) if answer.call_id else ())
        return replace(
            self, call_ids=calls, model_version=answer.model_version or self.model_version
        )

    def stop_unanswered(self, answer: StepAnswer[object], step: str) -> "QuestionDraft":
        """End the draft at a step without an answer: open if asking again may help, else reject."""
        detail = f"{step}: {answer.reason or answer.status.value}"
        if answer.status in OPEN_STATUSES or answer.status is Status.SKIPPED:
            return replace(self, state="open", reason=answer.status.value, detail=detail)
        return self.reject(answer.status.value, detail)
