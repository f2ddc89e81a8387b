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
    """Sha of the report, its claims or facts and its pages, as the judge is given them."""
    status: Literal["done", "failed"]
    error: str | None = None
    n_verdicts: int = 0
    """Verdicts stored for it, those without a decision as well."""
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
    """Of how its protocol makes figures of verdicts: another one scores again, asking nobody."""


OUTDATED = "another version of the protocol judged it: evaluate this agent again"
"""Reason of a figure that rests on scores of another version than the protocol has now."""
UNREVIEWED = "it rests on rubrics that a model drafted and nobody has reviewed"
"""Why a figure is provisional although nothing is open."""


class LeaderboardRow(Row):
    """One metric of one agent over an edition."""

    table: ClassVar[str] = "leaderboard"
    key: ClassVar[tuple[str, ...]] = ("edition", "protocol", "agent", "metric", "judge")

    edition: str
    """The edition's name."""
    protocol: str
    """The protocol that the metric is of."""
    agent: str
    """The agent's id."""
    metric: str
    """The metric's name; `configs/protocols` says what it means, its unit and which way is
    better."""
    judge: str
    """Whose verdicts it rests on."""
    value: float | None
    """The headline figure, a share 0-1 or a number: macro mean, micro mean or mean over categories,
    as the protocol declares. Null where nothing entered the denominator."""
    macro: float | None
    """Mean over reports of the per-report values."""
    micro: float | None
    """Sum of numerators over sum of denominators."""
    n_items: int
    """Items in the denominators of all its reports."""
    n_reports: int
    """Reports that have a value."""
    n_open: int
    """Items and whole reports that a later run may still decide."""
    provisional: bool
    """Whether it may still change without a new report: something is open, or rests on drafts."""
    reason: str | None = None
    """Why there is no value, or why it is provisional although nothing is open."""
    low: float | None = None
    """Lower end of the value's 95 % interval (bootstrap over articles), in the metric's unit."""
    high: float | None = None
    """Upper end of that interval."""
    interval_reason: str | None = None
    """Why there is no interval, or why it does not hold the value."""
    n_articles: int | None = None
    """Articles that the value and its interval rest on; assignments, where they have no article.
    Null in rows of earlier versions until `evergreen evaluate` runs again, as all that follows."""
    rank_from: int | None = None
    """The best place the agent may have, 1 is best: one more than the agents that are significantly
    better. Null without a value."""
    rank_to: int | None = None
    """The worst place it may have: all agents with a value but those significantly worse."""
    seed: int | None = None
    """Of the draws behind interval and ranks."""
    resamples: int | None = None
    """How often articles were drawn again for the interval."""
    scores_sha: str | None = None
    """Sha of all that interval, ranks and pairs of this metric and judge rest on."""


class AgentPair(Row):
    """How two agents differ by one metric, over the assignments of which both have a value."""

    table: ClassVar[str] = "agent_pairs"
    key: ClassVar[tuple[str, ...]] = ("edition", "protocol", "metric", "judge", "agent", "other")

    edition: str
    """The edition's name."""
    protocol: str
    """The protocol that the metric is of."""
    metric: str
    """The metric's name."""
    judge: str
    """Whose verdicts it rests on."""
    agent: str
    """The agent that is compared; the one of the two that comes first in the alphabet."""
    other: str
    """The agent that it is compared with."""
    n_articles: int
    """Articles (assignments, where they have none) of which both have a value."""
    difference: float | None
    """The figure of `agent` minus that of `other`, both over these articles, in the metric's
    unit."""
    low: float | None
    """Lower end of the difference's 95 % interval (bootstrap over articles, both together)."""
    high: float | None
    """Upper end of that interval."""
    effect_size: float | None
    """Cohen's d_z: mean of the articles' differences over their standard deviation."""
    better_share: float | None
    """Share of the articles of which `agent` has the better value, 0-1; equals count half."""
    p: float | None
    """Two-sided p of the difference being chance, 0-1, by swapping the two within articles."""
    p_adjusted: float | None
    """The same, corrected for `n_pairs` by Holm; below .05 is called significant."""
    n_pairs: int
    """Pairs of agents that the metric compares with this judge."""
    seed: int
    """Of the draws behind interval and p."""
    reason: str | None = None
    """Why a figure is missing."""


class Diagnostic(Row):
    """A style figure of one text, reported beside the scores, never a verdict."""

    table: ClassVar[str] = "diagnostics"
    key: ClassVar[tuple[str, ...]] = ("edition", "agent", "assignment", "name")

    edition: str
    agent: str
    """Empty for the reference article."""
    assignment: str
    name: str
    """Of the figure, such as `flesch_reading_ease`."""
    value: float | None
    unit: str
    """What the figure counts or is measured in."""
    text_sha: str
    version: str
    """Of how such figures are computed: another one computes them again."""
