"""Find articles whose bundles are to be drafted, and count drafts that nobody has reviewed.

Prefect-free, so that commands start fast.
"""

from collections.abc import Sequence
from pathlib import Path

from tasks.base import Frozen, format_count
from tasks.benchmarks.rigorous import PROTOCOL
from tasks.editions.names import UnknownName
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.llm.requests import RequestSender
from tasks.judges.registry import NoModel, load_model_entry
from tasks.warehouse.rows import content_sha
from tasks.warehouse.rubrics import BundleSettings
from tasks.warehouse.store import Readable

ARTICLES = """
SELECT a.assignment, a.article, t.title,
    (SELECT count(*) FROM facts AS f WHERE f.edition = a.edition AND f.article = a.article) AS facts
FROM assignments AS a JOIN articles AS t USING (edition, article)
WHERE a.edition = $1 AND a.kind = 'write_article'
ORDER BY a.assignment
"""
LONGEST_NAME = 200
"""Maximum bytes of a file name, without its suffix."""


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


DRAFTS = """
SELECT settings FROM rubric_bundles WHERE edition = $1 AND protocol = $2 AND source = 'drafted'
"""


def count_unreviewed(source: Readable, edition: str) -> int:
    """Count an edition's Rigorous Bench bundles that nobody has reviewed."""
    stored = source.frame(DRAFTS, [edition, PROTOCOL])["settings"]
    return sum(BundleSettings.model_validate_json(settings).draft for settings in stored)
