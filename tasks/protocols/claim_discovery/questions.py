"""A question with its ground truth and an answer, as claim discovery compares them."""

from collections.abc import Iterable
from functools import cached_property

from tasks.extraction.answers import AgentAnswer, AnsweredClaim, AnswerParseError, parse_answer
from tasks.extraction.claim_layouts import (
    TruthItem,
    TruthLayout,
    build_answered_claims,
    build_answered_rows,
    build_truth_items,
    derive_layout,
    normalise_key,
)
from tasks.protocols.claim_discovery.matching import MatchQuestion
from tasks.warehouse.truths import TRUTHS, TruthClaim, TruthSettings


class AnsweredQuestion:
    """One question with its ground truth and an answer."""

    def __init__(
        self, category: str, truths: str, settings: str, text: str, trace: str | None
    ) -> None:
        self.category = category
        self.truths: tuple[TruthClaim, ...] = TRUTHS.validate_json(truths)
        self.settings = TruthSettings.model_validate_json(settings)
        self.trace = trace
        self.unreadable: str | None = None
        try:
            self.answer = parse_answer(text)
        except AnswerParseError as error:
            self.answer, self.unreadable = AgentAnswer(), str(error)

    @cached_property
    def form(self) -> TruthLayout:
        return derive_layout(self.category, self.settings, self.truths)

    @cached_property
    def claims(self) -> tuple[AnsweredClaim, ...]:
        return build_answered_claims(self.answer, self.form)

    @property
    def question(self) -> MatchQuestion:
        note = self.settings.eval_info.evaluation_note
        return MatchQuestion(self.settings.question, str(note) if note else "")

    @cached_property
    def truth_items(self) -> tuple[TruthItem, ...]:
        """The truth in the published form."""
        return build_truth_items(self.category, self.settings, self.truths)

    @cached_property
    def rows(self) -> tuple[tuple[dict[str, str], ...], ...]:
        """The answer in the published form: the rows of each item of the truth."""
        return build_answered_rows(self.answer, self.form)

    @cached_property
    def primary_keys(self) -> tuple[str, ...]:
        return tuple(normalise_key(key) for key in self.settings.eval_info.primary_keys)

    @cached_property
    def main_claims(self) -> tuple[str, ...]:
        return tuple(normalise_key(key) for key in self.settings.eval_info.main_claims)

    def graded_keys(self, row: Iterable[str]) -> list[str]:
        """Return the keys of a true row that need a grade."""
        ignored = self.form.ignored - set(self.main_claims)
        return [key for key in row if key not in ignored]
