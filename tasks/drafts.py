"""Stage drafts: bundles of rubrics drafted from articles, one file and one task each."""

import asyncio
import os
from pathlib import Path

from tasks.benchmarks.rigorous_drafts import DraftEntry, DraftFile, DraftRubric, render_draft
from tasks.configuration.drafting import DraftingSettings, load_drafting
from tasks.drafting.checks import DraftSubject
from tasks.drafting.steps import (
    DraftedBundle,
    DraftingContext,
    DraftOpen,
    draft_bundle,
    list_allowed_values,
)
from tasks.judging.session import get_judge_session
from tasks.pending.drafts import PendingDraft, get_drafter
from tasks.secrecy.guard import KeyGuard
from tasks.stage import is_transient, stage_task
from tasks.warehouse.rows import Article
from tasks.warehouse.store import Warehouse

FACTS = "SELECT text FROM facts WHERE edition = $1 AND article = $2 ORDER BY number"
LINKS = """
SELECT l.raw_url, p.status
FROM article_links AS l LEFT JOIN pages AS p USING (edition, url)
WHERE l.edition = $1 AND l.article = $2 AND (p.status IS NULL OR p.status = 'ok')
ORDER BY p.status IS NULL, l.number
"""
"""References with a fetched page first, then unfetched ones; dead ones are left out."""


NO_LINKS = "no trusted links: add some"


class NoDraft(Exception):
    """A bundle could not be drafted; the message says why, and what to do."""


@stage_task("draft · {pending.title}", retry_condition_fn=is_transient)
async def draft_article(warehouse: Warehouse, pending: PendingDraft, judge: str) -> None:
    """Draft the bundle of one article and write its file, whole or not at all.

    Needs an open session of the judge (`tasks.judging.session`). Earlier answers come from the
    ledger, so a run continues where an interrupted one stopped.

    Raises:
        NoDraft: the article has no facts, the judge gave no usable answer, or the file cannot be
            written.
        Misconfigured: the judge calls no model.
    """
    judge_session = get_judge_session(warehouse, judge)
    drafter = get_drafter(judge, judge_session.gateway)
    if not pending.n_facts:
        raise NoDraft(
            f"the article has no facts. `evergreen evaluate --edition {pending.edition}` extracts "
            "them first."
        )
    settings = load_drafting()
    subject, links = await asyncio.to_thread(_load_subject, warehouse, pending, settings)
    context = DraftingContext(subject, drafter, judge_session.judge, settings)
    try:
        draft = await draft_bundle(context)
    except DraftOpen as problem:
        raise NoDraft(f"{problem}. Run again to continue.") from None
    drafted_by = f"{drafter.name} ({drafter.model_version})"
    text = render_draft(_build_file(pending, subject, links, draft, drafted_by))
    await asyncio.to_thread(_write_file, pending.path, text)


def _load_subject(
    warehouse: Warehouse, pending: PendingDraft, settings: DraftingSettings
) -> tuple[DraftSubject, dict[str, str]]:
    where = [pending.edition, pending.article]
    [article] = warehouse.rows(Article, "edition = $1 AND article = $2", where)
    facts = warehouse.frame(FACTS, where)["text"].to_list()[: settings.facts_shown]
    links = {
        url: status or "unchecked" for url, status in warehouse.frame(LINKS, where).iter_rows()
    }
    first = dict(list(links.items())[: settings.links_most])
    return DraftSubject(article.title, article.text, tuple(facts)), first


def _build_file(
    pending: PendingDraft,
    subject: DraftSubject,
    links: dict[str, str],
    draft: DraftedBundle,
    drafter: str,
) -> DraftFile:
    rubrics = tuple(
        DraftRubric(
            n=n,
            rubric=rubric.text,
            yes=rubric.points,
            partial=int(values[1]) if len(values := list_allowed_values(rubric)) == 3 else None,
            no=0,
            facts={number: subject.facts[number - 1] for number in rubric.facts},
        )
        for n, rubric in enumerate(draft.rubrics, start=1)
    )
    problems = draft.problems if links else (*draft.problems, NO_LINKS)
    return DraftFile.model_validate(
        {
            "edition": pending.edition,
            "drafted_by": drafter,
            "closed_book_share": round(draft.closed_book_share, 4),
            "too_easy": draft.too_easy,
            "problems": problems,
            "entry": DraftEntry(
                uid=pending.assignment,
                query=subject.title,
                qsr=rubrics,
                tsl=tuple(links),
                fak=draft.focus,
                fdk=draft.deviation,
            ),
            "links": links,
            "sorted_out": draft.sorted_out,
        }
    )


def _write_file(path: Path, text: str) -> None:
    """Write beside the target first, so that nobody reads half a file. The keys in pages that it
    quotes are masked.

    Raises:
        LeakedKey: it holds one of ours.
    """
    text = KeyGuard().mask(text, path.name)
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_text(text, "utf-8")
        half.replace(path)
    except OSError as error:
        half.unlink(missing_ok=True)
        raise NoDraft(f"{path} cannot be written: {error.strerror or error}.") from None
