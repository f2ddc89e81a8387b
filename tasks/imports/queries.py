"""Import of published queries and questions with what reports on them are judged by.

Queries have rubrics, key points and reference reports, questions a ground truth.

Importing the same files again changes nothing. A query or rubric that has changed is refused,
because reports answer the old one. No agent is called here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem, PublishedPoints, PublishedQuery, PublishedSet
from tasks.configuration.folders import find_file
from tasks.configuration.templates import StrictTemplate
from tasks.editions.manifest import check_not_collected
from tasks.extraction.claim_layouts import build_truth_claims
from tasks.extraction.urls import normalise_url
from tasks.foreign_text import refuse_hidden
from tasks.warehouse.rows import Article, Assignment, Edition, content_sha, utc_now
from tasks.warehouse.rubrics import (
    ALLOWED_VALUES,
    MERGED_FROM,
    ClickedDocument,
    KeyPoint,
    PointSet,
    Rubric,
    RubricBundle,
    hash_key_points,
    make_rubric_bundle,
)
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.truths import GroundTruth, make_ground_truth
from tasks.warehouse.writer import Change

RESEARCH_PROMPT = "assignments/research.md"
QUESTION_PROMPT = "assignments/find_claims.md"
"""The prompts' files, relative to `configs/`."""
ANSWER_FORM = """{
  "claims": [
    {
      "value": "one answer",
      "sub_claims": [{"name": "what is asked of it, in the question's word", "value": "..."}],
      "sources": ["the address of a page that supports it"]
    }
  ]
}"""
"""The answer format shown to agents. Answers in the question's own format are accepted too."""


class QueriesSummary(Frozen):
    """The result of importing queries."""

    queries: int
    new: int
    items: int
    points: int
    without_points: int
    """The number of queries published as having no key points."""
    documents: int
    """The clicked documents of queries."""
    claims: int
    """The true claims of questions, at all levels."""


@dataclass(frozen=True)
class _QueryRows:
    """The rows of queries."""

    assignments: list[Assignment] = field(default_factory=list)
    references: list[Article] = field(default_factory=list)
    bundles: list[RubricBundle] = field(default_factory=list)
    rubrics: list[Rubric] = field(default_factory=list)
    point_sets: list[PointSet] = field(default_factory=list)
    points: list[KeyPoint] = field(default_factory=list)
    documents: list[ClickedDocument] = field(default_factory=list)
    truths: list[GroundTruth] = field(default_factory=list)


def import_queries(
    warehouse: Warehouse, published: PublishedSet, queries: Sequence[PublishedQuery], edition: str
) -> QueriesSummary:
    """Import queries as an edition.

    Raises:
        EditionError: the edition has another source, or another query or rubric under a key.
        ConfigurationError: the prompt for agents cannot be rendered.
        HiddenCharacters: the edition's name or a query's key has them.
    """
    check_not_collected(warehouse, edition)
    refuse_hidden(edition, "The edition")
    for query in queries:
        refuse_hidden(query.key, "The query")
    frame = _load_or_make_edition(warehouse, published, edition)
    rows = _make_rows(frame, published.protocol, queries)
    _refuse_changed(warehouse, "another query", rows.assignments, "query")
    _refuse_changed(warehouse, "another rubric", rows.bundles, "bundle_sha")
    _refuse_changed(warehouse, "other key points", rows.point_sets, "input_sha")
    _refuse_changed(warehouse, "another question or ground truth", rows.truths, "truth_sha")
    _refuse_changed(warehouse, "another reference", rows.assignments, "article")
    _refuse_changed(warehouse, "another reference", rows.references, "text_sha")
    before = _refuse_other_prompts(warehouse, edition, queries)
    warehouse.write(
        Change(Edition, [frame], only_new=True),
        Change(Article, rows.references, only_new=True),
        Change(Assignment, rows.assignments, only_new=True),
        Change(RubricBundle, rows.bundles),  # the names of domains may have changed
        Change(Rubric, rows.rubrics, only_new=True),
        Change(PointSet, rows.point_sets, only_new=True),
        Change(KeyPoint, rows.points, only_new=True),
        Change(ClickedDocument, rows.documents, only_new=True),
        Change(GroundTruth, rows.truths),
    )
    export_edition(warehouse, edition)
    return QueriesSummary(
        queries=len(queries),
        new=len({query.key for query in queries} - before),
        items=len(rows.rubrics),
        points=len(rows.points),
        without_points=sum(each.n_points == 0 for each in rows.point_sets),
        documents=len(rows.documents),
        claims=sum(truth.n_claims for truth in rows.truths),
    )


def _load_or_make_edition(warehouse: Warehouse, published: PublishedSet, edition: str) -> Edition:
    """Load the edition, or make a new one; its prompts name the day of its first import."""
    stored = warehouse.rows(Edition, "edition = $1", [edition])
    if not stored:
        title = f"{published.title} ({edition})"
        return Edition(edition=edition, source=published.layout, title=title, imported_at=utc_now())
    if stored[0].source != published.layout:
        raise EditionError(
            f"The edition {edition!r} already exists and comes from {stored[0].source}. Give this "
            "one another name with --edition."
        )
    return stored[0]


