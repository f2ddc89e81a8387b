"""The draft of a question, updated by each step; its ground truth (its target, other answers that
fit, and accepted sources), and whether it takes as much effort as LiveDRBench requires.

Source: LiveDRBench: at least 10 queries, about 20 information units, more than 10 minutes of an
expert. The judge estimates the effort; duplicates count once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tasks.configuration.inversion import InversionSettings
from tasks.inversion.checks import QuestionMeasures
from tasks.inversion.context import ArchivedPage, Surroundings
from tasks.inversion.naming import contains_name, split_words
from tasks.judges.decisions import StepAnswer
from tasks.judges.questions.answer_question import FoundAnswer
from tasks.judges.questions.estimate_difficulty import Effort
from tasks.judges.questions.find_others import OtherAnswer
from tasks.judges.questions.find_targets import QuestionTarget
from tasks.judges.text import load_stop_words
from tasks.warehouse.rows import OPEN_STATUSES, Status
from tasks.warehouse.truths import TruthClaim

DraftState = Literal["under_way", "accepted", "rejected", "open"]
MIN_WORD_SHARE = 0.6
"""Share of a sentence's words that a page must contain to count as a source of its claim."""
SourcesRule = Literal["pages", "article", "mixed", "none"]
"""`pages`: archived reference pages that contain a claim's value and most of its sentence's words.
`article`: all references of the article, because the cleaned text does not say which one a
sentence cites and no archived page supports it. `mixed`: pages for some claims, article for others.
`none`: the article's references are not known."""


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


def build_truths(draft: QuestionDraft, surroundings: Surroundings) -> tuple[TruthClaim, ...]:
    """Build the target with its sub-claims, then the answers that the judge added."""
    target = draft.target
    sub_claims = tuple(
        TruthClaim(
            value=claim.value,
            name=claim.name,
            sources=_find_sources(claim.value, claim.sentence, surroundings),
            sentence=claim.sentence,
        )
        for claim in target.sub_claims
    )
    main = TruthClaim(
        value=target.answer,
        also=target.also,
        sub_claims=sub_claims,
        sources=_find_sources(target.answer, target.sentence, surroundings),
        sentence=target.sentence,
    )
    return (main, *(TruthClaim(value=other.value) for other in draft.added))


def find_sources_rule(truths: Sequence[TruthClaim], surroundings: Surroundings) -> SourcesRule:
    """Return the rule that the sources of the article's own claims follow."""
    claims = [c for main in truths for c in (main, *main.sub_claims) if c.sentence is not None]
    everything = frozenset(surroundings.references)
    rules: set[SourcesRule] = {
        "article" if everything and frozenset(c.sources) == everything else "pages"
        for c in claims
        if c.sources
    }
    if not rules or not all(claim.sources for claim in claims):
        return "mixed" if rules else "none"
    return rules.pop() if len(rules) == 1 else "mixed"


def _find_sources(value: str, sentence: str, surroundings: Surroundings) -> tuple[str, ...]:
    known = frozenset(surroundings.references)
    wanted = frozenset(split_words(sentence)) - load_stop_words()
    held = tuple(
        page.url
        for page in surroundings.pages
        if page.url in known and _supports(page, value, wanted)
    )
    return held or surroundings.references


def _supports(page: ArchivedPage, value: str, wanted: frozenset[str]) -> bool:
    page_words = frozenset(page.words)
    return len(wanted & page_words) >= MIN_WORD_SHARE * len(wanted) and contains_name(
        page.words, value
    )


def count_distinct(texts: Iterable[str]) -> int:
    """Count the different texts; the same words in any order are one text."""
    return len({tuple(sorted(set(found))) for text in texts if (found := split_words(text))})


def find_shortfall(effort: Effort, settings: InversionSettings) -> str | None:
    """Return what a question lacks to be hard enough; None if nothing."""
    queries, units = count_distinct(effort.queries), count_distinct(effort.units)
    if queries < settings.queries_least:
        return f"{queries} queries; at least {settings.queries_least} are asked for"
    if units < settings.units_least:
        return (
            f"{units} information units; about {settings.units_about} are asked for, "
            f"at least {settings.units_least:g}"
        )
    if effort.minutes <= settings.minutes_above:
        return f"{effort.minutes:g} minutes; more than {settings.minutes_above:g} are asked for"
    return None
