"""Stage scores: compute one row per report and metric from verdicts, one agent at a time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import polars as pl

from tasks.configuration.models import MetricEntry
from tasks.judges.decisions import Judge
from tasks.judges.registry import load_judge
from tasks.judging.cells import CellPlan, build_plan_frame
from tasks.protocols.case import (
    ANSWER_SCHEMA,
    ASKED_SCHEMA,
    BUNDLE_SCHEMA,
    RUBRIC_SCHEMA,
    JudgedReports,
    Protocol,
)
from tasks.protocols.cell import get_protocol_version
from tasks.protocols.redirects import Redirects, cites_page
from tasks.run import Plan
from tasks.scoring.bounds import NOT_BLOCKED, FigureBounds, compute_bounds
from tasks.scoring.pending import (
    count_scored,
    has_outdated_scores,
    load_addresses,
    scored_cell,
    scorer_version,
)
from tasks.stage import Output, Stage, StageCounts, open_alone
from tasks.verdicts import list_cells, list_protocols
from tasks.warehouse.results import Score
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change


class PendingScores(NamedTuple):
    """An agent's reports whose scores under one protocol are out of date."""

    protocol: str
    agent: str
    cells: list[CellPlan]


def find_pending_scores(plan: Plan) -> list[PendingScores]:
    """Return the reports whose stored scores are out of date."""
    groups: dict[tuple[str, str], list[CellPlan]] = {}
    for cell in plan.ask(list_cells):
        groups.setdefault((cell.protocol, cell.agent), []).append(cell)
    return [
        PendingScores(*key, cells)
        for key, cells in groups.items()
        if has_outdated_scores(plan.store, cells)
    ]


async def score_agent(
    warehouse: Warehouse, protocol_name: str, agent: str, plans: list[CellPlan]
) -> None:
    """Replace the scores of one agent's reports under one protocol."""
    first = plans[0]
    scores = compute_scores(
        warehouse,
        get_protocol_version(protocol_name, first.protocol_version),
        load_judge(first.judge),
        plans,
    )
    await warehouse.write_async(
        Change(
            Score,
            scores,
            replacing={
                "edition": first.edition,
                "protocol": protocol_name,
                "agent": agent,
                "judge": first.judge,
            },
        )
    )


def compute_scores(
    warehouse: Warehouse, protocol: Protocol, judge: Judge, plans: Sequence[CellPlan]
) -> list[Score]:
    """Compute one score per report and metric; without verdicts it is null, with a reason."""
    judged = _load_judged(warehouse, protocol, plans)
    figures = {
        (row["assignment"], row["metric"]): row
        for row in protocol.compute_figures(judged, judge).iter_rows(named=True)
    }
    bounds = compute_bounds(protocol, judged, judge)
    unanswered = protocol.count_missing(judged, judge)
    return [
        _build_missing_score(plan, metric, unanswered.get(metric.name, {}).get(plan.assignment, 0))
        if plan.state == "empty"
        else _build_score(plan, metric.name, figures.get(key), bounds.get(key, NOT_BLOCKED))
        for plan in plans
        for metric in protocol.metrics
        for key in [(plan.assignment, metric.name)]
    ]


def _load_judged(
    warehouse: Warehouse, protocol: Protocol, plans: Sequence[CellPlan]
) -> JudgedReports:
    first = plans[0]
    verdicts = warehouse.frame(
        "SELECT cell_id, assignment, step, item, status, label, score, reason FROM verdicts "
        "WHERE edition = $1 AND protocol = $2 AND agent = $3 AND judge = $4 "
        "ORDER BY assignment, step, item",
        [first.edition, first.protocol, first.agent, first.judge],
    )
    reports = build_plan_frame(plans)
    query = "SELECT url, final_url FROM pages WHERE edition = $1 AND final_url IS NOT NULL"
    redirects: Redirects = dict(warehouse.frame(query, [first.edition]).iter_rows())
    return JudgedReports(
        reports=reports,
        verdicts=verdicts.join(reports.select("cell_id"), on="cell_id", how="semi"),
        claims=_load_claims(warehouse, plans, redirects),
        addresses=load_addresses(warehouse, first.edition, first.agent),
        redirects=redirects,
        answers=_load_answers(warehouse, plans)
        if "truth" in protocol.inputs
        else pl.DataFrame(schema=ANSWER_SCHEMA),
        asked=_load_asked(warehouse, plans),
        **(_load_rubrics(warehouse, plans) if {"rubric", "criteria"} & {*protocol.inputs} else {}),
    )


def _load_asked(warehouse: Warehouse, plans: Sequence[CellPlan]) -> pl.DataFrame:
    """Count what missing reports did not answer."""
    missing = [plan.assignment for plan in plans if plan.state == "empty"]
    frame = warehouse.frame(
        "SELECT a.assignment, "
        "(SELECT count(*) FROM facts AS f WHERE f.edition = a.edition AND f.article = a.article) "
        "AS n_facts, "
        "(SELECT count(*) FROM key_points AS k WHERE k.edition = a.edition "
        "AND k.assignment = a.assignment) AS n_points "
        "FROM assignments AS a WHERE a.edition = $1 AND a.assignment IN (SELECT unnest($2)) "
        "ORDER BY a.assignment",
        [plans[0].edition, missing],
    )
    return frame.cast(pl.Schema(ASKED_SCHEMA))


