"""Published verdicts of other judges, read in the form of our own.

The protocols' metrics over these verdicts must reproduce the published figures exactly. Format:
the result files of Wiki Live Challenge, one article each. A file of another layout raises
pydantic's `ValidationError`, which names the field.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from tasks.base import Frozen
from tasks.judges.decisions import REFERENCE, REPORT
from tasks.warehouse.rows import Status

WINNERS = {"gt": REFERENCE, "gen": REPORT}
"""The Wikipedia article always came first, the report second."""


class RecordedVerdict(Frozen):
    """A verdict of another judge."""

    step: str
    """`writing`, `coverage`, `conflict` or `citation`."""
    item: str
    """A criterion's id, `fact:<index>` or `claim:<index>`."""
    label: str | None
    status: Status = Status.OK
    reason: str | None = None
    evidence: str | None = None
    """The sentences shown to the judge, or the cited URL."""
    text: str = ""
    """The criterion, fact or claim that was judged."""


class _Comparison(BaseModel):
    criterion_id: str
    criterion_text: str
    winner: Literal["gt", "gen"]
    reason: str | None = None


class _Writing(BaseModel):
    details: dict[str, list[_Comparison]]
    """By category."""


class _Finding(BaseModel):
    verdict: Literal["consistent", "inconsistent", "not_support"]
    reason: str | None = None


class _Alignment(BaseModel):
    gt_sentence: str | None = None
    gen_sentence: str | None = None
    candidates: list[str] | None = None
    verify: _Finding

    def record(self, step: str, item: str) -> RecordedVerdict:
        return RecordedVerdict(
            step=step,
            item=item,
            label=self.verify.verdict,
            reason=self.verify.reason,
            evidence="\n".join(self.candidates or ()) or None,
            text=(self.gt_sentence if step == "coverage" else self.gen_sentence) or "",
        )


class _Verifiability(BaseModel):
    coverage_alignments: list[_Alignment]
    alignments: list[_Alignment]


class _CitedStatement(BaseModel):
    statement_index: int
    statement: str
    verdict: Literal["support", "not_support", "conflict"]
    citation_url: str | None = None
    reason: str | None = None


class _Citations(BaseModel):
    total_statements: int
    results: list[_CitedStatement]


def read_writing(path: Path) -> list[RecordedVerdict]:
    """Read step `writing`, one verdict per criterion: `reference` (Wikipedia) or `report`."""
    recording = _Writing.model_validate_json(path.read_text("utf-8"))
    return [
        RecordedVerdict(
            step="writing",
            item=entry.criterion_id,
            label=WINNERS[entry.winner],
            reason=entry.reason,
            text=entry.criterion_text,
        )
        for category in recording.details.values()
        for entry in category
    ]


def read_verifiability(path: Path) -> list[RecordedVerdict]:
    """Read steps `coverage` (each reference sentence) and `conflict` (each sentence of the
    report)."""
    recording = _Verifiability.model_validate_json(path.read_text("utf-8"))
    coverage, conflict = recording.coverage_alignments, recording.alignments
    return [
        *(entry.record("coverage", f"fact:{n}") for n, entry in enumerate(coverage)),
        *(entry.record("conflict", f"claim:{n}") for n, entry in enumerate(conflict)),
    ]


def read_citations(path: Path) -> list[RecordedVerdict]:
    """Read step `citation`, one verdict per statement. Statements without one had no readable
    page: they are `unfetchable`."""
    return [*_record_citations(_Citations.model_validate_json(path.read_text("utf-8")))]


def _record_citations(recording: _Citations) -> Iterator[RecordedVerdict]:
    by_index = {entry.statement_index: entry for entry in recording.results}
    if unknown := by_index.keys() - {*range(recording.total_statements)}:
        raise ValueError(f"statement_index {min(unknown)} of {recording.total_statements}")
    for index in range(recording.total_statements):
        item = f"claim:{index}"
        if index not in by_index:
            reason = "recorded as skipped: no page could be read for it"
            yield RecordedVerdict(
                step="citation", item=item, label=None, status=Status.UNFETCHABLE, reason=reason
            )
            continue
        entry = by_index[index]
        yield RecordedVerdict(
            step="citation",
            item=item,
            label=entry.verdict,
            reason=entry.reason,
            evidence=entry.citation_url,
            text=entry.statement,
        )
