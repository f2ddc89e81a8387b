"""The boards of a site's leaderboard, and the same figures for parts of the edition: an article's
category, the quarter it was created in, or both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
import polars as pl

from tasks.configuration.models import MetricEntry
from tasks.protocols.registry import title_of
from tasks.publishing.costs import Price, prices
from tasks.publishing.material import Material, best_first, cell_of
from tasks.scoring.boards import Board, boards_of
from tasks.scoring.standings import Standing, standings
from tasks.site import wording
from tasks.site.charts import ranking
from tasks.site.content import BoardView, Cell, Column, Entry, Option
from tasks.site.harmless import visible
from tasks.warehouse.results import OUTDATED, UNREVIEWED

QUARTERS = ("Jan–Mar", "Apr–Jun", "Jul–Sep", "Oct–Dec")


def board_views(material: Material) -> list[BoardView]:
    """Every board of every judge; those of the judge that pages mark by come first."""
    views: list[BoardView] = []
    price = prices(material)
    for judge in material.judges:
        rows = material.leaderboard.filter(pl.col("judge") == judge)
        for board in boards_of(rows):
            of_board = rows.filter(pl.col("protocol").is_in(list(board.protocols)))
            if of_board["value"].is_not_null().any():
                views.append(_view(material, board, of_board, judge, price, f"board-{len(views)}"))
    return views


@dataclass(frozen=True)
class Parts:
    """What the figures of a board's parts are made from."""

    view: BoardView
    scores: pl.DataFrame
    """Of its judge and metrics."""
    metrics: dict[str, MetricEntry]
    chosen: tuple[tuple[str, str, list[str]], ...]
    """(category, quarter, assignments) of every part that has articles; empty: any."""
    category_of: dict[str, str]
    article_of: dict[str, str | None]
    unsettled: frozenset[tuple[str, str]]
    """(agent, metric) of figures that are provisional for more than open items: another version
    judged them, or nobody has reviewed what they rest on."""


def parts_of(material: Material, view: BoardView) -> Parts:
    names = [column.metric for column in view.columns]
    scores = material.scores.filter((pl.col("judge") == view.judge) & pl.col("metric").is_in(names))
    pairs = scores.select("protocol", "metric").unique().iter_rows()
    return Parts(
        view=view,
        scores=scores,
        metrics={metric: material.metric(protocol, metric) for protocol, metric in pairs},
        chosen=tuple(_parts(material)),
        category_of={name: a.category or "" for name, a in material.assignments.items()},
        article_of={name: a.article for name, a in material.assignments.items()},
        unsettled=frozenset(
            material.leaderboard.filter(
                (pl.col("judge") == view.judge) & pl.col("reason").is_in([OUTDATED, UNREVIEWED])
            )
            .select("agent", "metric")
            .iter_rows()
        ),
    )


def parts_file(parts: Parts) -> str:
    """A script that hands the page the board's figures for every category and quarter that has
    articles; as words, so that the page says them as they are said here."""
    # Keys and agents are compared with what the page says, which is made visible.
    content = {"parts": {f"{visible(category)}|{window}": _part(parts, chosen)
                         for category, window, chosen in parts.chosen}}  # fmt: skip
    # Inside a script `<` could begin `</script>`; U+2028 and U+2029 ended lines in older ones.
    said = orjson.dumps(content).decode().replace("<", "\\u003c").replace("\u2028", "\\u2028")
    said = said.replace("\u2029", "\\u2029")
    return f"window.evergreenParts({orjson.dumps(parts.view.key).decode()}, {said});\n"


def category_options(material: Material) -> list[Option]:
    names = sorted({a.category for a in material.assignments.values() if a.category})
    return [Option(name, visible(name)) for name in names]


def window_options(material: Material) -> list[Option]:
    """The quarters that articles of the edition were created in."""
    found = {_quarter(a.created_at) for a in material.assignments.values()} - {None}
    return [Option(q, f"{q[:4]} {QUARTERS[int(q[-1]) - 1]}") for q in sorted(filter(None, found))]


def _view(
    material: Material,
    board: Board,
    rows: pl.DataFrame,
    judge: str,
    price: Mapping[tuple[str, str], Price],
    key: str,
) -> BoardView:
    columns = tuple(_columns(material, board, rows))
    figures = {(r["agent"], r["metric"]): r for r in rows.iter_rows(named=True)}
    of_judge = {agent: p for (name, agent), p in price.items() if name == judge}
    entries = tuple(_entries(material, board, columns, figures, of_judge))
    chart = ranking(_first(entries), columns[0].title, columns[0].unit) if columns else None
    # By every judge the same, whichever of the board's protocols it has judged.
    names = sorted(map(title_of, board.protocols))
    return BoardView(
        key=key,
        title=board.title or " and ".join(names),
        judge=judge,
        judge_title=material.judge_title(judge),
        columns=columns,
        entries=entries,
        note=" ".join(filter(None, (board.note, _without(material, board, rows)))),
        chart=chart,
        has_parts=any(a.category or a.created_at for a in material.assignments.values()),
    )


