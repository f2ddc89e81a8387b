"""Taking in drafted bundles: reviewed ones, and others only where that is asked for and marked."""

from collections.abc import Sequence
from pathlib import Path

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem
from tasks.benchmarks.rigorous import GENERAL, PROTOCOL, QUERY, read_general, rubric_items
from tasks.benchmarks.rigorous_drafts import DraftFile, check_draft, read_draft
from tasks.editions.names import check_edition
from tasks.extraction.urls import normalise_url
from tasks.imports.queries import rubric_row
from tasks.warehouse.results import AgentPair, LeaderboardRow, Score
from tasks.warehouse.rows import Assignment
from tasks.warehouse.rubrics import (
    ALLOWED,
    BundleSettings,
    Rubric,
    RubricBundle,
    rubric_bundle,
)
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

THEME = """
SELECT t.category, t.topic FROM assignments AS a JOIN articles AS t USING (edition, article)
WHERE a.edition = $1 AND a.assignment = $2
"""


class DraftSummary(Frozen):
    """What became of one drafted file."""

    assignment: str
    reviewed_by: str | None
    """None: it is taken in as a draft."""
    rubrics: int
    too_easy: bool
    closed_book_share: float
    changed: bool
    """Whether the assignment had another bundle, or none."""


def import_draft(
    warehouse: Warehouse,
    path: Path,
    edition: str,
    general: Path | None = None,
    *,
    as_draft: bool = False,
) -> DraftSummary:
    """Take in a drafted bundle as the rubric of its assignment, with the general rubrics.

    Args:
        general: the published file that holds the general rubrics; those that an edition of this
            warehouse already has if not given.
        as_draft: take it in although nobody has reviewed it; it is then marked `draft`.

    Raises:
        EditionError: the file is no whole bundle, is for another edition, or nobody has reviewed
            it; the assignment is not there, or has a bundle that must not change; or nobody says
            what the general rubrics are.
        UnknownName: there is no such edition.
    """
    draft = _acceptable(warehouse, path, edition, as_draft=as_draft)
    common = read_general(general) if general else _known_general(warehouse)
    items = (*rubric_items(QUERY, draft.entry.qsr), *common)
    rubrics = [
        rubric_row(edition, PROTOCOL, draft.entry.uid, number, item)
        for number, item in enumerate(items)
    ]
    bundle = rubric_bundle(rubrics, _settings(warehouse, draft), "drafted")
    changed = _replaces(warehouse, path, bundle)
    if changed:
        _replace(warehouse, bundle, rubrics)
    return DraftSummary(
        assignment=draft.entry.uid,
        reviewed_by=draft.reviewer,
        rubrics=len(rubrics),
        too_easy=draft.too_easy,
        closed_book_share=draft.closed_book_share,
        changed=changed,
    )


def _acceptable(warehouse: Warehouse, path: Path, edition: str, *, as_draft: bool) -> DraftFile:
    """The file, if it is a whole bundle for an assignment of the edition, and reviewed or wanted
    as a draft."""
    check_edition(warehouse, edition)
    draft = read_draft(path)
    if draft.edition != edition:
        raise EditionError(f"{path}: `edition`: it was drafted for {draft.edition}, not {edition}.")
    check_draft(path, draft)
    if draft.reviewer is not None:
        _check_links(warehouse, path, draft)
    elif not as_draft:
        raise EditionError(
            f"{path}: nobody has reviewed it. Read it, put your name at `reviewed_by`, and import "
            "it again; or take it in as it is, marked as a draft, with --as-draft."
        )
    _check_assignment(warehouse, path, draft)
    return draft


