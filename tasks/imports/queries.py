"""Import of published queries and questions with what reports on them are judged by.

Queries have rubrics, key points and reference reports, questions a ground truth.

Importing the same files again changes nothing. A query or rubric that has changed is refused,
because reports answer the old one. No agent is called here.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem, PublishedQuery, PublishedSet
from tasks.configuration.loading import CONFIGS
from tasks.configuration.templates import StrictTemplate
from tasks.editions.manifest import check_not_collected
from tasks.extraction.claim_layouts import build_truth_claims
from tasks.warehouse.rows import Article, Assignment, Edition, content_sha, utc_now
from tasks.warehouse.rubrics import (
    ALLOWED_VALUES,
    MERGED_FROM,
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
REFERENCES = (
    "(SELECT a.edition, a.assignment, coalesce(t.text_sha, '') AS text_sha FROM assignments AS a "
    "LEFT JOIN articles AS t USING (edition, article))"
)


class QueriesSummary(Frozen):
    """The result of importing queries."""

    queries: int
    new: int
    items: int
    points: int
    without_points: int
    """The number of queries published as having no key points."""
    claims: int
    """The true claims of questions, at all levels."""


def import_queries(
    warehouse: Warehouse,
    published: PublishedSet,
    queries: Sequence[PublishedQuery],
    edition: str,
    configs: Path = CONFIGS,
) -> QueriesSummary:
    """Import queries as an edition.

    Raises:
        EditionError: the edition has another source, or another query or rubric under a key.
        ConfigurationError: the prompt for agents cannot be rendered.
    """
    check_not_collected(warehouse, edition)
    frame = _load_or_make_edition(warehouse, published, edition)
    rubrics = [_make_rubrics(edition, published.protocol, query) for query in queries]
    bundles = [
        make_rubric_bundle(items, query.settings, "published")
        for query, items in zip(queries, rubrics, strict=True)
        if items
    ]
    points = [_make_key_points(edition, query) for query in queries]
    sets = [
        _make_point_set(edition, query, found)
        for query, found in zip(queries, points, strict=True)
        if query.points is not None
    ]
    truths = [_make_truth(edition, query) for query in queries if query.truth]
    assignments = [_make_assignment(frame, query, configs) for query in queries]
    references = [_make_reference(edition, query) for query in queries if query.reference]
    reference_shas = {article.article: article.text_sha for article in references}
    before = _refuse_changed(
        warehouse, edition, "another query", "assignments", "query",
        {each.assignment: each.query for each in assignments},
    )  # fmt: skip
    _refuse_changed(
        warehouse, edition, "another rubric", "rubric_bundles", "bundle_sha",
        {each.assignment: each.bundle_sha for each in bundles},
    )  # fmt: skip
    _refuse_changed(
        warehouse, edition, "other key points", "point_sets", "input_sha",
        {each.assignment: each.input_sha for each in sets},
    )  # fmt: skip
    _refuse_changed(
        warehouse, edition, "another question or ground truth", "ground_truths", "truth_sha",
        {each.assignment: each.truth_sha for each in truths},
    )  # fmt: skip
    _refuse_changed(
        warehouse, edition, "another reference", REFERENCES, "text_sha",
        {query.key: reference_shas.get(query.key, "") for query in queries},
    )  # fmt: skip
    _refuse_other_prompts(warehouse, edition, queries)
    warehouse.write(
        Change(Edition, [frame], only_new=True),
        Change(Article, references, only_new=True),
        Change(Assignment, assignments, only_new=True),
        Change(RubricBundle, bundles),  # the names of domains may have changed
        Change(Rubric, [item for items in rubrics for item in items], only_new=True),
        Change(PointSet, sets, only_new=True),
        Change(KeyPoint, [point for found in points for point in found], only_new=True),
        Change(GroundTruth, truths),
    )
    export_edition(warehouse, edition)
    return QueriesSummary(
        queries=len(queries),
        new=len({query.key for query in queries} - before),
        items=sum(map(len, rubrics)),
        points=sum(map(len, points)),
        without_points=sum(each.n_points == 0 for each in sets),
        claims=sum(truth.n_claims for truth in truths),
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


def _refuse_changed(
    warehouse: Warehouse,
    edition: str,
    what: str,
    table: str,
    column: str,
    given: Mapping[str, str | None],
) -> set[str]:
    """Return the keys in a table; raise EditionError if one has another value now."""
    stored = warehouse.frame(
        f"SELECT assignment, {column} FROM {table} WHERE edition = $1", [edition]
    )
    known: dict[str, str | None] = dict(stored.iter_rows())
    for key, value in given.items():
        if known.get(key, value) != value:
            raise EditionError(
                f"{edition} has {what} under the key {key!r}, and an edition never changes. "
                "Import under another name, with --edition."
            )
    return set(known)


def _refuse_other_prompts(
    warehouse: Warehouse, edition: str, queries: Sequence[PublishedQuery]
) -> None:
    """Raise EditionError if agents were given another query than the one published now."""
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


def _make_assignment(frame: Edition, query: PublishedQuery, configs: Path) -> Assignment:
    asked = query.agent_query or query.query
    today = f"{frame.imported_at:%-d %B %Y}"
    if query.truth:
        prompt = StrictTemplate(configs / QUESTION_PROMPT).render(
            question=asked, today=today, banned=[], answer_form=ANSWER_FORM
        )
    else:
        prompt = StrictTemplate(configs / RESEARCH_PROMPT).render(query=asked, today=today)
    return Assignment(
        edition=frame.edition,
        assignment=query.key,
        article=query.key if query.reference else "",
        kind="find_claims" if query.truth else "research",
        prompt=prompt,
        prompt_sha=content_sha(prompt),
        query=None if query.truth else query.query,
    )


def _make_truth(edition: str, query: PublishedQuery) -> GroundTruth:
    assert query.truth is not None
    category, settings = query.truth.category, query.truth.settings
    claims = build_truth_claims(category, settings)
    return make_ground_truth(edition, query.key, category, "published", claims, settings)


def _make_reference(edition: str, query: PublishedQuery) -> Article:
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


def _make_rubrics(edition: str, protocol: str, query: PublishedQuery) -> list[Rubric]:
    return [
        make_rubric(edition, protocol, query.key, number, item)
        for number, item in enumerate(query.items)
    ]


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


def _make_key_points(edition: str, query: PublishedQuery) -> list[KeyPoint]:
    return [
        KeyPoint(
            edition=edition,
            assignment=query.key,
            number=number,
            text=text,
            merged_from=MERGED_FROM.dump_json(merged_from).decode(),
        )
        for number, (text, merged_from) in enumerate(query.points or (), start=1)
    ]


def _make_point_set(edition: str, query: PublishedQuery, points: Sequence[KeyPoint]) -> PointSet:
    sha = hash_key_points(points)
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
