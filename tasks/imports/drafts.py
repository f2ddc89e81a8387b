"""Import of drafted bundles: reviewed ones, and unreviewed ones on request, marked as drafts."""

from collections.abc import Sequence
from pathlib import Path

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem
from tasks.benchmarks.rigorous import GENERAL, PROTOCOL, QUERY, make_rubric_items, read_general
from tasks.benchmarks.rigorous_drafts import DraftFile, check_draft, read_draft
from tasks.editions.names import check_edition
from tasks.extraction.urls import normalise_url
from tasks.imports.queries import make_rubric
from tasks.warehouse.results import AgentPair, LeaderboardRow, Score
from tasks.warehouse.rows import Assignment
from tasks.warehouse.rubrics import (
    ALLOWED_VALUES,
    BundleSettings,
    Rubric,
    RubricBundle,
    make_rubric_bundle,
)
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

THEME = """
SELECT t.category, t.topic FROM assignments AS a JOIN articles AS t USING (edition, article)
WHERE a.edition = $1 AND a.assignment = $2
"""


class DraftSummary(Frozen):
    """The result of importing a drafted file."""

    assignment: str
    reviewed_by: str | None
    """The reviewer; None if it was imported as a draft."""
    rubrics: int
    too_easy: bool
    closed_book_share: float
    changed: bool
    """Whether the assignment had no bundle or another one."""


def import_draft(
    warehouse: Warehouse,
    path: Path,
    edition: str,
    general: Path | None = None,
    *,
    as_draft: bool = False,
) -> DraftSummary:
    """Import a drafted bundle as the rubric of its assignment, with the general rubrics.

    Args:
        general: the published file with the general rubrics; by default those of an edition in
            this warehouse are used.
        as_draft: import it although nobody has reviewed it, marked as `draft`.

    Raises:
        EditionError: the bundle is incomplete, for another edition, or unreviewed; the assignment
            does not exist, or has a bundle that must not change; or there are no general rubrics.
        UnknownName: no such edition.
    """
    draft = _load_acceptable(warehouse, path, edition, as_draft=as_draft)
    common = read_general(general) if general else _load_general(warehouse)
    items = (*make_rubric_items(QUERY, draft.entry.qsr), *common)
    rubrics = [
        make_rubric(edition, PROTOCOL, draft.entry.uid, number, item)
        for number, item in enumerate(items)
    ]
    bundle = make_rubric_bundle(rubrics, _make_settings(warehouse, draft), "drafted")
    changed = _is_new_bundle(warehouse, path, bundle)
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


def _load_acceptable(
    warehouse: Warehouse, path: Path, edition: str, *, as_draft: bool
) -> DraftFile:
    """Load the file; raise EditionError unless it is a complete bundle for an assignment of the
    edition, and reviewed or wanted as a draft."""
    check_edition(warehouse, edition)
    draft = read_draft(path)
    if draft.edition != edition:
        raise EditionError(f"{path}: `edition`: it was drafted for {draft.edition}, not {edition}.")
    check_draft(path, draft)
    if draft.reviewer is not None:
        _check_links(warehouse, path, draft)
    elif not as_draft:
        raise EditionError(
            f"{path}: nobody has reviewed it. Review it, put your name at `reviewed_by`, and "
            "import it again; or import it as it is, marked as a draft, with --as-draft."
        )
    _check_assignment(warehouse, path, draft)
    return draft


def _replace(warehouse: Warehouse, bundle: RubricBundle, rubrics: Sequence[Rubric]) -> None:
    """Write the bundle; remove the one it replaces, if any, with its scores and figures."""
    edition, assignment = bundle.edition, bundle.assignment
    key = {"edition": edition, "assignment": assignment, "protocol": PROTOCOL}
    warehouse.write(
        Change(RubricBundle, [bundle], replacing=key),
        Change(Rubric, rubrics, replacing=key),
        # They are based on the old draft: the next evaluation makes them again.
        Change(Score, [], replacing=key),
        Change(LeaderboardRow, [], replacing={"edition": edition, "protocol": PROTOCOL}),
        Change(AgentPair, [], replacing={"edition": edition, "protocol": PROTOCOL}),
    )
    export_edition(warehouse, edition)


def _make_settings(warehouse: Warehouse, draft: DraftFile) -> BundleSettings:
    """Make the settings; the theme is the article's category or topic, as there is no domain."""
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
    """Raise EditionError unless a reviewed bundle has trusted links, none of them known as dead."""
    links = draft.entry.tsl
    if not links:
        raise EditionError(
            f"{path}: `entry.tsl`: there are no trusted links, so citations of trusted sources "
            "cannot be scored. Add at least one."
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
            f"{path}: `entry.tsl`: {url} could not be fetched ({status}). Remove it, or name "
            "another page."
        )


def _load_general(warehouse: Warehouse) -> Sequence[PublishedItem]:
    """Load the general rubrics of the first edition that has any."""
    rows = warehouse.rows(
        Rubric,
        "protocol = $1 AND dimension = $2 AND (edition, assignment) = (SELECT min((edition, "
        "assignment)) FROM rubrics WHERE protocol = $1 AND dimension = $2)",
        [PROTOCOL, GENERAL],
    )
    if not rows:
        raise EditionError(
            "No edition of this warehouse has general rubrics yet. Name the published file that "
            "has them with --general, or import it first with `evergreen import rigorous`."
        )
    fields = set(PublishedItem.model_fields) - {"allowed"}
    return [
        PublishedItem(
            allowed=ALLOWED_VALUES.validate_json(row.allowed), **row.model_dump(include=fields)
        )
        for row in sorted(rows, key=lambda row: row.number)
    ]


def _is_new_bundle(warehouse: Warehouse, path: Path, bundle: RubricBundle) -> bool:
    """Return whether a bundle differs from the stored one; raise EditionError if that is not a
    draft."""
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
            f"{path}: {bundle.edition} has a reviewed rubric for {bundle.assignment!r}, which "
            "never changes because scores are based on it. Use another edition."
        )
    return True
