"""The boards of a site's leaderboard, and their figures for parts of the edition: by the articles'
category, their quarter of creation, or both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
import polars as pl

from tasks.protocols.registry import get_protocol_title
from tasks.publishing.costs import AgentCosts, load_costs
from tasks.publishing.material import SiteMaterial, make_cell, sort_key
from tasks.scoring.boards import Board, choose_ranking_metric, select_boards
from tasks.scoring.standings import Standing, compute_standings
from tasks.site import wording
from tasks.site.charts import draw_ranking
from tasks.site.content import BoardEntry, BoardView, MetricColumn
from tasks.site.escaping import escape_invisible
from tasks.warehouse.results import OUTDATED, UNREVIEWED

QUARTERS = ("Jan–Mar", "Apr–Jun", "Jul–Sep", "Oct–Dec")
IN_SCRIPT = str.maketrans({"<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""Inside a script, `<` could begin `</script>`; older engines end lines at U+2028 and U+2029."""


def make_board_views(material: SiteMaterial) -> list[BoardView]:
    """Make every board of every judge that has a figure on it, in the order of the judges."""
    views: list[BoardView] = []
    price = load_costs(material)
    has_parts = any(a.category or a.created_at for a in material.assignments.values())
    for judge in material.judges:
        rows = material.leaderboard.filter(pl.col("judge") == judge)
        for board in select_boards(rows):
            of_board = rows.filter(pl.col("protocol").is_in(list(board.protocols)))
            columns, missing = _find_columns(material, board, of_board)
            if not columns:
                continue
            entries = _make_entries(material, board, columns, of_board, judge, price)
            lead = columns[0].entry
            # Equal for all judges, whichever of the board's protocols they have judged.
            names = sorted(map(get_protocol_title, board.protocols))
            views.append(
                BoardView(
                    key=f"board-{len(views)}",
                    title=board.title or " and ".join(names),
                    judge=judge,
                    judge_title=material.judge_title(judge),
                    columns=columns,
                    entries=entries,
                    note=" ".join(filter(None, (board.note, missing))),
                    chart=draw_ranking(entries, lead.title, lead.unit),
                    has_parts=has_parts,
                )
            )
    return views


@dataclass(frozen=True)
class BoardParts:
    """The data for the figures of a board's parts."""

    view: BoardView
    scores: pl.DataFrame
    """The scores by the board's judge, for its metrics."""
    chosen: tuple[tuple[str, str, list[str]], ...]
    """(category, quarter, assignments) of every part with articles; empty: any."""
    category_of: dict[str, str]
    article_of: dict[str, str | None]
    unsettled: frozenset[tuple[str, str]]
    """(agent, metric) of figures that are provisional for other reasons than open items: another
    version judged them, or their basis has not been reviewed."""


