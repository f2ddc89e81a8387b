"""Which articles have bundles to be drafted: prefect-free, so that commands start at once."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from tasks.editions.names import UnknownName
from tasks.judges.llm.drafting import LlmDrafter
from tasks.judges.llm.requests import Asker
from tasks.judges.registry import NoModel, model_entry
from tasks.warehouse.rows import content_sha
from tasks.warehouse.store import Readable

ARTICLES = """
SELECT a.assignment, a.article, t.title,
    (SELECT count(*) FROM facts AS f WHERE f.edition = a.edition AND f.article = a.article) AS facts
FROM assignments AS a JOIN articles AS t USING (edition, article)
WHERE a.edition = $1 AND a.kind = 'write_article'
ORDER BY a.assignment
"""
LONGEST_NAME = 200
"""Bytes of a file's name, without its suffix."""


class PendingDraft(BaseModel):
    """An assignment whose bundle is to be drafted, and the file it goes to."""

    model_config = ConfigDict(frozen=True)

    edition: str
    assignment: str
    article: str
    title: str
    n_facts: int
    path: Path


def drafter_named(judge_name: str, asker: Asker | None = None) -> LlmDrafter:
    """The judge as what drafts bundles.

    Raises:
        Misconfigured: it calls no model, so it cannot.
    """
    name, entry = model_entry(judge_name, "draft rubrics")
    return LlmDrafter(name, entry, asker or NoModel())


def pending_drafts(
    source: Readable, edition: str, folder: Path, assignments: Sequence[str] = ()
) -> list[PendingDraft]:
    """Articles of which the folder holds no draft yet: what is there is never written over.

    assignments: only these; all that ask for an article if empty.

    Raises:
        UnknownName: one of them asks for no article of this edition, or there is none at all.
    """
    found = [
        PendingDraft(edition=edition, assignment=assignment, article=article, title=title,
                     n_facts=facts, path=folder / f"{file_name(assignment)}.yaml")
        for assignment, article, title, facts in source.frame(ARTICLES, [edition]).iter_rows()
    ]  # fmt: skip
    unknown = sorted({*assignments} - {each.assignment for each in found})
    if unknown or not found:
        named = f"; {', '.join(unknown)} is none of them" if unknown else ""
        raise UnknownName(
            f"{edition} has {len(found)} assignments to write an article{named}. Rubrics are "
            "drafted from the facts of articles."
        )
    return [
        each
        for each in found
        if (not assignments or each.assignment in assignments) and not each.path.exists()
    ]


def file_name(assignment: str) -> str:
    """Of an assignment's file: its id, or the id's sha where that is no name for a file."""
    unsafe = assignment.startswith(".") or any(c in '/\\:*?"<>|' or c < " " for c in assignment)
    if unsafe or len(assignment.encode("utf-8", "surrogatepass")) > LONGEST_NAME:
        return content_sha(assignment)[:16]
    return assignment
