"""Published verdicts of other judges, read in the form of our own.

The protocols' metrics over these verdicts must reproduce the published figures exactly. Format:
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
"""The Wikipedia article always came first, the report second."""
CLAIM_LABELS = frozenset({CONSISTENT, INCONSISTENT, NOT_SUPPORT})
CITATION_LABELS = frozenset({SUPPORT, NOT_SUPPORT, CONFLICT})


class UnreadableRecording(ValueError):
    """A file of recorded verdicts has an unexpected layout."""


class RecordedVerdict(Frozen):
    """A verdict of another judge."""

    step: str
    """`writing`, `coverage`, `conflict` or `citation`."""
    item: str
    """A criterion's id, `fact:<index>` or `claim:<index>`."""
    label: str | None
    status: Status
    reason: str | None = None
    evidence: str | None = None
    """The sentences shown to the judge, or the cited URL."""
    text: str = ""
    """The criterion, fact or claim that was judged."""


def read_writing(path: Path) -> list[RecordedVerdict]:
    """Read step `writing`, one verdict per criterion: `reference` (Wikipedia) or `report`.

    Raises:
        UnreadableRecording: the message names the file and the field.
    """
    recording = _load_recording(path)
    return [
        RecordedVerdict(
            step="writing",
            item=_require_text(path, entry, "criterion_id", where),
            label=WINNERS[_require_choice(path, entry, "winner", where, WINNERS)],
            status=Status.OK,
            reason=entry.get("reason"),
            text=_require_text(path, entry, "criterion_text", where),
        )
        for category in _require_object(path, recording, "details")
        for where, entry in _require_objects(path, recording["details"], category)
    ]


def read_verifiability(path: Path) -> list[RecordedVerdict]:
    """Read steps `coverage` (each reference sentence) and `conflict` (each sentence of the report).

    Labels: consistent, inconsistent, not_support.

    Raises:
        UnreadableRecording: the message names the file and the field.
    """
    recording = _load_recording(path)
    found = []
    for step, item, field, sentence in (
        ("coverage", "fact", "coverage_alignments", "gt_sentence"),
        ("conflict", "claim", "alignments", "gen_sentence"),
    ):
        for index, (where, entry) in enumerate(_require_objects(path, recording, field)):
            verify = _require_object(path, entry, "verify", where)
            verdict = RecordedVerdict(
                step=step,
                item=f"{item}:{index}",
                label=_require_choice(path, verify, "verdict", f"{where}.verify", CLAIM_LABELS),
                status=Status.OK,
                reason=verify.get("reason"),
                evidence="\n".join(entry.get("candidates") or ()) or None,
                text=_require_text(path, entry, sentence, where),
            )
            found.append(verdict)
    return found


def read_citations(path: Path) -> list[RecordedVerdict]:
    """Read step `citation`, one verdict per statement: support, not_support or conflict.

    Statements without a verdict had no readable page: they are `unfetchable`.

    Raises:
        UnreadableRecording: the message names the file and the field.
    """
    recording = _load_recording(path)
    total = recording.get("total_statements")
    if not isinstance(total, int):
        raise UnreadableRecording(f"{path}: `total_statements` is not a whole number.")
    judged = {}
    for where, entry in _require_objects(path, recording, "results"):
        index = entry.get("statement_index")
        if not isinstance(index, int) or not 0 <= index < total:
            raise UnreadableRecording(
                f"{path}: `{where}.statement_index` is {index!r}; expected 0 to {total - 1}."
            )
        judged[index] = RecordedVerdict(
            step="citation",
            item=f"claim:{index}",
            label=_require_choice(path, entry, "verdict", where, CITATION_LABELS),
            status=Status.OK,
            reason=entry.get("reason"),
            evidence=entry.get("citation_url"),
            text=_require_text(path, entry, "statement", where),
        )
    return [judged.get(index) or _make_unfetchable(index) for index in range(total)]


def _make_unfetchable(index: int) -> RecordedVerdict:
    return RecordedVerdict(
        step="citation",
        item=f"claim:{index}",
        label=None,
        status=Status.UNFETCHABLE,
        reason="recorded as skipped: no page could be read for it",
    )


def _load_recording(path: Path) -> dict[str, Any]:
    try:
        recording = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableRecording(f"{path}: cannot be read as JSON ({error}).") from error
    if not isinstance(recording, dict):
        raise UnreadableRecording(f"{path}: expected an object at the top.")
    return recording


def _require_object(
    path: Path, entry: Mapping[str, Any], field: str, where: str = ""
) -> dict[str, Any]:
    value = entry.get(field)
    if not isinstance(value, dict):
        raise UnreadableRecording(f"{path}: `{_join_path(where, field)}` is not an object.")
    return value


def _require_objects(
    path: Path, recording: Mapping[str, Any], field: str
) -> list[tuple[str, dict[str, Any]]]:
    """Return the objects of a list, each with its path."""
    values = recording.get(field)
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise UnreadableRecording(f"{path}: `{field}` is not a list of objects.")
    return [(f"{field}[{index}]", value) for index, value in enumerate(values)]


def _require_text(path: Path, entry: Mapping[str, Any], field: str, where: str) -> str:
    value = entry.get(field)
    if not isinstance(value, str):
        raise UnreadableRecording(f"{path}: `{_join_path(where, field)}` is not a text.")
    return value


def _require_choice(
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
            f"{path}: `{_join_path(where, field)}` is {value!r}; expected one of {expected}."
        )
    return value


def _join_path(where: str, field: str) -> str:
    return f"{where}.{field}" if where else field
