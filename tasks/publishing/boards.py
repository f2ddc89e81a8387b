"""The boards of a site's leaderboard, with each agent's costs and what its programs could reach."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tasks.costs.editions import load_agent_costs, load_judging_costs
from tasks.protocols.declarations import Board
from tasks.protocols.registry import available_protocols, get_protocol_title
from tasks.publishing.material import SiteMaterial, make_cell, sort_key
from tasks.scoring.board_notes import (
    describe_columns_left_out,
    describe_earlier_leaks,
    describe_empty_lists,
    describe_mixed_models,
    describe_reports,
    describe_stand_ins,
    describe_weak_ranks,
    list_apart,
)
from tasks.scoring.boards import choose_ranking_metric, select_boards, select_columns
from tasks.scoring.bounds import describe_refused
from tasks.scoring.columns import COLUMNS, BoardAgent
from tasks.scoring.extractors import describe_extractors
from tasks.site.charts import draw_ranking
from tasks.site.content import BoardEntry, BoardView, MetricColumn
from tasks.site.wording import format_dollars, format_number

PROGRAMS = """
SELECT agent,
    count(*) FILTER (json_extract_string(parameters, '$.isolation') = 'none') AS n_free,
    count(*) FILTER (
        json_extract_string(parameters, '$.isolation') <> 'none'
        AND json_extract_string(parameters, '$.network') = 'open'
    ) AS n_open,
    count(*) AS n
FROM jobs
WHERE edition = $1 AND kind = 'command' AND state = 'done'
GROUP BY agent ORDER BY agent
"""
"""By the settings that each job was started with, not those of today."""


@dataclass(frozen=True)
class AgentCosts:
    """The costs of one agent's reports and of judging them by one judge, for the edition."""

    usd_per_report: float | None
    """None if the cost of any report is unknown."""
    reports: str
    """Total cost of the reports."""
    judging: str
    """Total cost of judging, over all protocols."""
    judging_each: str
    """Cost of judging per judged report."""


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
            shown = select_columns(of_board, board)
            order = dict.fromkeys((choose_ranking_metric(of_board, board), *shown))
            columns = tuple(MetricColumn(shown[n], metrics[n]) for n in order if n in shown)
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
                    others=COLUMNS,
                    entries=entries,
                    notes=(*_list_notes(material, board, of_board, judge, titles, extractors),),
                    chart=draw_ranking(entries, lead.title, lead.unit),
                    has_parts=has_parts,
                )
            )
    return views


def _list_notes(
    material: SiteMaterial,
    board: Board,
    rows: pl.DataFrame,
    judge: str,
    titles: Mapping[str, str],
    extractors: str,
) -> Iterator[str]:
    """List what a reader of the board has to know. titles: of its metrics, by name."""
    source, edition, agents = material.source, material.edition, material.agents
    protocols = available_protocols(board.protocols).values()
    uses_statements = any({"facts", "claims"} & {*protocol.inputs} for protocol in protocols)
    notes = (
        board.note,
        describe_stand_ins(source, judge, {*rows["protocol"]}),
        describe_reports(rows, "Reports", agents),
        describe_earlier_leaks(source, edition, judge, board, agents),
        describe_weak_ranks(source, edition, judge, rows, board, agents),
        describe_empty_lists(rows, agents),
        describe_mixed_models(rows, agents),
        describe_refused(rows, agents),
        extractors if uses_statements else "",
        describe_columns_left_out(rows, titles),
    )
    return filter(None, notes)


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
        paid = price.get((judge, agent))
        known = BoardAgent(
            figures.get((agent, board.counted_by)),
            paid.usd_per_report if paid else None,
            paid.judging_each if paid else "not known",
        )
        entries.append(
            BoardEntry(
                agent=agent,
                name=material.agent_name(agent),
                href=material.agent_href(agent),
                cells=cells,
                texts={column.name: column.cell(known) for column in COLUMNS},
                unranked=apart.get(agent),
                exposure=exposure.get(agent),
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


def load_costs(material: SiteMaterial) -> dict[tuple[str, str], AgentCosts]:
    """Load the costs by (judge, agent)."""
    judging_costs = load_judging_costs(material.source, material.edition)
    each = {(row["judge"], row["agent"]): row for row in judging_costs.iter_rows(named=True)}
    return {
        (judge, row["agent"]): _make_costs(row, each.get((judge, row["agent"]), {}))
        for judge in material.judges
        for row in load_agent_costs(
            material.source, material.edition, judge, judging_costs
        ).iter_rows(named=True)
    }


def _make_costs(row: dict[str, Any], judged: dict[str, Any]) -> AgentCosts:
    known = row["judging_cost"]
    usd, n_judged = judged.get("usd"), judged.get("n_judged")
    return AgentCosts(
        usd_per_report=row["usd_per_report"],
        reports=_format_cost(row["reports_usd"], row["reports_cost"]),
        judging=_format_cost(row["judging_usd"], known),
        judging_each=_format_cost(usd / n_judged if usd is not None and n_judged else None, known),
    )


def _format_cost(usd: float | None, known: str) -> str:
    if known == "free":
        return "free"
    if usd is None:
        return "not known"
    return f"{'at least ' if known == 'at least' else ''}{format_dollars(usd)}"


def load_exposure(material: SiteMaterial) -> dict[str, str]:
    """Return agent → what its programs could reach; those that were held as usual are left out."""
    found = {}
    for row in material.source.frame(PROGRAMS, [material.edition]).iter_rows(named=True):
        programs = (
            ("without isolation, its program", row["n_free"]),
            ("its program, with an open network,", row["n_open"]),
        )
        if row["n_free"] or row["n_open"]:
            found[row["agent"]] = "; ".join(
                f"{how} wrote {format_number(n)} of {format_number(row['n'])} reports"
                for how, n in programs
                if n
            )
    return found
