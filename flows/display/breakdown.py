"""Print agents' figures by language or theme of the tasks."""

from typing import Any

import polars as pl

from flows.display.console import STDOUT, print_result
from flows.display.wide_table import WideColumn, print_wide_table
from tasks.protocols.case import Protocol
from tasks.scoring.boards import get_headings

NO_VALUE = "–"


def print_breakdown(frame: pl.DataFrame, title: str, protocol: Protocol, by: str) -> None:
    """Print figures by group. frame: of `compute_breakdown`."""
    titles = get_headings(protocol)
    metrics = [name for name in titles if name in set(frame["metric"])]
    groups = [
        (str(agent), str(group or NO_VALUE), {row["metric"]: row for row in rows.to_dicts()})
        for (agent, group), rows in frame.group_by("agent", "group", maintain_order=True)
    ]
    agents = [agent for agent, _, _ in groups]
    first = [n == 0 or agent != agents[n - 1] for n, agent in enumerate(agents)]
    most = [max(row["n_reports"] for row in figures.values()) for _, _, figures in groups]
    columns = [
        WideColumn(
            titles[metric],
            [
                _format_cell(figures.get(metric), n)
                for (_, _, figures), n in zip(groups, most, strict=True)
            ],
        )
        for metric in metrics
    ]
    print_wide_table(
        STDOUT,
        title,
        [
            WideColumn(
                "Agent", [a if new else "" for a, new in zip(agents, first, strict=True)], "left"
            ),
            WideColumn(by.capitalize(), [group for _, group, _ in groups], "left"),
            WideColumn("Rep.", list(map(str, most)), style="dim"),
        ],
        columns,
        sections=[n for n, new in enumerate(first) if new and n],
    )
    print_result(
        "Percent. Rep.: reports that figures rest on; a different number follows its figure. "
        f"{NO_VALUE}: not assessed, or nothing to assess. The leaderboard explains the headings.",
        style="dim",
    )


def _format_cell(figure: dict[str, Any] | None, most: int) -> str:
    if figure is None or figure["value"] is None:
        return NO_VALUE
    value = f"{figure['value'] * 100:.1f}"
    return value if figure["n_reports"] == most else f"{value} ({figure['n_reports']})"
