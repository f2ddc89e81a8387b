"""Importing published research queries with what their reports are measured by.

Importing the same files again changes nothing; a query or measure that has changed is refused,
because reports answer it. Plain functions, no agent is asked here.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem, PublishedQuery
from tasks.configuration.loading import CONFIGS
from tasks.configuration.templates import StrictTemplate
from tasks.editions.manifest import refuse_collected
from tasks.warehouse.rows import Article, Assignment, Edition, content_sha, utc_now
from tasks.warehouse.rubrics import (
    ALLOWED,
    MERGED,
    KeyPoint,
    PointSet,
    Rubric,
    RubricBundle,
    points_sha,
    rubric_bundle,
)
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

PROMPT = "assignments/research.md"
"""Relative to `configs/`."""
REFERENCES = (
    "(SELECT a.edition, a.assignment, coalesce(t.text_sha, '') AS text_sha FROM assignments AS a "
    "LEFT JOIN articles AS t USING (edition, article))"
)


class PublishedSet(Frozen):
    """A published set of queries as a whole."""

    layout: str
    """The edition's source."""
    title: str
    protocol: str = ""
    """Whose rubric the items are; empty where there are none."""


class QueriesSummary(Frozen):
    """What an import of queries found."""

    edition: str
    queries: int
    new: int
    items: int
    points: int
    without_points: int
    """Queries of which there are published to be no key points."""


def import_queries(
    warehouse: Warehouse,
    published: PublishedSet,
    queries: Sequence[PublishedQuery],
    edition: str,
    configs: Path = CONFIGS,
) -> QueriesSummary:
    """Import queries as an edition of `research` assignments.

    Raises:
        EditionError: the edition is another's, or has another query or measure under a key.
        ConfigurationError: the prompt for agents cannot be filled.
    """
    refuse_collected(warehouse, edition)
    frame = _edition(warehouse, published, edition)
    rubrics = [_rubrics(edition, published.protocol, query) for query in queries]
    bundles = [
        rubric_bundle(items, query.settings, "published")
        for query, items in zip(queries, rubrics, strict=True)
        if items
    ]
    points = [_points(edition, query) for query in queries]
    sets = [
        _point_set(edition, query, found)
        for query, found in zip(queries, points, strict=True)
        if query.points is not None
    ]
    assignments = [_assignment(frame, query, configs) for query in queries]
    references = [_reference(edition, query) for query in queries if query.reference]
    shas = dict.fromkeys((query.key for query in queries), "")
    shas |= {article.article: article.text_sha for article in references}
    before = _refuse_changed(warehouse, assignments, bundles, sets, shas)
    _refuse_other_prompts(warehouse, edition, queries)
    warehouse.write(
        Change(Edition, [frame], only_new=True),
        Change(Article, references, only_new=True),
        Change(Assignment, assignments, only_new=True),
        Change(RubricBundle, bundles),  # what they are filed under may have got another name
        Change(Rubric, [item for items in rubrics for item in items], only_new=True),
        Change(PointSet, sets, only_new=True),
        Change(KeyPoint, [point for found in points for point in found], only_new=True),
    )
    export_edition(warehouse, edition)
    return QueriesSummary(
        edition=edition,
        queries=len(queries),
        new=len({query.key for query in queries} - before),
        items=sum(map(len, rubrics)),
        points=sum(map(len, points)),
        without_points=sum(each.n_points == 0 for each in sets),
    )


def _edition(warehouse: Warehouse, published: PublishedSet, edition: str) -> Edition:
    """The edition as it is there already, or a new one: its day is the day its prompts name."""
    stored = warehouse.rows(Edition, "edition = $1", [edition])
    if not stored:
        title = f"{published.title} ({edition})"
        return Edition(edition=edition, source=published.layout, title=title, imported_at=utc_now())
    if stored[0].source != published.layout:
        raise EditionError(
            f"The edition {edition!r} is there already and comes from {stored[0].source}. Give "
            "this one another name with --edition."
        )
    return stored[0]