def _load_rubrics(warehouse: Warehouse, plans: Sequence[CellPlan]) -> dict[str, pl.DataFrame]:
    first = plans[0]
    of = "edition = $1 AND protocol = $2 AND assignment IN (SELECT unnest($3))"
    key = [first.edition, first.protocol, [plan.assignment for plan in plans]]
    return {
        "rubrics": warehouse.frame(
            f"SELECT {', '.join(RUBRIC_SCHEMA)} FROM rubrics WHERE {of} "
            "ORDER BY assignment, number",
            key,
        ),
        "bundles": warehouse.frame(
            f"SELECT {', '.join(BUNDLE_SCHEMA)} FROM rubric_bundles WHERE {of} ORDER BY assignment",
            key,
        ),
    }


def _load_answers(warehouse: Warehouse, plans: Sequence[CellPlan]) -> pl.DataFrame:
    """Load one agent's answers with their ground truths."""
    first = plans[0]
    return warehouse.frame(
        "SELECT r.assignment, r.text, g.category, g.truths, g.settings, s.trace "
        "FROM reports AS r JOIN ground_truths AS g USING (edition, assignment) "
        "LEFT JOIN search_traces AS s USING (edition, agent, assignment) "
        "WHERE r.edition = $1 AND r.agent = $2 AND r.assignment IN (SELECT unnest($3)) "
        "ORDER BY r.assignment",
        [first.edition, first.agent, [plan.assignment for plan in plans]],
    )


def _load_claims(
    warehouse: Warehouse, plans: Sequence[CellPlan], redirects: Redirects
) -> pl.DataFrame:
    first = plans[0]
    urls = {plan.assignment: plan.article_url for plan in plans}
    frame = warehouse.frame(
        "SELECT assignment, number, list(z.url ORDER BY z.url) FILTER (z.url IS NOT NULL) AS urls, "
        "any_value(c.unwritten_urls) AS unwritten, c.source = 'published' AS published, "
        "coalesce(bool_or(z.kind <> 'inferred'), false) AS attributed, "
        "coalesce(bool_or(z.kind = 'explicit'), false) AS own, "
        "attributed OR unwritten IS NOT NULL AS cited "
        "FROM claims AS c LEFT JOIN citations AS z USING (edition, agent, assignment, number) "
        "WHERE c.edition = $1 AND c.agent = $2 AND c.assignment IN (SELECT unnest($3)) "
        "GROUP BY ALL ORDER BY assignment, number",
        [first.edition, first.agent, list(urls)],
    )
    leaked = [
        cites_page(
            [*(row["urls"] or ()), *(row["unwritten"] or "").split()],
            urls[row["assignment"]],
            redirects,
        )
        for row in frame.iter_rows(named=True)
    ]
    return frame.select(
        "assignment",
        "number",
        "attributed",
        "own",
        "cited",
        pl.Series("leaked", leaked, pl.Boolean),
        "published",
    )


def _build_missing_score(plan: CellPlan, metric: MetricEntry, n_items: int) -> Score:
    """Build the score of a missing report: 0 where the protocol says so and it left out items;
    its items are kept in any case, so that the figure can be had both ways."""
    n_items = n_items if metric.zero_if_missing else 0
    numerator = 0.0 if n_items and plan.missing == "zero" else None
    figure = {"numerator": numerator, "n_items": n_items, "n_open": 0, "reason": plan.state_reason}
    return _build_score(plan, metric.name, figure)


def _build_score(
    plan: CellPlan,
    metric: str,
    figure: dict[str, Any] | None,
    bounds: FigureBounds = NOT_BLOCKED,
) -> Score:
    row = figure or {"numerator": None, "n_items": 0, "n_open": 0, "reason": plan.state_reason}
    n_items, numerator = row["n_items"], row["numerator"]
    return Score(
        **plan.model_dump(include={"edition", "protocol", "agent", "assignment", "judge", "state"}),
        metric=metric,
        value=numerator / n_items if numerator is not None and n_items else None,
        numerator=numerator,
        n_items=n_items,
        n_open=row["n_open"],
        reason=row["reason"],
        **bounds._asdict(),
        cell_id=scored_cell(plan),
        scorer_version=scorer_version(plan),
    )


def _count(plan: Plan) -> Iterator[StageCounts]:
    edition = plan.selection.edition
    scored = count_scored(plan.store, edition, plan.selection.judge)
    cells = Counter(cell.protocol for cell in plan.ask(list_cells))
    for name in plan.ask(list_protocols):
        done = scored.get(name, 0)
        yield StageCounts(
            edition=edition, stage=f"scores {name}", done=done, pending=cells[name] - done
        )


SCORES: Stage[PendingScores, PendingScores] = Stage(
    name="scores",
    task="score_agent",
    item="cell",
    inputs=("cells", "verdicts"),
    outputs=(Output("score", Score),),
    find_pending=find_pending_scores,
    open=open_alone(lambda run, group, _: score_agent(run.store, *group)),
    title=lambda group: f"{group.protocol} / {group.agent}",
    size=lambda group: len(group.cells),
    retry_on=(Exception,),
    count=_count,
)
