"""Stage key points: what the reference article of an assignment says, point by point.

A judge finds the points and quotes the article for each, then merges them. Published key points
came with the import. Everything of an assignment is committed at once.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from tasks.extraction.key_points import (
    BorneOut,
    PointOfDocuments,
    borne_out,
    unmerged,
    with_spans,
)
from tasks.judges.research import (
    ExtractKeyPoints,
    MergedPoint,
    MergeKeyPoints,
    PointFinder,
    PointsSaid,
)
from tasks.judging.session import session
from tasks.pending.key_points import Unpointed, document_of
from tasks.stage import is_transient, stage_task
from tasks.warehouse.rows import Status
from tasks.warehouse.rubrics import MERGED, SPANS, KeyPoint, PointSet, points_sha
from tasks.warehouse.store import get_open_warehouse
from tasks.warehouse.writer import Change


class NoKeyPoints(Exception):
    """A judge gave no usable answer; the message says why. The next run asks again."""


@stage_task("key points · {item.title}", retry_condition_fn=is_transient)
async def make_key_points(warehouse_path: str, item: Unpointed, judge: str) -> None:
    """Make the key points of one assignment; what was answered before is found in the ledger.

    Raises:
        NoKeyPoints: the judge gave no usable answer.
    """
    warehouse = get_open_warehouse(warehouse_path)
    finder: Any = session(warehouse, judge).judge
    document = await asyncio.to_thread(document_of, warehouse, item)
    found, merged = await find_key_points(finder, item.title, document)
    points = key_points_of(item, with_spans(merged, found.points))
    of_assignment = {"edition": item.edition, "assignment": item.assignment}
    await warehouse.write_async(
        Change(KeyPoint, points, replacing=of_assignment),
        Change(PointSet, [_point_set(item, found, points, finder)], replacing=of_assignment),
    )


async def find_key_points(
    finder: PointFinder, question: str, document: str
) -> tuple[BorneOut, tuple[MergedPoint, ...]]:
    """The points that the document bears out, and these merged.

    Raises:
        NoKeyPoints: the judge gave no usable answer.
    """
    asked = ExtractKeyPoints(question=question, document=document)
    said = _answered(await finder.extract_key_points(asked))
    found = await asyncio.to_thread(borne_out, said.found, document)
    if len(found.points) < 2:
        return found, unmerged(found.points)
    texts = tuple(point.text for point in found.points)
    merging = MergeKeyPoints(question=question, points=texts)
    return found, _answered(await finder.merge_key_points(merging)).merged


def key_points_of(item: Unpointed, points: Sequence[PointOfDocuments]) -> list[KeyPoint]:
    """The rows, numbered in the judge's order."""
    return [
        KeyPoint(
            edition=item.edition,
            assignment=item.assignment,
            number=number,
            text=point.text,
            merged_from=MERGED.dump_json(point.merged_from).decode(),
            spans=SPANS.dump_json(point.spans).decode(),
        )
        for number, point in enumerate(points, start=1)
    ]


def _answered(said: PointsSaid) -> PointsSaid:
    if said.status is not Status.OK:
        raise NoKeyPoints(said.reason or f"the judge's answer is {said.status}")
    return said


def _point_set(
    item: Unpointed, found: BorneOut, points: Sequence[KeyPoint], finder: PointFinder
) -> PointSet:
    sha = finder.prompt_sha("key_points")[:8]
    return PointSet(
        edition=item.edition,
        assignment=item.assignment,
        source="judge",
        extractor_version=f"{finder.name} {finder.model_version} {sha}",
        input_sha=item.text_sha,
        output_sha=points_sha(points),
        n_points=len(points),
        n_found=len(found.points),
        n_spans=found.n_spans,
        n_verbatim=found.n_verbatim,
    )
