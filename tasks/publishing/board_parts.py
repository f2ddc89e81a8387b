"""A board's figures for parts of the edition: by the articles' category, their quarter of creation,
or both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import orjson
import polars as pl

from tasks.foreign_text import make_visible
from tasks.publishing.material import SiteMaterial
from tasks.scoring.board_notes import EMPTY_LIST, MIXED_MODELS
from tasks.scoring.columns import COLUMNS, BoardAgent
from tasks.scoring.standings import (
    ReportCounts,
    Standing,
    compute_standings,
    count_reports,
    load_assignable,
)
from tasks.site import wording
from tasks.site.content import BoardView
from tasks.warehouse.results import OUTDATED, UNREVIEWED

QUARTERS = ("Jan–Mar", "Apr–Jun", "Jul–Sep", "Oct–Dec")
IN_SCRIPT = str.maketrans({"<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""Inside a script, `<` could begin `</script>`; older engines end lines at U+2028 and U+2029."""


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
    unranked: frozenset[str]
    """The agents that the board lists apart: so do its parts."""
    assignable: frozenset[str]
    """The assignments that the board's protocols judge."""


def load_board_parts(material: SiteMaterial, view: BoardView) -> BoardParts:
    names = [column.entry.name for column in view.columns]
    scores = material.scores.filter((pl.col("judge") == view.judge) & pl.col("metric").is_in(names))
    return BoardParts(
        view=view,
        scores=scores,
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
        unranked=frozenset(entry.agent for entry in view.entries if entry.unranked),
        assignable=_find_assignable(material, scores),
    )


def _find_assignable(material: SiteMaterial, scores: pl.DataFrame) -> frozenset[str]:
    known = [p for p in scores["protocol"].unique() if p in material.protocols]
    return frozenset(scores["assignment"]).union(
        *(
            load_assignable(material.source, material.edition, material.protocols[name])
            for name in known
        )
    )


def render_parts(parts: BoardParts) -> str:
    """Render a script with the board's figures, as formatted text, for every category and quarter
    that has articles."""
    # The page looks up keys and agents in this escaped form.
    rendered = {
        f"{make_visible(category)}|{window}": _render_part(parts, chosen)
        for category, window, chosen in parts.chosen
    }
    # The columns that differ between parts, in the order of their cells.
    metrics = [column.entry.name for column in parts.view.columns]
    others = [column.name for column in COLUMNS if column.by_part]
    content = {"columns": ["rank", *metrics, *others], "parts": rendered}
    literal = orjson.dumps(content).decode().translate(IN_SCRIPT)
    return f"window.evergreenParts({orjson.dumps(parts.view.key).decode()}, {literal});\n"


def list_categories(material: SiteMaterial) -> list[tuple[str, str]]:
    """List the articles' categories, as value and name of an option."""
    names = sorted({a.category for a in material.assignments.values() if a.category})
    return [(name, make_visible(name)) for name in names]


def list_quarters(material: SiteMaterial) -> list[tuple[str, str]]:
    """List the quarters in which articles were created, as value and name of an option."""
    found = {_format_quarter(a.created_at) for a in material.assignments.values()}
    return [(q, f"{q[:4]} {QUARTERS[int(q[-1]) - 1]}") for q in sorted(found - {""})]


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
            rows,
            column.entry,
            parts.category_of,
            parts.article_of,
            assignable=parts.assignable.intersection(assignments),
            unranked=parts.unranked,
            all_pairs=False,
        )
        by_metric.append({row.agent: row for row in found.rows})
    order = by_metric[0] if by_metric else {}
    last = [entry.agent for entry in view.entries if entry.agent not in order]
    reports = scores.select("agent", "assignment", "state").unique(
        ["agent", "assignment"], keep="first", maintain_order=True
    )
    counts = count_reports(reports, parts.assignable.intersection(assignments))
    n = len(assignments)
    return {
        "said": f"{n} {'article' if n == 1 else 'articles'}. Intervals and rank ranges are "
        "recomputed for these articles; fewer than five articles have no interval, and fewer than "
        "six no ranks.",
        "rows": [
            _render_row(agent, by_metric, parts, counts.get(agent)) for agent in [*order, *last]
        ],
    }


def _render_row(
    agent: str,
    by_metric: Sequence[Mapping[str, Standing]],
    parts: BoardParts,
    counts: ReportCounts | None,
) -> dict[str, Any]:
    lead = by_metric[0].get(agent) if by_metric else None
    is_open = counts is not None and counts.n_undelivered > 0
    own = next((entry.cells for entry in parts.view.entries if entry.agent == agent), ())
    marks = {
        c.entry.name: EMPTY_LIST * bool(cell.n_empty_lists) + MIXED_MODELS * bool(cell.models)
        for c, cell in zip(parts.view.columns, own, strict=False)
    }
    ranks = wording.format_ranks(lead.rank_from, lead.rank_to) if lead else "–"
    known = BoardAgent(asdict(counts) if counts else None)
    others = [column.cell(known) for column in COLUMNS if column.by_part]
    return {
        "agent": make_visible(agent),
        "cells": [
            [
                wording.NOT_RANKED if agent in parts.unranked else ranks,
                str(lead.rank_from) if lead and lead.rank_from else "9999",
            ],
            *(
                _render_cell(
                    rows.get(agent),
                    entry.unit,
                    is_open or (agent, entry.name) in parts.unsettled,
                    counts.n_delivered if counts else None,
                    marks.get(entry.name, ""),
                )
                for rows, entry in zip(
                    by_metric, (c.entry for c in parts.view.columns), strict=True
                )
            ),
            *([cell.text, str(cell.sort), cell.note] for cell in others),
        ],
    }


def _render_cell(
    row: Standing | None, unit: str, unsettled: bool, n_delivered: int | None, mark: str
) -> list[str]:
    """Return value, sort key, interval, items and a remark, as text."""
    if row is None or row.value is None:
        return [f"–{mark}", "", "", "", "not assessed or nothing to assess"]
    star = "*" if row.n_open or unsettled else ""
    return [
        wording.format_figure(row.value, unit) + star + mark,
        str(row.value),
        wording.format_interval(row.low, row.high, unit) or "no interval",
        wording.format_basis(row.n_items, row.n_reports, n_delivered),
        row.interval_reason or "",
    ]
