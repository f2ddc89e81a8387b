"""Stage key points: what the clicked documents of a query, or the reference article of an
assignment, say point by point.

Key points of a query are made from the documents that people clicked, once all were tried and some
were fetched; those of an article to write from the reference article. A judge finds the points of
each document with quotes from it, then merges all of them. They belong to an edition, so that all
judges use the same ones: they stay, whichever judge or prompt made them, until the texts change.
Published key points come with the import and always stay. All rows of an assignment are committed
at once.
"""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from tasks.base import Frozen
from tasks.extraction.key_points import (
    DocumentPoint,
    SupportedPoints,
    attach_spans,
    join_points,
    keep_supported_points,
    wrap_unmerged,
)
from tasks.extraction.prose import strip_apparatus
from tasks.judges.decisions import StepAnswer
from tasks.judges.questions.extract_key_points import ExtractKeyPoints
from tasks.judges.questions.merge_key_points import MergedKeyPoint, MergeKeyPoints
from tasks.judges.registry import load_judge
from tasks.judging.session import JudgeSession
from tasks.models.errors import may_pass
from tasks.outcome import PartLeft
from tasks.protocols.registry import get_protocol
from tasks.run import Plan
from tasks.stage import Output, Stage, StageCounts, open_with_judge
from tasks.warehouse.rubrics import MERGED_FROM, SPANS, KeyPoint, PointSet, hash_key_points
from tasks.warehouse.store import Readable, Warehouse
from tasks.warehouse.writer import Change

ValueT = TypeVar("ValueT")
MAX_CONCURRENT_ARTICLES = 16
"""Articles at a time; the judge's limits set how many calls run at a time."""
READABLE = "p.status = 'ok' AND p.text <> ''"
PENDING = f"""
WITH sources AS (
    SELECT a.assignment, a.article, t.title, t.text_sha
    FROM assignments AS a JOIN articles AS t USING (edition, article)
    WHERE a.edition = $1 AND a.kind = 'write_article' AND t.text <> ''
    UNION ALL
    SELECT a.assignment, '' AS article, a.query AS title, sha256(
        string_agg(d.url || ' ' || p.text_sha, chr(10) ORDER BY d.url) FILTER ({READABLE})
    ) AS text_sha
    FROM assignments AS a JOIN clicked_documents AS d USING (edition, assignment)
    LEFT JOIN pages AS p ON p.edition = d.edition AND p.url = d.url
    WHERE a.edition = $1 AND a.kind = 'research'
    GROUP BY ALL
    HAVING bool_and(p.url IS NOT NULL) AND bool_or({READABLE})
)
SELECT s.*
FROM sources AS s
LEFT JOIN point_sets AS k ON k.edition = $1 AND k.assignment = s.assignment
WHERE (k.input_sha IS NULL OR (k.source = 'judge' AND k.input_sha <> s.text_sha))
    AND s.assignment IN (
        SELECT assignment FROM reports
        WHERE edition = $1 AND text <> '' AND (len($2) = 0 OR agent IN (SELECT unnest($2)))
    )
ORDER BY s.assignment
"""
DOCUMENTS = f"""
SELECT p.text FROM clicked_documents AS d JOIN pages AS p USING (edition, url)
WHERE d.edition = $1 AND d.assignment = $2 AND {READABLE} ORDER BY d.url
"""
DOCUMENT_CHARS = 200_000
"""What is read of a clicked document, from its beginning: some 50,000 tokens."""
COUNTED = """
SELECT count(*) FILTER (k.n_points > 0),
    count(*) FILTER (k.n_points = 0 OR (k.assignment IS NULL AND a.kind = 'research'
        AND a.assignment NOT IN (SELECT assignment FROM clicked_documents WHERE edition = $1)))
FROM assignments AS a LEFT JOIN point_sets AS k USING (edition, assignment)
WHERE a.edition = $1
"""


class PendingKeyPoints(Frozen):
    """An assignment whose key points are to be made."""

    edition: str
    assignment: str
    article: str
    """Empty if they are made from clicked documents."""
    title: str
    """The article's title, or the query."""
    text_sha: str
    """Sha-256 of what they are made from."""


def find_pending_key_points(
    source: Readable, edition: str, agents: Sequence[str] = ()
) -> list[PendingKeyPoints]:
    """Return the assignments with reports (by these or any agents) but no key points."""
    found = source.frame(PENDING, [edition, list(agents)])
    return [PendingKeyPoints(edition=edition, **record) for record in found.iter_rows(named=True)]


def need_key_points(protocols: Sequence[str]) -> bool:
    """Whether any of these protocols uses key points."""
    return any("key_points" in get_protocol(name).inputs for name in protocols)


def select_key_points(plan: Plan) -> list[PendingKeyPoints]:
    """Return the assignments whose key points are to be made; none if no protocol needs them or the
    judge cannot make them."""
    of = plan.selection
    if not need_key_points(of.protocols) or ExtractKeyPoints not in load_judge(of.judge).decides:
        return []
    found = find_pending_key_points(plan.store, of.edition, of.agents)
    return [item for item in found if of.includes(item.assignment)]