def _make_rows(frame: Edition, protocol: str, queries: Sequence[PublishedQuery]) -> _QueryRows:
    edition = frame.edition
    rows = _QueryRows()
    for query in queries:
        rows.assignments.append(_make_assignment(frame, query))
        if query.reference:
            rows.references.append(_make_reference(edition, query, query.reference))
        if query.items:
            rubrics = [
                make_rubric(edition, protocol, query.key, number, item)
                for number, item in enumerate(query.items)
            ]
            rows.rubrics.extend(rubrics)
            rows.bundles.append(make_rubric_bundle(rubrics, query.settings, "published"))
        if query.points is not None:
            points = _make_key_points(edition, query.key, query.points)
            rows.points.extend(points)
            rows.point_sets.append(_make_point_set(edition, query.key, query.points, points))
        rows.documents.extend(_make_documents(edition, query))
        if query.truth:
            category, settings = query.truth.category, query.truth.settings
            claims = build_truth_claims(category, settings)
            rows.truths.append(
                make_ground_truth(edition, query.key, category, "published", claims, settings)
            )
    return rows


def _refuse_changed(
    warehouse: Warehouse,
    what: str,
    rows: Sequence[Assignment | Article | RubricBundle | PointSet | GroundTruth],
    column: str,
) -> None:
    """Raise EditionError if a stored row has another value in a column."""
    if not rows:
        return
    edition, table = rows[0].edition, rows[0].table
    key = "article" if isinstance(rows[0], Article) else "assignment"
    stored = warehouse.frame(f"SELECT {key}, {column} FROM {table} WHERE edition = $1", [edition])
    known = dict(stored.iter_rows())
    for row in rows:
        name, value = getattr(row, key), getattr(row, column)
        if known.get(name, value) != value:
            raise EditionError(
                f"{edition} has {what} under the key {name!r}, and an edition never changes. "
                "Import under another name, with --edition."
            )


def _refuse_other_prompts(
    warehouse: Warehouse, edition: str, queries: Sequence[PublishedQuery]
) -> set[str]:
    """Return the known keys; raise EditionError if agents were given another query than the one
    published now."""
    prompts = dict(
        warehouse.frame(
            "SELECT assignment, prompt FROM assignments WHERE edition = $1", [edition]
        ).iter_rows()
    )
    for query in queries:
        if query.agent_query and query.agent_query not in prompts.get(query.key, query.agent_query):
            raise EditionError(
                f"{edition} has another prompt under the key {query.key!r}, and an edition never "
                "changes. Import under another name, with --edition."
            )
    return set(prompts)


def _make_assignment(frame: Edition, query: PublishedQuery) -> Assignment:
    asked = query.agent_query or query.query
    today = f"{frame.imported_at:%-d %B %Y}"
    if query.truth:
        prompt = StrictTemplate(find_file(QUESTION_PROMPT)).render(
            question=asked, today=today, banned=[], answer_form=ANSWER_FORM
        )
    else:
        prompt = StrictTemplate(find_file(RESEARCH_PROMPT)).render(query=asked, today=today)
    return Assignment(
        edition=frame.edition,
        assignment=query.key,
        article=query.key if query.reference else "",
        kind="find_claims" if query.truth else "research",
        prompt=prompt,
        prompt_sha=content_sha(prompt),
        query=None if query.truth else query.query,
    )


def _make_reference(edition: str, query: PublishedQuery, text: str) -> Article:
    return Article(
        edition=edition,
        article=query.key,
        title=query.key,
        url="",
        text=text,
        text_sha=content_sha(text),
        topic=query.settings.theme,
    )


def make_rubric(
    edition: str, protocol: str, assignment: str, number: int, item: PublishedItem
) -> Rubric:
    """Make the row of a rubric item. number: its place, 0-based."""
    return Rubric(
        edition=edition,
        assignment=assignment,
        protocol=protocol,
        number=number,
        allowed=ALLOWED_VALUES.dump_json(item.allowed).decode(),
        **item.model_dump(exclude={"allowed"}),
    )


def _make_key_points(edition: str, assignment: str, published: PublishedPoints) -> list[KeyPoint]:
    return [
        KeyPoint(
            edition=edition,
            assignment=assignment,
            number=number,
            text=text,
            merged_from=MERGED_FROM.dump_json(merged_from).decode(),
        )
        for number, (text, merged_from) in enumerate(published, start=1)
    ]


def _make_documents(edition: str, query: PublishedQuery) -> list[ClickedDocument]:
    """Make a row of each page; of several addresses of one page the first counts."""
    found: dict[str, ClickedDocument] = {}
    for document in query.documents:
        if url := normalise_url(document.url):
            row = ClickedDocument(
                edition=edition,
                assignment=query.key,
                url=url,
                raw_url=document.url,
                clicks=document.clicks,
            )
            found.setdefault(url, row)
    return list(found.values())


def _make_point_set(
    edition: str, assignment: str, published: PublishedPoints, points: Sequence[KeyPoint]
) -> PointSet:
    sha = hash_key_points(points)
    return PointSet(
        edition=edition,
        assignment=assignment,
        source="published",
        extractor_version="published",
        input_sha=sha,
        output_sha=sha,
        n_points=len(points),
        n_found=len({n for _, merged in published for n in merged}),
        n_spans=0,
        n_verbatim=0,
    )
