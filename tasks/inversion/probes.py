"""Probe questions without sources and with single pages: those answered that way are unfit.

F1 of a probe's answers against the ground truth: values that are equal after normalisation need no
call; the judge matches the rest, one call per level. Any failure of the judge leaves the score
undecided.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tasks.configuration.inversion import InversionSettings
from tasks.inversion.context import ArchivedPage, ClaimMatcher, InversionContext
from tasks.inversion.draft import PageProbe, QuestionDraft
from tasks.inversion.naming import are_same_words
from tasks.judges.decisions import NO_TRUTH, JudgeAnswer, StepAnswer, truth_label
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.questions.answer_question import AnswerClosedBook, AnswerFromPage, FoundAnswer
from tasks.judges.questions.match_claims import MatchClaims
from tasks.judges.text import split_sentences
from tasks.metrics.claim_trees import ClaimNode, ClaimPath, match_one_to_one, score_claim_trees
from tasks.warehouse.rows import OPEN_STATUSES, Status
from tasks.warehouse.truths import TruthClaim

NOTE = "The answers were given without sources, or from a single page."


@dataclass(frozen=True)
class ProbeScore:
    """The score of a probe's answers."""

    f1: float
    """0-1, recursive over claims and sub-claims."""
    n_main: int
    """Main claims that the answers state."""


NamedValue = tuple[str, str]
"""An answered claim: its name, empty for a main claim, and its value."""


class _UndecidedMatch(Exception):
    """The judge gave no usable answer; `answer` is what it said."""

    def __init__(self, answer: JudgeAnswer) -> None:
        super().__init__(answer.reason)
        self.answer = answer


async def score_probe(
    question: str, truths: Sequence[TruthClaim], found: Sequence[FoundAnswer], matcher: ClaimMatcher
) -> tuple[StepAnswer[ProbeScore], tuple[str, ...]]:
    """Score one probe; return the score, or why there is none, and the ids of its calls."""
    calls: list[str] = []
    try:
        matched = await _match_claims(question, truths, found, matcher, calls)
    except _UndecidedMatch as undecided:
        answer = undecided.answer
        return StepAnswer(answer.status, reason=answer.reason), tuple(calls)
    answered = tuple(
        ClaimNode(children=tuple(ClaimNode() for _ in given.sub_claims)) for given in found
    )
    figures = score_claim_trees(answered, tuple(map(_build_node, truths)), matched)
    if figures is None:
        return StepAnswer(Status.NOT_ASSESSED, reason="nothing is known to be true"), tuple(calls)
    n_main = sum(len(path) == 1 for path in matched)
    return StepAnswer(Status.OK, ProbeScore(figures.f1, n_main)), tuple(calls)


async def _match_claims(
    question: str,
    truths: Sequence[TruthClaim],
    found: Sequence[FoundAnswer],
    matcher: ClaimMatcher,
    calls: list[str],
) -> dict[ClaimPath, ClaimPath]:
    """Return answered paths → true paths, one to one; the parents of a pair are a pair."""
    matched: dict[ClaimPath, ClaimPath] = {}
    given = [("", answer.value) for answer in found]
    pairs = await _match_level(question, truths, given, matcher, calls)
    for answered, true in pairs.items():
        matched[answered,] = (true,)
        below, true_below = found[answered].sub_claims, truths[true].sub_claims
        subs = await _match_level(question, true_below, below, matcher, calls)
        matched |= {(answered, claim): (true, truth) for claim, truth in subs.items()}
    return matched


async def _match_level(
    question: str,
    truths: Sequence[TruthClaim],
    given: Sequence[NamedValue],
    matcher: ClaimMatcher,
    calls: list[str],
) -> dict[int, int]:
    """Return index of an answered claim → index of the true claim it states."""
    edges = [
        [i for i, truth in enumerate(truths) if _has_same_words(claim, truth)] for claim in given
    ]
    taken = set(match_one_to_one(edges).values())
    open_truths = [i for i in range(len(truths)) if i not in taken]
    unmatched = [i for i, found in enumerate(edges) if not found]
    if unmatched and open_truths:
        request = MatchClaims(
            question=question,
            truths=tuple(_format_truth(truths[i]) for i in open_truths),
            answered=tuple(_format_claim(*given[i]) for i in unmatched),
            note=NOTE,
        )
        labels = {truth_label(place): truth for place, truth in enumerate(open_truths)}
        for index, answer in zip(unmatched, await matcher.decide(request), strict=True):
            if answer.call_id and answer.call_id not in calls:
                calls.append(answer.call_id)
            if answer.status is not Status.OK:
                raise _UndecidedMatch(answer)
            if answer.label in labels:
                edges[index] = [labels[answer.label]]
            elif answer.label != NO_TRUTH:
                raise _UndecidedMatch(
                    JudgeAnswer(
                        status=Status.UNPARSABLE,
                        reason=f"match_claims: expected {NO_TRUTH} or one of "
                        f"{', '.join(labels)}; got {answer.label!r}",
                    )
                )
    return match_one_to_one(edges)


