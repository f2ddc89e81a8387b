"""Stage drafts: bundles of rubrics drafted from articles, one file and one task each."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from tasks.base import Frozen, format_count
from tasks.benchmarks.rigorous import PROTOCOL
from tasks.benchmarks.rigorous_drafts import DraftEntry, DraftFile, DraftRubric, render_draft
from tasks.configuration.inversion import DraftingSettings, load_drafting
from tasks.drafting.checks import DraftSubject
from tasks.drafting.steps import (
    DraftedBundle,
    DraftingContext,
    DraftOpen,
    draft_bundle,
    list_allowed_values,
)
from tasks.editions.names import UnknownName
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.llm.requests import RequestSender
from tasks.judges.registry import NoModel, load_model_entry
from tasks.judging.session import JudgeSession
from tasks.outcome import PartLeft
from tasks.run import Plan
from tasks.secrecy.guard import KeyGuard
from tasks.stage import Stage, open_with_judge
from tasks.warehouse.rows import Article, content_sha
from tasks.warehouse.rubrics import BundleSettings
from tasks.warehouse.store import Readable, Warehouse

FACTS = "SELECT text FROM facts WHERE edition = $1 AND article = $2 ORDER BY number"
LINKS = """
SELECT l.raw_url, p.status
FROM article_links AS l LEFT JOIN pages AS p USING (edition, url)
WHERE l.edition = $1 AND l.article = $2 AND (p.status IS NULL OR p.status = 'ok')
ORDER BY p.status IS NULL, l.number
"""
"""References with a fetched page first, then unfetched ones; dead ones are left out."""


ARTICLES = """
SELECT a.assignment, a.article, t.title,
    (SELECT count(*) FROM facts AS f WHERE f.edition = a.edition AND f.article = a.article) AS facts
FROM assignments AS a JOIN articles AS t USING (edition, article)
WHERE a.edition = $1 AND a.kind = 'write_article'
ORDER BY a.assignment
"""
LONGEST_NAME = 200
"""Maximum bytes of a file name, without its suffix."""
UNREVIEWED = """
SELECT settings FROM rubric_bundles WHERE edition = $1 AND protocol = $2 AND source = 'drafted'
"""
MAX_CONCURRENT_DRAFTS = 8
"""Articles at a time; the judge's limits set how many calls run at a time."""
NO_LINKS = "no trusted links: add some"


class NoDraft(PartLeft):
    """A bundle could not be drafted; the message says why, and what to do."""


class PendingDraft(Frozen):
    """An assignment whose bundle is to be drafted, and the file to write."""

    edition: str
    assignment: str
    article: str
    title: str
    n_facts: int
    path: Path


def get_drafter(judge_name: str, sender: RequestSender | None = None) -> LlmJudge:
    """Return the drafter that uses this judge's model.

    Raises:
        Misconfigured: the judge calls no model.
    """
    name, entry = load_model_entry(judge_name, "draft rubrics")
    return LlmJudge(name, entry, sender or NoModel())


def find_pending_drafts(
    source: Readable, edition: str, folder: Path, assignments: Sequence[str] = ()
) -> list[PendingDraft]:
    """Return the articles without a draft in the folder; existing files are never overwritten.

    assignments: only these; all assignments to write an article if empty.

    Raises:
        UnknownName: one of them is no assignment to write an article, or the edition has none.
    """
    found = [
        PendingDraft(edition=edition, assignment=assignment, article=article, title=title,
                     n_facts=facts, path=folder / f"{draft_file_name(assignment)}.yaml")
        for assignment, article, title, facts in source.frame(ARTICLES, [edition]).iter_rows()
    ]  # fmt: skip
    unknown = sorted({*assignments} - {each.assignment for each in found})
    if unknown or not found:
        named = f"; {', '.join(unknown)} is none of them" if unknown else ""
        raise UnknownName(
            f"{edition} has {format_count(len(found), 'assignment')} to write an article{named}. "
            "Rubrics are drafted from the facts of articles."
        )
    return [
        each
        for each in found
        if (not assignments or each.assignment in assignments) and not each.path.exists()
    ]


def draft_file_name(assignment: str) -> str:
    """Return the name of an assignment's file: its id, or its sha if the id is no file name."""
    unsafe = assignment.startswith(".") or any(c in '/\\:*?"<>|' or c < " " for c in assignment)
    if unsafe or len(assignment.encode("utf-8", "surrogatepass")) > LONGEST_NAME:
        return content_sha(assignment)[:16]
    return assignment


def count_unreviewed(source: Readable, edition: str) -> int:
    """Count an edition's Rigorous Bench bundles that nobody has reviewed."""
    stored = source.frame(UNREVIEWED, [edition, PROTOCOL])["settings"]
    return sum(BundleSettings.model_validate_json(settings).draft for settings in stored)


async def draft_article(warehouse: Warehouse, session: JudgeSession, pending: PendingDraft) -> None:
    """Draft the bundle of one article and write its file, whole or not at all.

    Earlier answers come from the ledger, so a run continues where an interrupted one stopped.

    Raises:
        NoDraft: the article has no facts, the judge gave no usable answer, or the file cannot be
            written.
        Misconfigured: the judge calls no model.
    """
    drafter = get_drafter(session.judge.name, session.gateway)
    if not pending.n_facts:
        raise NoDraft(
            f"the article has no facts. `evergreen evaluate --edition {pending.edition}` extracts "
            "them first."
        )
    settings = load_drafting()
    subject, links = await asyncio.to_thread(_load_subject, warehouse, pending, settings)
    context = DraftingContext(subject, drafter, session.judge, settings)
    try:
        draft = await draft_bundle(context)
    except DraftOpen as problem:
        again = f"{problem}. Run again to continue."
        raise NoDraft(again, may_pass=problem.may_pass) from None
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


def select_drafts(plan: Plan) -> list[PendingDraft]:
    """Return the selected articles without a draft in the folder."""
    of = plan.selection
    assert of.folder is not None
    return find_pending_drafts(plan.store, of.edition, of.folder, of.assignments)


DRAFTS = Stage(
    name="draft",
    task="draft_article",
    item="article",
    inputs=("articles", "facts"),
    find_pending=select_drafts,
    open=open_with_judge(draft_article, MAX_CONCURRENT_DRAFTS),
    title=lambda pending: pending.title,
)