def _columns(material: Material, board: Board, rows: pl.DataFrame) -> Iterator[Column]:
    """The metrics of the board that have any value; first the one that ranks, which is the first
    of `ranked_by` among them."""
    there = dict(rows.select("metric", "protocol").iter_rows())
    valued = set(rows.drop_nulls("value")["metric"])
    ranking_first = [m for m in board.ranked_by if m in valued][:1]
    for metric in dict.fromkeys((*ranking_first, *board.columns)):
        if metric in valued and metric in board.columns:
            entry = material.metric(there[metric], metric)
            yield Column(metric, board.columns[metric], entry.title, entry.description,
                         entry.better, entry.unit)  # fmt: skip


def _without(material: Material, board: Board, rows: pl.DataFrame) -> str:
    """Which of the board's metrics have no value of anybody."""
    there = dict(rows.select("metric", "protocol").iter_rows())
    valued = set(rows.drop_nulls("value")["metric"])
    titles = [material.metric(there[metric], metric).title
              for metric in board.columns if metric in there and metric not in valued]  # fmt: skip
    return f"Without any figure by this judge: {', '.join(titles)}." if titles else ""


def _entries(
    material: Material,
    board: Board,
    columns: Sequence[Column],
    figures: Mapping[tuple[str, str], Mapping[str, Any]],
    price: Mapping[str, Price],
) -> list[Entry]:
    """Agents, the best first; those without a figure last."""
    entries = []
    for agent in sorted({agent for agent, _ in figures}):
        cells = tuple(cell_of(figures.get((agent, c.metric)), c.unit) for c in columns)
        lead = cells[0] if cells else Cell(None)
        counted = figures.get((agent, board.counted_by))
        paid = price.get(agent)
        entries.append(
            Entry(
                agent=agent,
                name=material.agents.get(agent, agent),
                href=material.agent_href(agent),
                rank_from=lead.rank_from,
                rank_to=lead.rank_to,
                cells=cells,
                n_reports=counted["n_reports"] if counted else 0,
                usd_per_report=paid.usd_per_report if paid else None,
                judging=paid.judging_each if paid else "not known",
            )
        )
    better = columns[0].better if columns else "higher"
    return sorted(entries, key=lambda entry: (*best_first(entry.cells[0], better), entry.agent))


def _first(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.cells[0].value is not None]


def _quarter(created: datetime | None) -> str | None:
    return f"{created.year}Q{(created.month + 2) // 3}" if created else None


def _parts(material: Material) -> Iterator[tuple[str, str, list[str]]]:
    """(category, quarter, assignments) of every choice that has articles; empty: any."""
    chosen: dict[tuple[str, str], list[str]] = {}
    for name, assigned in sorted(material.assignments.items()):
        quarter = _quarter(assigned.created_at) or ""
        category = assigned.category or ""
        for key in {(category, quarter), (category, ""), ("", quarter)} - {("", "")}:
            chosen.setdefault(key, []).append(name)
    for (category, quarter), names in sorted(chosen.items()):
        yield category, quarter, names


def _part(parts: Parts, assignments: Sequence[str]) -> dict[str, Any]:
    view = parts.view
    scores = parts.scores.filter(pl.col("assignment").is_in(list(assignments)))
    by_metric: list[dict[str, Standing]] = []
    for column in view.columns:
        rows = scores.filter(pl.col("metric") == column.metric)
        if rows.is_empty():
            by_metric.append({})
            continue
        entry = parts.metrics[column.metric]
        found = standings(rows, entry, parts.category_of, parts.article_of, pair_intervals=False)
        by_metric.append({row.agent: row for row in found.rows})
    order = by_metric[0] if by_metric else {}
    last = [entry.agent for entry in view.entries if entry.agent not in order]
    n = len(assignments)
    return {
        "said": f"{n} {'article' if n == 1 else 'articles'}. Intervals and rank ranges are made "
        "anew for them; fewer than five articles have no interval.",
        "rows": [_part_row(agent, by_metric, parts) for agent in [*order, *last]],
    }


def _part_row(
    agent: str, by_metric: Sequence[Mapping[str, Standing]], parts: Parts
) -> dict[str, Any]:
    lead = by_metric[0].get(agent) if by_metric else None
    return {
        "agent": visible(agent),
        "rank": wording.ranks(lead.rank_from, lead.rank_to) if lead else "–",
        "sort": str(lead.rank_from) if lead and lead.rank_from else "9999",
        "reports": str(lead.n_reports if lead else 0),
        "cells": [_part_cell(rows.get(agent), column, (agent, column.metric) in parts.unsettled)
                  for rows, column in zip(by_metric, parts.view.columns, strict=True)],
    }  # fmt: skip


def _part_cell(row: Standing | None, column: Column, unsettled: bool) -> list[str]:
    """Value, what to sort by, interval, items, and what else there is to say."""
    if row is None or row.value is None:
        return ["–", "", "", "", "not assessed, or nothing to assess"]
    span = wording.interval(row.low, row.high, column.unit) or "no interval"
    star = "*" if row.n_open or unsettled else ""
    return [wording.figure(row.value, column.unit) + star, str(row.value), span,
            wording.items(row.n_items), row.interval_reason or ""]  # fmt: skip