def _has_same_words(claim: NamedValue, truth: TruthClaim) -> bool:
    name, answered = claim
    if truth.name and not are_same_words(name, truth.name):
        return False
    return any(are_same_words(answered, value) for value in (truth.value, *truth.also))


def _format_claim(name: str, value: str) -> str:
    return f"{name}: {value}" if name else value


def _format_truth(truth: TruthClaim) -> str:
    also = f" (also accepted: {'; '.join(truth.also)})" if truth.also else ""
    return _format_claim(truth.name, truth.value) + also


def _build_node(truth: TruthClaim) -> ClaimNode:
    return ClaimNode(weight=truth.weight, children=tuple(map(_build_node, truth.sub_claims)))


async def probe_closed_book(draft: QuestionDraft, context: InversionContext) -> QuestionDraft:
    """Reject the draft as `known_without_search` if the judge answers too well from memory."""
    assert draft.question is not None
    answer = await context.inverter.answer(
        AnswerClosedBook(question=draft.question, asked_of_it=draft.asked_of_it)
    )
    draft = draft.record_answer(answer)
    if answer.value is None:
        return draft.stop_unanswered(answer, "answer_closed_book")
    draft, figure = await _score_answers(draft, answer.value, context)
    if figure.value is None:
        return draft.stop_unanswered(figure, "match_claims of answer_closed_book")
    draft = replace(draft, closed_book=answer.value, closed_book_f1=figure.value.f1)
    if too_good := _describe_too_good(
        figure.value, context.settings.most_closed_book_f1, context.settings
    ):
        return draft.reject("known_without_search", f"answered from memory {too_good}")
    return draft


async def probe_single_pages(draft: QuestionDraft, context: InversionContext) -> QuestionDraft:
    """Reject the draft as `single_page` if one of the best-ranked pages answers it alone."""
    assert draft.question is not None
    probes: list[PageProbe] = []
    draft = replace(draft, page_probes=())
    surroundings = context.surroundings
    closest = surroundings.ranking.top(_build_query(draft), context.settings.pages_per_question)
    for index in closest:
        draft, probe = await _probe_page(surroundings.pages[index], draft, context)
        probes.append(probe)
        draft = replace(draft, page_probes=tuple(probes))
        if draft.state != "under_way":
            return draft
    return draft


async def _probe_page(
    page: ArchivedPage, draft: QuestionDraft, context: InversionContext
) -> tuple[QuestionDraft, PageProbe]:
    assert draft.question is not None
    page_text = select_excerpt(page.text, _build_query(draft), context.settings.page_chars)
    answer = await context.inverter.answer(
        AnswerFromPage(question=draft.question, asked_of_it=draft.asked_of_it, page=page_text)
    )
    draft = draft.record_answer(answer)
    figure: StepAnswer[ProbeScore] = StepAnswer(answer.status, reason=answer.reason)
    if answer.value is not None:
        draft, figure = await _score_answers(draft, answer.value, context)
    f1 = figure.value.f1 if figure.value else None
    probe = PageProbe(page.url, figure.status, f1, figure.reason)
    if figure.status in OPEN_STATUSES or figure.status is Status.SKIPPED:
        draft = draft.stop_unanswered(figure, f"answer_from_page of {page.url}")
    elif figure.value and (
        too_good := _describe_too_good(
            figure.value, context.settings.most_page_f1, context.settings
        )
    ):
        draft = draft.reject("single_page", f"{page.url} answers it alone {too_good}")
    return draft, probe


async def _score_answers(
    draft: QuestionDraft, found: Sequence[FoundAnswer], context: InversionContext
) -> tuple[QuestionDraft, StepAnswer[ProbeScore]]:
    assert draft.question is not None
    figure, calls = await score_probe(draft.question, draft.truths, found, context.matcher)
    return replace(draft, call_ids=draft.call_ids + calls), figure


def _describe_too_good(figure: ProbeScore, bound: float, settings: InversionSettings) -> str | None:
    """Describe why an answer is too good; None if it is not."""
    if settings.main_claim_suffices and figure.n_main:
        return f"with {figure.n_main} main claims right, F1 {figure.f1:.2f}; none may be"
    if figure.f1 > bound:
        return f"with F1 {figure.f1:.2f}; at most {bound:g} is allowed"
    return None


def _build_query(draft: QuestionDraft) -> str:
    claims = [claim.value for claim in draft.target.sub_claims]
    names = [truth.value for truth in draft.truths]
    return " ".join((draft.question or "", *names, *claims))


def select_excerpt(page: str, query: str, most_chars: int) -> str:
    """Return the whole page, or its sentences closest to the query, in the page's order."""
    if len(page) <= most_chars:
        return page
    found = split_sentences(page)
    kept: list[int] = []
    remaining = most_chars
    for index in Bm25(found).top(query, len(found)):
        if len(found[index]) + 1 > remaining:
            break
        kept.append(index)
        remaining -= len(found[index]) + 1
    return "\n".join(found[index] for index in sorted(kept))
