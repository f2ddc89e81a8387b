"""Probe questions without sources and with single pages: those answered that way are unfit."""

from collections.abc import Sequence
from dataclasses import replace

from tasks.configuration.inversion import InversionSettings
from tasks.inversion.context import ArchivedPage, InversionContext
from tasks.inversion.draft import PageProbe, QuestionDraft
from tasks.inversion.scoring import ProbeScore, score_probe
from tasks.judges.decisions import StepAnswer
from tasks.judges.inversion import AnswerClosedBook, AnswerFromPage, FoundAnswer
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.text import split_sentences
from tasks.warehouse.rows import OPEN_STATUSES, Status


async def probe_closed_book(draft: QuestionDraft, context: InversionContext) -> QuestionDraft:
    """Reject the draft as `known_without_search` if the judge answers too well from memory."""
    assert draft.question is not None
    answer = await context.inverter.answer_closed_book(
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
    for page in rank_pages(draft, context):
        draft, probe = await _probe_page(page, draft, context)
        probes.append(probe)
        draft = replace(draft, page_probes=tuple(probes))
        if draft.state != "under_way":
            return draft
    return draft


def rank_pages(draft: QuestionDraft, context: InversionContext) -> list[ArchivedPage]:
    """Return the pages closest to the question and its answer, the closest first."""
    best = context.surroundings.ranking.top(
        _build_query(draft), context.settings.pages_per_question
    )
    return [context.surroundings.pages[index] for index in best]


async def _probe_page(
    page: ArchivedPage, draft: QuestionDraft, context: InversionContext
) -> tuple[QuestionDraft, PageProbe]:
    assert draft.question is not None
    page_text = select_excerpt(page.text, _build_query(draft), context.settings.page_chars)
    answer = await context.inverter.answer_from_page(
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