def _refuse_changed(
    warehouse: Warehouse,
    assignments: Sequence[Assignment],
    bundles: Sequence[RubricBundle],
    sets: Sequence[PointSet],
    references: Mapping[str, str],
) -> set[str]:
    """The keys that are there already; raises EditionError where one has another content.

    references: by key the sha of the reference's text, empty where there is none.
    """
    edition = assignments[0].edition if assignments else ""
    known: dict[tuple[str, str], str | None] = {}
    for kind, table, column in (
        ("another query", "assignments", "query"),
        ("another rubric", "rubric_bundles", "bundle_sha"),
        ("other key points", "point_sets", "input_sha"),
        ("another reference", REFERENCES, "text_sha"),
    ):
        frame = warehouse.frame(
            f"SELECT assignment, {column} FROM {table} WHERE edition = $1", [edition]
        )
        known |= {(kind, assignment): value for assignment, value in frame.iter_rows()}
    given = [
        *(("another query", each.assignment, each.query) for each in assignments),
        *(("another rubric", each.assignment, each.bundle_sha) for each in bundles),
        *(("other key points", each.assignment, each.input_sha) for each in sets),
        *(("another reference", key, sha) for key, sha in references.items()),
    ]
    for kind, assignment, value in given:
        if known.get((kind, assignment), value) != value:
            raise EditionError(
                f"{edition} has {kind} under the key {assignment!r}: an edition never "
                "changes. Import under another name, with --edition."
            )
    return {assignment for kind, assignment in known if kind == "another query"}


def _refuse_other_prompts(
    warehouse: Warehouse, edition: str, queries: Sequence[PublishedQuery]
) -> None:
    """Raise EditionError where agents were told something else than is published now."""
    told = dict(
        warehouse.frame(
            "SELECT assignment, prompt FROM assignments WHERE edition = $1", [edition]
        ).iter_rows()
    )
    for query in queries:
        if query.asked and query.asked not in told.get(query.key, query.asked):
            raise EditionError(
                f"{edition} has told agents something else under the key {query.key!r}: an edition "
                "never changes. Import under another name, with --edition."
            )


def _assignment(frame: Edition, query: PublishedQuery, configs: Path) -> Assignment:
    prompt = StrictTemplate(configs / PROMPT).render(
        query=query.asked or query.query, today=f"{frame.imported_at:%-d %B %Y}"
    )
    return Assignment(
        edition=frame.edition,
        assignment=query.key,
        article=query.key if query.reference else "",
        kind="research",
        prompt=prompt,
        prompt_sha=content_sha(prompt),
        query=query.query,
    )


def _reference(edition: str, query: PublishedQuery) -> Article:
    text = query.reference or ""
    return Article(
        edition=edition,
        article=query.key,
        title=query.key,
        url="",
        text=text,
        text_sha=content_sha(text),
        topic=query.settings.theme,
    )


def _rubrics(edition: str, protocol: str, query: PublishedQuery) -> list[Rubric]:
    return [
        rubric_row(edition, protocol, query.key, number, item)
        for number, item in enumerate(query.items)
    ]


def rubric_row(
    edition: str, protocol: str, assignment: str, number: int, item: PublishedItem
) -> Rubric:
    """An item as a row of its assignment's rubric. number: 0-based, its place."""
    return Rubric(
        edition=edition,
        assignment=assignment,
        protocol=protocol,
        number=number,
        item=item.item,
        dimension=item.dimension,
        text=item.text,
        allowed=ALLOWED.dump_json(item.allowed).decode(),
        points=item.points,
        weight=item.weight,
        explanation=item.explanation,
    )


def _points(edition: str, query: PublishedQuery) -> list[KeyPoint]:
    return [
        KeyPoint(
            edition=edition,
            assignment=query.key,
            number=number,
            text=text,
            merged_from=MERGED.dump_json(merged_from).decode(),
        )
        for number, (text, merged_from) in enumerate(query.points or (), start=1)
    ]


def _point_set(edition: str, query: PublishedQuery, points: Sequence[KeyPoint]) -> PointSet:
    sha = points_sha(points)
    return PointSet(
        edition=edition,
        assignment=query.key,
        source="published",
        extractor_version="published",
        input_sha=sha,
        output_sha=sha,
        n_points=len(points),
        n_found=len({n for _, merged in query.points or () for n in merged}),
        n_spans=0,
        n_verbatim=0,
    )
