"""Asking the question without sources, and from one page: what can be answered so is unfit."""

from collections.abc import Sequence
from dataclasses import replace

from tasks.configuration.inversion import InversionSettings
from tasks.inversion.bench import ArchivedPage, Bench
from tasks.inversion.draft import Draft, PageProbe
from tasks.inversion.scoring import Figure, scored
from tasks.judges.inversion import AnswerClosedBook, AnswerFromPage, FoundAnswer, Said
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.text import sentences
from tasks.warehouse.rows import OPEN_STATUSES, Status


async def closed_book(draft: Draft, bench: Bench) -> Draft:
    """Rejected as `known_without_search` if the judge knows more than the bounds allow."""
    assert draft.question is not None
    said = await bench.inverter.answer_closed_book(
        AnswerClosedBook(question=draft.question, asked_of_it=draft.asked_of_it)
    )
    draft = draft.heard(said)
    if said.value is None:
        return draft.unanswered(said, "answer_closed_book")
    draft, figure = await _figure(draft, said.value, bench)
    if figure.value is None:
        return draft.unanswered(figure, "match_claims of answer_closed_book")
    draft = replace(draft, closed_book=said.value, closed_book_f1=figure.value.f1)
    if too_good := _too_good(figure.value, bench.settings.most_closed_book_f1, bench.settings):
        return draft.rejected("known_without_search", f"answered from memory {too_good}")
    return draft


async def single_pages(draft: Draft, bench: Bench) -> Draft:
    """Rejected as `single_page` if one of the most promising pages answers it by itself."""
    assert draft.question is not None
    probes: list[PageProbe] = []
    draft = replace(draft, page_probes=())
    for page in promising(draft, bench):
        draft, probe = await _asked_of(page, draft, bench)
        probes.append(probe)
        draft = replace(draft, page_probes=tuple(probes))
        if draft.state != "under_way":
            return draft
    return draft


def promising(draft: Draft, bench: Bench) -> list[ArchivedPage]:
    """The pages that could answer, the best first: closest to the question and its answer."""
    best = bench.around.ranking.top(_wanted(draft), bench.settings.pages_per_question)
    return [bench.around.pages[index] for index in best]


async def _asked_of(page: ArchivedPage, draft: Draft, bench: Bench) -> tuple[Draft, PageProbe]:
    assert draft.question is not None
    shown = excerpt(page.text, _wanted(draft), bench.settings.page_chars)
    said = await bench.inverter.answer_from_page(
        AnswerFromPage(question=draft.question, asked_of_it=draft.asked_of_it, page=shown)
    )
    draft = draft.heard(said)
    figure: Said[Figure] = Said(said.status, reason=said.reason)
    if said.value is not None:
        draft, figure = await _figure(draft, said.value, bench)
    f1 = figure.value.f1 if figure.value else None
    probe = PageProbe(page.url, figure.status, f1, figure.reason)
    if figure.status in OPEN_STATUSES or figure.status is Status.SKIPPED:
        draft = draft.unanswered(figure, f"answer_from_page of {page.url}")
    elif figure.value and (
        too_good := _too_good(figure.value, bench.settings.most_page_f1, bench.settings)
    ):
        draft = draft.rejected("single_page", f"{page.url} answers it alone {too_good}")
    return draft, probe


async def _figure(
    draft: Draft, found: Sequence[FoundAnswer], bench: Bench
) -> tuple[Draft, Said[Figure]]:
    assert draft.question is not None
    figure, calls = await scored(draft.question, draft.truths, found, bench.matcher)
    return replace(draft, call_ids=draft.call_ids + calls), figure


def _too_good(figure: Figure, bound: float, settings: InversionSettings) -> str | None:
    """What makes an answer better than it may be; None where nothing does."""
    if settings.main_claim_suffices and figure.n_main:
        return f"with {figure.n_main} main claims right, F1 {figure.f1:.2f}; none may be"
    if figure.f1 > bound:
        return f"with F1 {figure.f1:.2f}; at most {bound:g} is allowed"
    return None


def _wanted(draft: Draft) -> str:
    claims = [claim.value for claim in draft.target.sub_claims]
    names = [truth.value for truth in draft.truths]
    return " ".join((draft.question or "", *names, *claims))


def excerpt(page: str, query: str, most_chars: int) -> str:
    """The whole page, or its sentences closest to the query, in the page's order."""
    if len(page) <= most_chars:
        return page
    found = sentences(page)
    kept: list[int] = []
    room = most_chars
    for index in Bm25(found).top(query, len(found)):
        if len(found[index]) + 1 > room:
            break
        kept.append(index)
        room -= len(found[index]) + 1
    return "\n".join(found[index] for index in sorted(kept))
