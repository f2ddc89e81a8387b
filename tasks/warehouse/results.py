"""Rows of results: cells, verdicts, scores, the leaderboard, diagnostics."""

from typing import Literal

from pydantic import Field

from tasks.warehouse.rows import BigInt, Row, Status, UtcDatetime, utc_now


class Cell(Row):
    """All verdicts of one protocol and judge on one report, for one state of their inputs."""

    table = "cells"
    key = ("cell_id",)

    cell_id: str
    """Sha-256 of inputs, judge, model, prompts and protocol version."""
    edition: str
    protocol: str
    agent: str
    assignment: str
    judge: str
    model_version: str
    prompt_sha: str
    protocol_version: str
    input_sha: str
    """Sha-256 of the report, its claims or facts and its pages, as the judge is given them."""
    status: Literal["done", "failed"]
    error: str | None = None
    n_verdicts: int = 0
    """Its stored verdicts, including those without an answer."""
    n_open: int = 0
    """Its open verdicts, which a later run may still decide."""
    finished_at: UtcDatetime = Field(default_factory=utc_now)


class Verdict(Row):
    """A judge's verdict on one item, with its evidence."""

    table = "verdicts"
    key = ("cell_id", "step", "item")

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
    reason: str | None = None
    evidence: str | None = None
    status: Status
    call_id: str | None = None
    asked_together: int | None = None
    """Items decided by the same call; null if no model was called."""
    shown_share: float | None = None
    """Share of the cited page's (or long report's) characters that the judge was shown, 0-1; null:
    all of them."""
    decided_by: str | None = None
    """The judge's fallback, if it was asked since the judge refused the item; model, attempt and
    call are then the fallback's."""
    refused_call: str | None = None
    """The judge's own call, if its fallback was asked."""


class Score(Row):
    """A report's value of one metric."""

    table = "scores"
    key = ("edition", "protocol", "agent", "assignment", "judge", "metric")

    edition: str
    protocol: str
    agent: str
    assignment: str
    judge: str
    metric: str
    value: float | None
    """The value; null if the denominator is empty (see `reason`)."""
    numerator: float | None = None
    n_items: int = 0
    """Items in the denominator."""
    n_open: int = 0
    """Open items of this metric."""
    state: Literal["done", "empty", "failed", "pending", "not_assessed"]
    """`empty`: the report is missing, as the agent gave an empty answer or refused; `failed`,
    `pending`: the state of its cell; `not_assessed`: the judge cannot judge this."""
    reason: str | None = None
    cell_id: str | None = None
    n_blocked: int | None = None
    """Items in no denominator since the judge refused them. This and the next columns are null in
    rows of earlier versions until `evergreen evaluate` runs."""
    bound_low: float | None = None
    """The least that the value would be, had the judge decided what it refused: with the worst or
    the best label for it. Null if that moves nothing, or the protocol names no such labels."""
    bound_high: float | None = None
    """The most that it would be."""
    bound_items: int | None = None
    """Items in the denominator of these bounds."""
    scorer_version: str
    """The version of the protocol's scoring; a new one recomputes scores without calling models."""


OUTDATED = "another version of the protocol judged it: evaluate this agent again"
"""The reason of a figure whose scores are of another version of the protocol."""
UNREVIEWED = "it rests on rubrics that a model drafted and nobody has reviewed"
"""The reason of a figure that is provisional although nothing is open."""


