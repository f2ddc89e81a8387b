"""Stage key points: what the clicked documents of a query, or the reference article of an
assignment, say point by point.

A judge finds the points of each document with quotes from it, then merges all of them. Published
key points come with the import. All rows of an assignment are committed at once.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

from tasks.extraction.key_points import (
    DocumentPoint,
    SupportedPoints,
    attach_spans,
    join_points,
    keep_supported_points,
    wrap_unmerged,
)
from tasks.judges.decisions import StepAnswer
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.questions.extract_key_points import ExtractKeyPoints
from tasks.judges.questions.merge_key_points import MergedKeyPoint, MergeKeyPoints
from tasks.judging.session import get_judge_session
from tasks.pending.key_points import PendingKeyPoints, load_documents
from tasks.stage import is_transient, stage_task
from tasks.warehouse.rubrics import MERGED_FROM, SPANS, KeyPoint, PointSet, hash_key_points
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

ValueT = TypeVar("ValueT")


class NoKeyPoints(Exception):
    """A judge gave no usable answer; the message says why. The next run asks again."""


@stage_task("key points · {item.title}", retry_condition_fn=is_transient)
async def make_key_points(warehouse: Warehouse, item: PendingKeyPoints, judge: str) -> None:
    """Make the key points of one assignment; earlier answers come from the ledger.

    Raises:
        NoKeyPoints: the judge gave no usable answer.
    """
    finder: Any = get_judge_session(warehouse, judge).judge
    documents = await asyncio.to_thread(load_documents, warehouse, item)
    found, merged = await find_key_points(finder, item.title, documents)
    points = build_key_points(item, attach_spans(merged, found.points))
    of_assignment = {"edition": item.edition, "assignment": item.assignment}
    await warehouse.write_async(
        Change(KeyPoint, points, replacing=of_assignment),
        Change(PointSet, [_build_point_set(item, found, points, finder)], replacing=of_assignment),
    )


async def find_key_points(
    finder: LlmJudge, question: str, documents: Sequence[str]
) -> tuple[SupportedPoints, tuple[MergedKeyPoint, ...]]:
    """Return the points whose quotes their document contains, and the same points merged.

    Raises:
        NoKeyPoints: the judge gave no usable answer.
    """
    found = join_points(
        await asyncio.gather(*(_find_in_document(finder, question, text) for text in documents))
    )
    if len(found.points) < 2:
        return found, wrap_unmerged(found.points)
    texts = tuple(point.text for point in found.points)
    merging = MergeKeyPoints(question=question, points=texts)
    return found, _require_value(await finder.answer(merging))


async def _find_in_document(finder: LlmJudge, question: str, document: str) -> SupportedPoints:
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
        raise NoKeyPoints(answer.reason or f"the judge's answer is {answer.status}")
    return answer.value


def _build_point_set(
    item: PendingKeyPoints,
    found: SupportedPoints,
    points: Sequence[KeyPoint],
    finder: LlmJudge,
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