def load_documents(source: Readable, item: PendingKeyPoints) -> tuple[str, ...]:
    """Load the texts for key points: the clicked documents, by URL, or the reference article
    without citations and lists."""
    if not item.article:
        frame = source.frame(DOCUMENTS, [item.edition, item.assignment])
        return tuple(text[:DOCUMENT_CHARS] for text in frame["text"])
    frame = source.frame(
        "SELECT text FROM articles WHERE edition = $1 AND article = $2",
        [item.edition, item.article],
    )
    return (strip_apparatus(str(frame.item())),)


class NoKeyPoints(PartLeft):
    """A judge gave no usable answer; the message says why. The next run asks again."""


async def make_key_points(
    warehouse: Warehouse, session: JudgeSession, item: PendingKeyPoints
) -> None:
    """Make the key points of one assignment; earlier answers come from the ledger.

    Raises:
        NoKeyPoints: the judge gave no usable answer.
    """
    finder: Any = session.judge  # it calls a model
    documents = await asyncio.to_thread(load_documents, warehouse, item)
    found, merged = await find_key_points(finder, item.title, documents)
    points = build_key_points(item, attach_spans(merged, found.points))
    of_assignment = {"edition": item.edition, "assignment": item.assignment}
    await warehouse.write_async(
        Change(KeyPoint, points, replacing=of_assignment),
        Change(PointSet, [_build_point_set(item, found, points, finder)], replacing=of_assignment),
    )


async def find_key_points(
    finder: Any, question: str, documents: Sequence[str]
) -> tuple[SupportedPoints, tuple[MergedKeyPoint, ...]]:
    """Return the points whose quotes their document contains, and the same points merged.

    Raises:
        NoKeyPoints: the judge gave no usable answer.
    """
    searches = (_find_in_document(finder, question, text) for text in documents)
    found = join_points(await asyncio.gather(*searches))
    if len(found.points) < 2:
        return found, wrap_unmerged(found.points)
    texts = tuple(point.text for point in found.points)
    merging = MergeKeyPoints(question=question, points=texts)
    return found, _require_value(await finder.answer(merging))


async def _find_in_document(finder: Any, question: str, document: str) -> SupportedPoints:
    request = ExtractKeyPoints(question=question, document=document)
    stated = _require_value(await finder.answer(request))
    return await asyncio.to_thread(keep_supported_points, stated, document)


def build_key_points(item: PendingKeyPoints, points: Sequence[DocumentPoint]) -> list[KeyPoint]:
    """Build the rows, numbered in the judge's order."""
    return [
        KeyPoint(
            edition=item.edition,
            assignment=item.assignment,
            number=number,
            text=point.text,
            merged_from=MERGED_FROM.dump_json(point.merged_from).decode(),
            spans=SPANS.dump_json(point.spans).decode(),
        )
        for number, point in enumerate(points, start=1)
    ]


def _require_value(answer: StepAnswer[ValueT]) -> ValueT:
    if answer.value is None:
        said = answer.reason or f"the judge's answer is {answer.status}"
        raise NoKeyPoints(said, may_pass=may_pass(answer.reason))
    return answer.value


def _build_point_set(
    item: PendingKeyPoints,
    found: SupportedPoints,
    points: Sequence[KeyPoint],
    finder: Any,
) -> PointSet:
    sha = finder.prompt_sha("key_points")[:8]
    return PointSet(
        edition=item.edition,
        assignment=item.assignment,
        source="judge",
        extractor_version=f"{finder.name} {finder.model_version} {sha}",
        input_sha=item.text_sha,
        output_sha=hash_key_points(points),
        n_points=len(points),
        n_found=len(found.points),
        n_spans=found.n_spans,
        n_verbatim=found.n_verbatim,
    )


def _count(plan: Plan) -> Iterator[StageCounts]:
    """Count assignments: with key points, never to have any, and pending ones (final if this judge
    cannot make them); nothing if no protocol needs them."""
    edition = plan.selection.edition
    if not need_key_points(plan.selection.protocols):
        return
    done, unknown = plan.store.frame(COUNTED, [edition]).row(0)
    waiting = len(find_pending_key_points(plan.store, edition))
    able = ExtractKeyPoints in load_judge(plan.selection.judge).decides
    yield StageCounts(
        edition=edition,
        stage="key points",
        done=done,
        pending=waiting if able else 0,
        final=unknown + (0 if able else waiting),
    )


KEY_POINTS = Stage(
    name="key points",
    task="make_key_points",
    item="assignment",
    inputs=("articles", "pages"),
    outputs=(Output("key point", KeyPoint),),
    find_pending=select_key_points,
    open=open_with_judge(make_key_points, MAX_CONCURRENT_ARTICLES),
    title=lambda item: item.title,
    count=_count,
)