class LeaderboardRow(Row):
    """A figure: one agent's aggregated score on one metric over an edition."""

    table = "leaderboard"
    key = ("edition", "protocol", "agent", "metric", "judge")

    edition: str
    protocol: str
    """The metric's protocol."""
    agent: str
    metric: str
    """The metric's name; `configs/protocols` has its meaning, unit and direction."""
    judge: str
    """The judge whose verdicts are scored."""
    value: float | None
    """The figure, a share 0-1 or a number: macro mean, micro mean or mean over categories, as the
    protocol declares. A missing report counts as the protocol's `missing` says. Null if the
    denominator is empty."""
    macro: float | None
    """Mean of the reports' values."""
    micro: float | None
    """Sum of numerators over sum of denominators."""
    n_items: BigInt
    """Items in the denominators of all its reports."""
    n_reports: int
    """Reports that have a value, with missing ones that count as 0."""
    n_open: int
    """Open items, reports still to be judged, and assignments without an answer of the agent."""
    provisional: bool
    """Whether it may change without new reports: verdicts are open, or rubrics unreviewed."""
    reason: str | None = None
    """Why there is no value, or why it is provisional although nothing is open."""
    low: float | None = None
    """Lower end of the value's 95 % interval (bootstrap over articles), in the metric's unit."""
    high: float | None = None
    """Upper end of that interval."""
    interval_reason: str | None = None
    """Why there is no interval, or why it does not contain the value."""
    n_articles: int | None = None
    """Articles (or assignments, if they have no article) behind the value and its interval. This
    and the next columns are null in rows of earlier versions until `evergreen evaluate` runs."""
    rank_from: int | None = None
    """The agent's best possible rank, 1-based: the number of significantly better agents plus one.
    Null without a value, for agents that are not ranked, and with fewer than six articles."""
    rank_to: int | None = None
    """The agent's worst possible rank: the number of agents with a value that are not
    significantly worse."""
    seed: int | None = None
    """Seed of the draws for interval and ranks."""
    resamples: int | None = None
    """Bootstrap samples drawn for the interval."""
    scores_sha: str | None = None
    """Sha-256 of all inputs of this metric's and judge's intervals, ranks and pairs."""
    value_present: float | None = None
    """The figure without missing reports: the agent's own empty answers and final refusals. This
    and the next columns are null in rows of earlier versions until `evergreen evaluate` runs."""
    value_zero: float | None = None
    """The figure with 0 for each missing report, if the metric is one that can be 0 for it;
    otherwise as `value_present`. `value` is one of the two."""
    n_delivered: int | None = None
    """Assignments of which the agent has a report with a text."""
    n_missing: int | None = None
    """Assignments to which the agent gave an empty answer or a final refusal."""
    n_assignments: int | None = None
    """Assignments that the protocol judges; those that are neither delivered nor missing are
    open."""
    unranked: str | None = None
    """Why the agent is listed apart, without a rank; null if it is ranked."""
    n_blocked: int | None = None
    """Items in no denominator since the judge refused them. This and the next columns are null in
    rows of earlier versions until `evergreen evaluate` runs."""
    blocked_share: float | None = None
    """Mean share of a report's items that the judge refused, 0-1; null for numbers."""
    bound_low: float | None = None
    """The least that the value would be, had the judge decided what it refused: with the worst or
    the best label for it. Null if nothing was refused, or the protocol names no such labels."""
    bound_high: float | None = None
    """The most that it would be."""


class AgentPair(Row):
    """The difference of two agents on one metric, over the assignments for which both have one."""

    table = "agent_pairs"
    key = ("edition", "protocol", "metric", "judge", "agent", "other")

    edition: str
    protocol: str
    """The metric's protocol."""
    metric: str
    """The metric's name."""
    judge: str
    """The judge whose verdicts are scored."""
    agent: str
    """The first of the two agents, in alphabetical order."""
    other: str
    """The second agent."""
    n_articles: int
    """Articles (or assignments, if they have none) for which both have a value."""
    difference: float | None
    """The figure of `agent` minus that of `other`, over these articles, in the metric's unit."""
    low: float | None
    """Lower end of the difference's 95 % interval (bootstrap over articles, both together)."""
    high: float | None
    """Upper end of that interval."""
    effect_size: float | None
    """Cohen's d_z: mean of the articles' differences over their standard deviation."""
    better_share: float | None
    """Share of the articles for which `agent` has the better value, 0-1; ties count half."""
    p: float | None
    """Two-sided p-value, 0-1, of a randomization test that swaps the agents within articles."""
    p_adjusted: float | None
    """`p`, corrected for `n_pairs` comparisons by the step-down max-T method; below .05 is
    significant."""
    n_pairs: int
    """Pairs in that correction: all of ranked agents, or all of one that is not ranked."""
    seed: int
    """Seed of the draws for interval and p-value."""
    reason: str | None = None
    """Why a value is missing."""


class Diagnostic(Row):
    """A style measurement of one text; it does not enter scores."""

    table = "diagnostics"
    key = ("edition", "agent", "assignment", "name")

    edition: str
    agent: str
    """Empty for the reference article."""
    assignment: str
    name: str
    """The measurement's name, such as `flesch_reading_ease`."""
    value: float | None
    unit: str
    """What the measurement counts, or its unit."""
    text_sha: str
    version: str
    """The version of the computation; a new one computes it again."""