def load_board_parts(material: SiteMaterial, view: BoardView) -> BoardParts:
    names = [column.entry.name for column in view.columns]
    return BoardParts(
        view=view,
        scores=material.scores.filter(
            (pl.col("judge") == view.judge) & pl.col("metric").is_in(names)
        ),
        chosen=tuple(_find_parts(material)),
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


def render_parts(parts: BoardParts) -> str:
    """Render a script with the board's figures, as formatted text, for every category and quarter
    that has articles."""
    # The page looks up keys and agents in this escaped form.
    rendered = {
        f"{escape_invisible(category)}|{window}": _render_part(parts, chosen)
        for category, window, chosen in parts.chosen
    }
    literal = orjson.dumps({"parts": rendered}).decode().translate(IN_SCRIPT)
    return f"window.evergreenParts({orjson.dumps(parts.view.key).decode()}, {literal});\n"


def list_categories(material: SiteMaterial) -> list[tuple[str, str]]:
    """List the articles' categories, as value and name of an option."""
    names = sorted({a.category for a in material.assignments.values() if a.category})
    return [(name, escape_invisible(name)) for name in names]


def list_quarters(material: SiteMaterial) -> list[tuple[str, str]]:
    """List the quarters in which articles were created, as value and name of an option."""
    found = {_format_quarter(a.created_at) for a in material.assignments.values()}
    return [(q, f"{q[:4]} {QUARTERS[int(q[-1]) - 1]}") for q in sorted(found - {""})]


def _find_columns(
    material: SiteMaterial, board: Board, rows: pl.DataFrame
) -> tuple[tuple[MetricColumn, ...], str]:
    """Return the columns of the board's metrics with any value, the ranking metric first, and a
    sentence that names those without."""
    valued = set(rows.drop_nulls("value")["metric"])
    entries = {
        metric: material.metric(protocol, metric)
        for metric, protocol in rows.select("metric", "protocol").iter_rows()
    }
    order = dict.fromkeys((choose_ranking_metric(rows, board), *board.columns))
    columns = tuple(
        MetricColumn(board.columns[metric], entries[metric])
        for metric in order
        if metric in valued and metric in board.columns
    )
    without = [
        entries[metric].title
        for metric in board.columns
        if metric in entries and metric not in valued
    ]
    return columns, f"No figures by this judge: {', '.join(without)}." if without else ""


def _make_entries(
    material: SiteMaterial,
    board: Board,
    columns: Sequence[MetricColumn],
    rows: pl.DataFrame,
    judge: str,
    price: Mapping[tuple[str, str], AgentCosts],
) -> tuple[BoardEntry, ...]:
    """Make the agents' entries, the best first; those without a figure last."""
    figures = {(row["agent"], row["metric"]): row for row in rows.iter_rows(named=True)}
    entries = []
    for agent in sorted({agent for agent, _ in figures}):
        cells = tuple(
            make_cell(figures.get((agent, c.entry.name), {}), c.entry.unit) for c in columns
        )
        counted = figures.get((agent, board.counted_by))
        paid = price.get((judge, agent))
        entries.append(
            BoardEntry(
                agent=agent,
                name=material.agent_name(agent),
                href=material.agent_href(agent),
                cells=cells,
                n_reports=counted["n_reports"] if counted else 0,
                usd_per_report=paid.usd_per_report if paid else None,
                judging=paid.judging_each if paid else "not known",
            )
        )
    better = columns[0].entry.better
    entries.sort(key=lambda entry: (*sort_key(entry.cells[0], better), entry.agent))
    return tuple(entries)


def _format_quarter(created: datetime | None) -> str:
    return f"{created.year}Q{(created.month + 2) // 3}" if created else ""


def _find_parts(material: SiteMaterial) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (category, quarter, assignments) of every part with articles; empty: any."""
    chosen: dict[tuple[str, str], list[str]] = {}
    for name, assigned in sorted(material.assignments.items()):
        quarter = _format_quarter(assigned.created_at)
        category = assigned.category or ""
        for key in {(category, quarter), (category, ""), ("", quarter)} - {("", "")}:
            chosen.setdefault(key, []).append(name)
    for (category, quarter), names in sorted(chosen.items()):
        yield category, quarter, names


def _render_part(parts: BoardParts, assignments: Sequence[str]) -> dict[str, Any]:
    view = parts.view
    scores = parts.scores.filter(pl.col("assignment").is_in(list(assignments)))
    by_metric: list[dict[str, Standing]] = []
    for column in view.columns:
        rows = scores.filter(pl.col("metric") == column.entry.name)
        if rows.is_empty():
            by_metric.append({})
            continue
        found = compute_standings(
            rows, column.entry, parts.category_of, parts.article_of, pair_intervals=False
        )
        by_metric.append({row.agent: row for row in found.rows})
    order = by_metric[0] if by_metric else {}
    last = [entry.agent for entry in view.entries if entry.agent not in order]
    n = len(assignments)
    return {
        "said": f"{n} {'article' if n == 1 else 'articles'}. Intervals and rank ranges are "
        "recomputed for these articles; fewer than five articles have no interval.",
        "rows": [_render_row(agent, by_metric, parts) for agent in [*order, *last]],
    }


def _render_row(
    agent: str, by_metric: Sequence[Mapping[str, Standing]], parts: BoardParts
) -> dict[str, Any]:
    lead = by_metric[0].get(agent) if by_metric else None
    return {
        "agent": escape_invisible(agent),
        "rank": wording.format_ranks(lead.rank_from, lead.rank_to) if lead else "–",
        "sort": str(lead.rank_from) if lead and lead.rank_from else "9999",
        "reports": str(lead.n_reports if lead else 0),
        "cells": [
            _render_cell(rows.get(agent), entry.unit, (agent, entry.name) in parts.unsettled)
            for rows, entry in zip(by_metric, (c.entry for c in parts.view.columns), strict=True)
        ],
    }


def _render_cell(row: Standing | None, unit: str, unsettled: bool) -> list[str]:
    """Return value, sort key, interval, items and a remark, as text."""
    if row is None or row.value is None:
        return ["–", "", "", "", "not assessed or nothing to assess"]
    star = "*" if row.n_open or unsettled else ""
    return [
        wording.format_figure(row.value, unit) + star,
        str(row.value),
        wording.format_interval(row.low, row.high, unit) or "no interval",
        wording.format_items(row.n_items),
        row.interval_reason or "",
    ]
