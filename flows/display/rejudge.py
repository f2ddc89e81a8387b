"""Format the comparison of two judges as rows, for the terminal and the Prefect UI."""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from tasks.analysis.judges import JudgeComparison, select_figures
from tasks.base import format_count
from tasks.metrics.agreement import ALL_STEPS
from tasks.protocols.registry import available_protocols
from tasks.publishing.changes import FigureChange
from tasks.scoring.boards import select_leading_metrics

NO_VALUE = "–"


def format_agreement(found: JudgeComparison) -> str:
    """State how many items both judges decided, and how many of them differently."""
    n_items = int(found.agreement.filter(pl.col("step") != ALL_STEPS)["n_items"].sum())
    return (
        f"{found.after} and {found.before} both decided {format_count(n_items, 'item')}; "
        f"{found.changed.height:,} of them have a different label."
    )


def agreement_rows(found: JudgeComparison) -> list[dict[str, Any]]:
    """Return rows of protocol, step, items, alike (percent), kappa with its interval, and the
    assignments that the interval rests on; a dash for no value."""
    return [
        {
            "protocol": row["protocol"],
            "step": row["step"],
            "items": row["n_items"],
            "alike": format_percent(row["alike"]),
            "kappa": NO_VALUE if row["kappa"] is None else f"{row['kappa']:.3f}",
            "95 %": _format_interval(row["kappa_low"], row["kappa_high"]),
            "assignments": row["n_assignments"],
        }
        for row in found.agreement.iter_rows(named=True)
    ]


def changed_rows(changed: pl.DataFrame) -> list[dict[str, Any]]:
    """Return a row per changed label: agent, report, old and new label, step, item."""
    return [
        {
            "agent": row["agent"],
            "report": row["assignment"],
            "verdict": f"{row['before']} → {row['after']}",
            "step": f"{row['protocol']}/{row['step']}",
            "item": row["item"],
        }
        for row in changed.iter_rows(named=True)
    ]


def figure_rows(figures: pl.DataFrame, before: str, after: str) -> list[dict[str, Any]]:
    """Return a row per agent and metric, shares in percent: both judges' figures with the numbers
    of reports and items they rest on, then the first judge's figure with the other's verdicts and
    its change."""
    factors = _display_factors(figures["protocol"].unique().sort())
    rows = []
    for row in figures.iter_rows(named=True):
        factor = factors.get((row["protocol"], row["metric"]), 100)
        rows.append(
            {
                "agent": row["agent"],
                "metric": row["metric"],
                before: _format_value(row["before"], factor),
                f"{before} rests on": _format_basis(row, "before"),
                after: _format_value(row["after"], factor),
                f"{after} rests on": _format_basis(row, "after"),
                "exchanged": _format_value(row["exchanged"], factor),
                "change": NO_VALUE if row["change"] is None else f"{factor * row['change']:+.2f}",
            }
        )
    return rows


def select_leading_figures(found: JudgeComparison) -> pl.DataFrame:
    """Return the figures of the metrics that the leaderboard's tables show."""
    parts = [
        select_figures(
            found,
            select_leading_metrics(
                str(protocol), of["metric"].unique(maintain_order=True).to_list()
            ),
        ).filter(pl.col("protocol") == protocol)
        for (protocol,), of in found.figures.group_by("protocol", maintain_order=True)
    ]
    return pl.concat(parts) if parts else found.figures


def figure_change_rows(changes: Sequence[FigureChange]) -> list[dict[str, Any]]:
    """Return the leaderboard's changed figures, shares in percent; a star: provisional."""
    factors = _display_factors({each.protocol for each in changes})
    return [
        {
            "agent": each.agent,
            "metric": each.metric,
            "judge": each.judge,
            "before": _format_value(each.before, factors.get((each.protocol, each.metric), 100)),
            "after": _format_value(each.after, factors.get((each.protocol, each.metric), 100))
            + ("*" if each.provisional else ""),
            "reports": f"{each.reports_before} → {each.reports_after}",
            "items": f"{each.items_before:,} → {each.items_after:,}",
        }
        for each in changes
    ]


def format_percent(share: float | None) -> str:
    """Format a share as percent, None as a dash."""
    return NO_VALUE if share is None else f"{100 * share:.1f}"


def _display_factors(protocols: Iterable[str]) -> dict[tuple[str, str], int]:
    """Return by (protocol, metric) the factor for display: 100 for shares, else 1."""
    return {
        (name, metric.name): 100 if metric.unit == "share" else 1
        for name, found in available_protocols(protocols).items()
        for metric in found.metrics
    }


def _format_value(value: float | None, factor: int) -> str:
    return NO_VALUE if value is None else f"{factor * value:.1f}"


def _format_interval(low: float | None, high: float | None) -> str:
    return NO_VALUE if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _format_basis(row: dict[str, Any], which: str) -> str:
    return f"{row[f'{which}_reports']} rep., {format_count(row[f'{which}_items'], 'item')}"
