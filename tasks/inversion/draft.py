"""A question in the making: what is known of it after each step."""

from dataclasses import dataclass, replace
from typing import Literal

from tasks.inversion.checks import Figures
from tasks.judges.inversion import (
    Effort,
    FoundAnswer,
    OtherAnswer,
    Said,
    Target,
)
from tasks.warehouse.rows import OPEN_STATUSES, Status
from tasks.warehouse.truths import TruthClaim

State = Literal["under_way", "accepted", "rejected", "open"]


@dataclass(frozen=True)
class PageProbe:
    """One page that was asked for the answer."""

    url: str
    status: Status
    f1: float | None = None
    """Of what it answered; null where it was not decided."""
    reason: str | None = None


@dataclass(frozen=True)
class Draft:
    """One target on its way to a question."""

    target: Target
    state: State = "under_way"
    reason: str | None = None
    """By which rejections are counted."""
    detail: str | None = None
    dropped: tuple[str, ...] = ()
    """Properties and sub-claims that failed a check, with what was wrong."""
    n_properties: int = 0
    """Properties that the question asks for: the target's first."""
    question: str | None = None
    figures: Figures | None = None
    pose_rounds: int = 0
    refinement_rounds: int = 0
    others: tuple[OtherAnswer, ...] = ()
    """Other answers to the last question that was posed."""
    added: tuple[OtherAnswer, ...] = ()
    """Those that joined the ground truth."""
    truths: tuple[TruthClaim, ...] = ()
    closed_book: tuple[FoundAnswer, ...] | None = None
    closed_book_f1: float | None = None
    page_probes: tuple[PageProbe, ...] | None = None
    """Null before the step; empty where there was no page to ask."""
    effort: Effort | None = None
    call_ids: tuple[str, ...] = ()
    model_version: str | None = None
    """As the last answer said."""

    @property
    def asked_of_it(self) -> tuple[str, ...]:
        """Names of the sub-claims that the question asks for."""
        return tuple(claim.name for claim in self.target.sub_claims)

    @property
    def properties(self) -> tuple[str, ...]:
        """Texts of the properties that the question asks for."""
        return tuple(prop.text for prop in self.target.properties[: self.n_properties])

    def rejected(self, reason: str, detail: str) -> "Draft":
        return replace(self, state="rejected", reason=reason, detail=detail)

    def heard(self, said: Said[object]) -> "Draft":
        """With the call that answered, whatever it answered."""
        calls = self.call_ids + ((said.call_id,) if said.call_id else ())
        return replace(self, call_ids=calls, model_version=said.model_version or self.model_version)

    def unanswered(self, said: Said[object], step: str) -> "Draft":
        """Ended by a step that has no answer: open where asking again may bring one."""
        detail = f"{step}: {said.reason or said.status.value}"
        if said.status in OPEN_STATUSES or said.status is Status.SKIPPED:
            return replace(self, state="open", reason=said.status.value, detail=detail)
        return self.rejected(said.status.value, detail)
