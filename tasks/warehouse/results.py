"""The rows that judging makes: cells, verdicts, scores, the leaderboard, diagnostics."""

from typing import ClassVar, Literal

from pydantic import Field

from tasks.warehouse.rows import Row, Status, UtcDatetime, utc_now


class Cell(Row):
    """One (protocol, agent, assignment) judged by one judge on one state of its inputs."""

    table: ClassVar[str] = "cells"
    key: ClassVar[tuple[str, ...]] = ("cell_id",)

    cell_id: str
    """Sha of everything the verdicts rest on: inputs, judge, model, prompts, protocol version."""
    edition: str
    protocol: str
    agent: str
    assignment: str
    judge: str
    model_version: str
    prompt_sha: str
    protocol_version: str
    input_sha: str
    status: Literal["done", "failed"]
    error: str | None = None
    n_verdicts: int = 0
    n_open: int = 0
    """Verdicts whose status a later run may heal."""
    finished_at: UtcDatetime = Field(default_factory=utc_now)


class Verdict(Row):
    """One decision, with what it rests on."""

    table: ClassVar[str] = "verdicts"
    key: ClassVar[tuple[str, ...]] = ("cell_id", "step", "item")

    cell_id: str
    edition: str
    protocol: str
    step: str
    agent: str
    assignment: str
    item: str
    judge: str
    model_version: str | None
    prompt_sha: str
    attempt: int = 1
    label: str | None = None
    score: float | None = None
    """The judge's probability or mark, where it gives one; meaning per step."""
    reason: str | None = None
    evidence: str | None = None
    status: Status
    call_id: str | None = None
    asked_together: int | None = None
    """Items decided by the same call; null where no model was called."""
    shown_share: float | None = None
    """Of the characters of the cited page, or of a long report, the share that the judge was shown;
    null: all of it."""


class Score(Row):
    """One metric of one report."""

    table: ClassVar[str] = "scores"
    key: ClassVar[tuple[str, ...]] = (
        "edition",
        "protocol",
        "agent",
        "assignment",
        "judge",
        "metric",
    )

    edition: str
    protocol: str
    agent: str
    assignment: str
    judge: str
    metric: str
    value: float | None
    """Null where nothing entered the denominator, with the reason."""
    numerator: float | None = None
    n_items: int = 0
    """Items in the denominator."""
    n_open: int = 0
    """Items of this metric a later run may still decide."""
    state: Literal["done", "empty", "failed", "pending", "not_assessed"]
    """Of the report: judged, nothing to judge, its cell failed or is to come, or the judge
    cannot assess the protocol."""
    reason: str | None = None
    cell_id: str | None = None
    scorer_version: str


OUTDATED = "another version of the protocol judged it: evaluate this agent again"
"""Reason of a figure that rests on scores of another version than the protocol has now."""
UNREVIEWED = "it rests on rubrics that a model drafted and nobody has reviewed"
"""Why a figure is provisional although nothing is open."""


class LeaderboardRow(Row):
    """One metric of one agent over an edition."""

    table: ClassVar[str] = "leaderboard"
    key: ClassVar[tuple[str, ...]] = ("edition", "protocol", "agent", "metric", "judge")

    edition: str
    protocol: str
    agent: str
    metric: str
    judge: str
    value: float | None
    """The headline figure, a share 0-1: macro or micro mean as the protocol declares."""
    macro: float | None
    """Mean over reports of the per-report values."""
    micro: float | None
    """Sum of numerators over sum of denominators."""
    n_items: int
    n_reports: int
    n_open: int
    provisional: bool
    reason: str | None = None


class Diagnostic(Row):
    """A style figure of one text, reported beside the scores, never a verdict."""

    table: ClassVar[str] = "diagnostics"
    key: ClassVar[tuple[str, ...]] = ("edition", "agent", "assignment", "name")

    edition: str
    agent: str
    """Empty for the reference article."""
    assignment: str
    name: str
    value: float | None
    unit: str
    text_sha: str
    version: str
