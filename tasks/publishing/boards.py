"""The boards of a site's leaderboard."""

from collections.abc import Mapping, Sequence

import polars as pl

from tasks.configuration.models import MetricEntry
from tasks.protocols.registry import available_protocols, get_protocol_title
from tasks.publishing.costs import AgentCosts, load_costs
from tasks.publishing.exposure import load_exposure
from tasks.publishing.material import SiteMaterial, make_cell, sort_key
from tasks.scoring.board_notes import (
    describe_columns_left_out,
    describe_empty_lists,
    describe_reports,
    format_delivered,
    list_apart,
)
from tasks.scoring.boards import Board, choose_ranking_metric, select_boards, select_columns
from tasks.scoring.extractors import describe_extractors
from tasks.site.charts import draw_ranking
from tasks.site.content import BoardEntry, BoardView, MetricColumn


def make_board_views(material: SiteMaterial) -> list[BoardView]:
    """Make every board of every judge that has a figure on it, in the order of the judges."""
    views: list[BoardView] = []
    price = load_costs(material)
    extractors = describe_extractors(material.source, material.edition, material.agents)
    has_parts = any(a.category or a.created_at for a in material.assignments.values())
    for judge in material.judges:
        rows = material.leaderboard.filter(pl.col("judge") == judge)
        for board in select_boards(rows):
            of_board = rows.filter(pl.col("protocol").is_in(list(board.protocols)))
            metrics = {
                metric: material.metric(protocol, metric)
                for metric, protocol in of_board.select("metric", "protocol").unique().iter_rows()
            }
            columns = _find_columns(metrics, board, of_board)
            if not columns:
                continue
            entries = _make_entries(material, board, columns, of_board, judge, price)
            lead = columns[0].entry
            titles = {name: metrics[name].title for name in board.columns if name in metrics}
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
                    notes=tuple(
                        filter(
                            None,
                            (
                                board.note,
                                describe_reports(of_board, "Reports", material.agents),
                                describe_empty_lists(of_board, material.agents),
                                extractors if _uses_statements(board) else "",
                                describe_columns_left_out(of_board, titles),
                            ),
                        )
                    ),
                    chart=draw_ranking(entries, lead.title, lead.unit),
                    has_parts=has_parts,
                )
            )
    return views


def _uses_statements(board: Board) -> bool:
    """Whether figures of the board rest on extracted facts or claims."""
    protocols = available_protocols(board.protocols).values()
    return any({"facts", "claims"} & {*protocol.inputs} for protocol in protocols)


def _find_columns(
    metrics: Mapping[str, MetricEntry], board: Board, rows: pl.DataFrame
) -> tuple[MetricColumn, ...]:
    """Return the columns of the board's metrics with any value, the ranking metric first."""
    shown = select_columns(rows, board)
    order = dict.fromkeys((choose_ranking_metric(rows, board), *shown))
    return tuple(MetricColumn(shown[name], metrics[name]) for name in order if name in shown)


def _make_entries(
    material: SiteMaterial,
    board: Board,
    columns: Sequence[MetricColumn],
    rows: pl.DataFrame,
    judge: str,
    price: Mapping[tuple[str, str], AgentCosts],
) -> tuple[BoardEntry, ...]:
    """Make the agents' entries: the best first, then those that are not ranked, last those without
    a figure."""
    apart, exposure = list_apart(rows, board), load_exposure(material)
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
                n_delivered=(counted or {}).get("n_delivered") or 0,
                reports=format_delivered(counted) if counted else "0",
                unranked=apart.get(agent),
                exposure=exposure.get(agent),
                usd_per_report=paid.usd_per_report if paid else None,
                judging=paid.judging_each if paid else "not known",
            )
        )
    better = columns[0].entry.better
    entries.sort(
        key=lambda entry: (
            entry.cells[0].value is None,
            entry.unranked is not None,
            *sort_key(entry.cells[0], better),
            entry.agent,
        )
    )
    return tuple(entries)
