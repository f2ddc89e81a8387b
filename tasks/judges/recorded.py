"""Published verdicts of other judges, read as if a judge had just given them.

The protocols' metrics over these verdicts must give the published figures exactly. Format:
the result files of Wiki Live Challenge, one article each.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tasks.base import Frozen
from tasks.judges.decisions import (
    CONFLICT,
    CONSISTENT,
    INCONSISTENT,
    NOT_SUPPORT,
    REFERENCE,
    REPORT,
    SUPPORT,
)
from tasks.warehouse.rows import Status

WINNERS = {"gt": REFERENCE, "gen": REPORT}
"""The Wikipedia article always stood first, the report second."""
CLAIM_LABELS = frozenset({CONSISTENT, INCONSISTENT, NOT_SUPPORT})
CITATION_LABELS = frozenset({SUPPORT, NOT_SUPPORT, CONFLICT})


class UnreadableRecording(ValueError):
    """A file of recorded verdicts is not of the published layout."""


class RecordedVerdict(Frozen):
    """One decision somebody else's judge made."""

    step: str
    """`writing`, `coverage`, `conflict` or `citation`."""
    item: str
    """A criterion's id, `fact:<index>` or `claim:<index>`."""
    label: str | None
    status: Status
    reason: str | None = None
    evidence: str | None = None
    """What the judge was shown (candidate sentences) or pointed to (the cited URL)."""
    text: str = ""
    """The criterion, fact or claim that was judged."""


def read_writing(path: Path) -> list[RecordedVerdict]:
    """Step `writing`, one verdict per criterion: `reference` (Wikipedia) or `report`.

    Raises:
        UnreadableRecording: naming the file and the field.
    """
    recording = _read(path)
    return [
        RecordedVerdict(
            step="writing",
            item=_text(path, entry, "criterion_id", where),
            label=WINNERS[_one_of(path, entry, "winner", where, WINNERS)],
            status=Status.OK,
            reason=entry.get("reason"),
            text=_text(path, entry, "criterion_text", where),
        )
        for category in _mapping(path, recording, "details")
        for where, entry in _entries(path, recording["details"], category)
    ]


def read_verifiability(path: Path) -> list[RecordedVerdict]:
    """Step `coverage`: each reference sentence; step `conflict`: each sentence of the report.

    Labels: consistent, inconsistent, not_support.

    Raises:
        UnreadableRecording: naming the file and the field.
    """
    recording = _read(path)
    found = []
    for step, item, field, sentence in (
        ("coverage", "fact", "coverage_alignments", "gt_sentence"),
        ("conflict", "claim", "alignments", "gen_sentence"),
    ):
        for index, (where, entry) in enumerate(_entries(path, recording, field)):
            verify = _mapping(path, entry, "verify", where)
            verdict = RecordedVerdict(
                step=step,
                item=f"{item}:{index}",
                label=_one_of(path, verify, "verdict", f"{where}.verify", CLAIM_LABELS),
                status=Status.OK,
                reason=verify.get("reason"),
                evidence="\n".join(entry.get("candidates") or ()) or None,
                text=_text(path, entry, sentence, where),
            )
            found.append(verdict)
    return found


def read_citations(path: Path) -> list[RecordedVerdict]:
    """Step `citation`, one verdict per statement: support, not_support or conflict.

    Statements without a verdict had no page that could be read: they are `unfetchable`.

    Raises:
        UnreadableRecording: naming the file and the field.
    """
    recording = _read(path)
    total = recording.get("total_statements")
    if not isinstance(total, int):
        raise UnreadableRecording(f"{path}: `total_statements` is not a whole number.")
    judged = {}
    for where, entry in _entries(path, recording, "results"):
        index = entry.get("statement_index")
        if not isinstance(index, int) or not 0 <= index < total:
            raise UnreadableRecording(
                f"{path}: `{where}.statement_index` is {index!r}; expected 0 to {total - 1}."
            )
        judged[index] = RecordedVerdict(
            step="citation",
            item=f"claim:{index}",
            label=_one_of(path, entry, "verdict", where, CITATION_LABELS),
            status=Status.OK,
            reason=entry.get("reason"),
            evidence=entry.get("citation_url"),
            text=_text(path, entry, "statement", where),
        )
    return [judged.get(index) or _unfetchable(index) for index in range(total)]


def _unfetchable(index: int) -> RecordedVerdict:
    return RecordedVerdict(
        step="citation",
        item=f"claim:{index}",
        label=None,
        status=Status.UNFETCHABLE,
        reason="recorded as skipped: no page could be read for it",
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        recording = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableRecording(f"{path}: cannot be read as JSON ({error}).") from error
    if not isinstance(recording, dict):
        raise UnreadableRecording(f"{path}: expected an object at the top.")
    return recording


def _mapping(path: Path, entry: Mapping[str, Any], field: str, where: str = "") -> dict[str, Any]:
    value = entry.get(field)
    if not isinstance(value, dict):
        raise UnreadableRecording(f"{path}: `{_at(where, field)}` is not an object.")
    return value


def _entries(
    path: Path, recording: Mapping[str, Any], field: str
) -> list[tuple[str, dict[str, Any]]]:
    """The objects of a list, each with where it stands."""
    values = recording.get(field)
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise UnreadableRecording(f"{path}: `{field}` is not a list of objects.")
    return [(f"{field}[{index}]", value) for index, value in enumerate(values)]


def _text(path: Path, entry: Mapping[str, Any], field: str, where: str) -> str:
    value = entry.get(field)
    if not isinstance(value, str):
        raise UnreadableRecording(f"{path}: `{_at(where, field)}` is not a text.")
    return value


def _one_of(
    path: Path,
    entry: Mapping[str, Any],
    field: str,
    where: str,
    known: frozenset[str] | Mapping[str, str],
) -> str:
    value = entry.get(field)
    if not isinstance(value, str) or value not in known:
        expected = ", ".join(sorted(known))
        raise UnreadableRecording(
            f"{path}: `{_at(where, field)}` is {value!r}; expected one of {expected}."
        )
    return value


def _at(where: str, field: str) -> str:
    return f"{where}.{field}" if where else field