def _replace(warehouse: Warehouse, bundle: RubricBundle, rubrics: Sequence[Rubric]) -> None:
    """Put the bundle in the place of the one that was there, if any, with all that rests on it."""
    edition, assignment = bundle.edition, bundle.assignment
    key = {"edition": edition, "assignment": assignment, "protocol": PROTOCOL}
    warehouse.write(
        Change(RubricBundle, [bundle], replacing=key),
        Change(Rubric, rubrics, replacing=key),
        # They rest on the draft that was there: the next evaluation makes them anew.
        Change(Score, [], replacing=key),
        Change(LeaderboardRow, [], replacing={"edition": edition, "protocol": PROTOCOL}),
        Change(AgentPair, [], replacing={"edition": edition, "protocol": PROTOCOL}),
    )
    export_edition(warehouse, edition)


def _settings(warehouse: Warehouse, draft: DraftFile) -> BundleSettings:
    """With the article's category, or topic, as the theme: no domain has been given to it."""
    [(category, topic)] = warehouse.frame(THEME, [draft.edition, draft.entry.uid]).iter_rows()
    return BundleSettings(
        theme=category or topic,
        focus_keywords=draft.entry.fak,
        deviation_keywords=draft.entry.fdk,
        trusted_links=draft.entry.tsl,
        draft=draft.reviewer is None,
    )


def _check_assignment(warehouse: Warehouse, path: Path, draft: DraftFile) -> None:
    where = "edition = $1 AND assignment = $2 AND kind = 'write_article'"
    if not warehouse.rows(Assignment, where, [draft.edition, draft.entry.uid]):
        raise EditionError(
            f"{path}: `entry.uid`: {draft.edition} has no assignment {draft.entry.uid[:80]!r} to "
            "write an article."
        )


def _check_links(warehouse: Warehouse, path: Path, draft: DraftFile) -> None:
    """A reviewed bundle has trusted links, none of which is known to be dead."""
    links = draft.entry.tsl
    if not links:
        raise EditionError(
            f"{path}: `entry.tsl`: no trusted links; a report that cites what can be trusted could "
            "not be told from another. Add at least one."
        )
    pages = [normalise_url(link) or link for link in links]
    dead = warehouse.frame(
        "SELECT url, status FROM pages WHERE edition = $1 AND status <> 'ok' "
        "AND url IN (SELECT unnest($2)) ORDER BY url",
        [draft.edition, pages],
    )
    if dead.height:
        url, status = dead.row(0)
        raise EditionError(
            f"{path}: `entry.tsl`: {url} did not come when it was fetched ({status}). Take it out, "
            "or name another page."
        )


def _known_general(warehouse: Warehouse) -> Sequence[PublishedItem]:
    """The general rubrics of the first edition that has any."""
    rows = warehouse.rows(
        Rubric,
        "protocol = $1 AND dimension = $2 AND (edition, assignment) = (SELECT min((edition, "
        "assignment)) FROM rubrics WHERE protocol = $1 AND dimension = $2)",
        [PROTOCOL, GENERAL],
    )
    if not rows:
        raise EditionError(
            "No edition of this warehouse has general rubrics yet. Name the published file that "
            "holds them with --general, or import it first with `evergreen import rigorous`."
        )
    return [
        PublishedItem(
            item=row.item,
            dimension=row.dimension,
            text=row.text,
            allowed=ALLOWED.validate_json(row.allowed),
            points=row.points,
        )
        for row in sorted(rows, key=lambda row: row.number)
    ]


def _replaces(warehouse: Warehouse, path: Path, bundle: RubricBundle) -> bool:
    """Whether a bundle is new or another than the stored one; only a draft may be replaced."""
    stored = warehouse.rows(
        RubricBundle,
        "edition = $1 AND assignment = $2 AND protocol = $3",
        [bundle.edition, bundle.assignment, PROTOCOL],
    )
    if not stored:
        return True
    if stored[0].bundle_sha == bundle.bundle_sha:
        return False
    if not BundleSettings.model_validate_json(stored[0].settings).draft:
        raise EditionError(
            f"{path}: {bundle.edition} has a reviewed rubric for {bundle.assignment!r}: scores "
            "rest on it, and it never changes. Use another edition."
        )
    return True
