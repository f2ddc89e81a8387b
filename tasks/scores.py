"""Stage scores: from verdicts to one row per report and metric, an agent at a time."""

from collections.abc import Sequence

import polars as pl

from tasks.extraction.urls import same_page
from tasks.judges.decisions import Judge
from tasks.judges.registry import judge
from tasks.judging.cells import CellPlan, frame_of
from tasks.protocols.case import ANSWERS, BUNDLES, RUBRICS, Judged, Protocol
from tasks.protocols.cell import protocol_as
from tasks.protocols.redirects import Redirects, addresses
from tasks.scoring.pending import scored_cell, scorer_version
from tasks.stage import stage_task
from tasks.warehouse.results import Score
from tasks.warehouse.store import Warehouse, get_open_warehouse
from tasks.warehouse.writer import Change


@stage_task("scores · {protocol_name} · {agent}")
async def score_agent(
    warehouse_path: str, protocol_name: str, agent: str, plans: list[CellPlan]
) -> None:
    """Score all reports of one agent under one protocol and replace what was there."""
    warehouse = get_open_warehouse(warehouse_path)
    first = plans[0]
    scores = scored(
        warehouse, protocol_as(protocol_name, first.protocol_version), judge(first.judge), plans
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


def scored(
    warehouse: Warehouse, protocol: Protocol, judge: Judge, plans: Sequence[CellPlan]
) -> list[Score]:
    """One score per report and metric; a report that has no verdicts gets null and the reason."""
    judged = _judged(warehouse, protocol, plans)
    figures = {
        (row["assignment"], row["metric"]): row
        for row in protocol.figures(judged, judge).iter_rows(named=True)
    }
    return [
        _score(plan, metric.name, figures.get((plan.assignment, metric.name)))
        for plan in plans
        for metric in protocol.metrics
    ]


def _judged(warehouse: Warehouse, protocol: Protocol, plans: Sequence[CellPlan]) -> Judged:
    first = plans[0]
    verdicts = warehouse.frame(
        "SELECT cell_id, assignment, step, item, status, label, score FROM verdicts "
        "WHERE edition = $1 AND protocol = $2 AND agent = $3 AND judge = $4 "
        "ORDER BY assignment, step, item",
        [first.edition, first.protocol, first.agent, first.judge],
    )
    reports = frame_of(plans)
    redirects = _redirects(warehouse, first.edition)
    return Judged(
        reports=reports,
        verdicts=verdicts.join(reports.select("cell_id"), on="cell_id", how="semi"),
        claims=_claims(warehouse, plans, redirects),
        redirects=redirects,
        answers=_answers(warehouse, plans)
        if "truth" in protocol.inputs
        else pl.DataFrame(schema=ANSWERS),
        **(_rubrics(warehouse, plans) if {"rubric", "criteria"} & {*protocol.inputs} else {}),
    )


def _rubrics(warehouse: Warehouse, plans: Sequence[CellPlan]) -> dict[str, pl.DataFrame]:
    first = plans[0]
    of = "edition = $1 AND protocol = $2 AND assignment IN (SELECT unnest($3))"
    key = [first.edition, first.protocol, [plan.assignment for plan in plans]]
    return {
        "rubrics": warehouse.frame(
            f"SELECT {', '.join(RUBRICS)} FROM rubrics WHERE {of} ORDER BY assignment, number", key
        ),
        "bundles": warehouse.frame(
            f"SELECT {', '.join(BUNDLES)} FROM rubric_bundles WHERE {of} ORDER BY assignment", key
        ),
    }


def _answers(warehouse: Warehouse, plans: Sequence[CellPlan]) -> pl.DataFrame:
    """The answers of one agent beside what is true."""
    first = plans[0]
    return warehouse.frame(
        "SELECT r.assignment, r.text, g.category, g.truths, g.settings, s.trace "
        "FROM reports AS r JOIN ground_truths AS g USING (edition, assignment) "
        "LEFT JOIN search_traces AS s USING (edition, agent, assignment) "
        "WHERE r.edition = $1 AND r.agent = $2 AND r.assignment IN (SELECT unnest($3)) "
        "ORDER BY r.assignment",
        [first.edition, first.agent, [plan.assignment for plan in plans]],
    )


def _redirects(warehouse: Warehouse, edition: str) -> Redirects:
    query = "SELECT url, final_url FROM pages WHERE edition = $1 AND final_url IS NOT NULL"
    return dict(warehouse.frame(query, [edition]).iter_rows())


def _claims(warehouse: Warehouse, plans: Sequence[CellPlan], redirects: Redirects) -> pl.DataFrame:
    first = plans[0]
    urls = {plan.assignment: plan.article_url for plan in plans}
    frame = warehouse.frame(
        "SELECT assignment, number, list(z.url ORDER BY z.url) FILTER (z.url IS NOT NULL) AS urls "
        "FROM claims AS c LEFT JOIN citations AS z USING (edition, agent, assignment, number) "
        "WHERE c.edition = $1 AND c.agent = $2 AND c.assignment IN (SELECT unnest($3)) "
        "GROUP BY ALL ORDER BY ALL",
        [first.edition, first.agent, list(urls)],
    )
    leaked = [
        any(
            same_page(each, urls[row["assignment"]])
            for url in row["urls"] or ()
            for each in addresses(url, redirects)
        )
        for row in frame.iter_rows(named=True)
    ]
    return frame.select(
        "assignment",
        "number",
        pl.col("urls").is_not_null().alias("cited"),
        pl.Series("leaked", leaked, pl.Boolean),
    )


def _score(plan: CellPlan, metric: str, figure: dict[str, object] | None) -> Score:
    row = figure or {"numerator": None, "n_items": 0, "n_open": 0, "reason": plan.state_reason}
    n_items, numerator = row["n_items"], row["numerator"]
    return Score.model_validate(
        {
            "edition": plan.edition,
            "protocol": plan.protocol,
            "agent": plan.agent,
            "assignment": plan.assignment,
            "judge": plan.judge,
            "metric": metric,
            "value": numerator / n_items if numerator is not None and n_items else None,  # type: ignore[operator]
            "numerator": numerator,
            "n_items": n_items,
            "n_open": row["n_open"],
            "state": plan.state,
            "reason": row["reason"],
            "cell_id": scored_cell(plan),
            "scorer_version": scorer_version(plan),
        }
    )
