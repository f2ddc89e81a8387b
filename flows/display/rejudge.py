"""The comparison of two judges as rows of plain words, for the terminal and the Prefect UI."""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from tasks.analysis.judges import ALL_STEPS, Rejudged, figures_of
from tasks.protocols.registry import at_hand
from tasks.publishing.changes import FigureChange
from tasks.scoring.boards import leading

NONE = "–"


def agreement_message(found: Rejudged) -> str:
    """How many items both have decided, and how many of them otherwise."""
    n_items = found.agreement.filter(pl.col("step") != ALL_STEPS)["n_items"].sum()
    return (
        f"{found.after} and {found.before} both decided {n_items:,} items; "
        f"{found.changed.height:,} of them have another label."
    )


def agreement_rows(found: Rejudged) -> list[dict[str, Any]]:
    """Protocol, step, items, alike (percent), kappa with its interval, and the assignments that
    the interval rests on; a dash where there is no figure."""
    return [
        {
            "protocol": row["protocol"],
            "step": row["step"],
            "items": row["n_items"],
            "alike": percent(row["alike"]),
            "kappa": NONE if row["kappa"] is None else f"{row['kappa']:.3f}",
            "95 %": _interval(row["kappa_low"], row["kappa_high"]),
            "assignments": row["n_assignments"],
        }
        for row in found.agreement.iter_rows(named=True)
    ]


def changed_rows(changed: pl.DataFrame) -> list[dict[str, Any]]:
    """Every label that differs: whose report, which item, from what to what."""
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
    """An agent and metric a row, shares in percent: both judges' figures, each with the numbers of
    reports and items it rests on, then the first one's with the other's verdicts in it and the
    change."""
    factors = _factors(figures["protocol"].unique().sort())
    rows = []
    for row in figures.iter_rows(named=True):
        factor = factors.get((row["protocol"], row["metric"]), 100)
        rows.append(
            {
                "agent": row["agent"],
                "metric": row["metric"],
                before: _shown(row["before"], factor),
                f"{before} rests on": _rests(row, "before"),
                after: _shown(row["after"], factor),
                f"{after} rests on": _rests(row, "after"),
                "exchanged": _shown(row["exchanged"], factor),
                "change": NONE if row["change"] is None else f"{factor * row['change']:+.2f}",
            }
        )
    return rows


def leading_figures(found: Rejudged) -> pl.DataFrame:
    """Its figures of the metrics that the leaderboard's tables show."""
    parts = [
        figures_of(
            found, leading(str(protocol), of["metric"].unique(maintain_order=True).to_list())
        ).filter(pl.col("protocol") == protocol)
        for (protocol,), of in found.figures.group_by("protocol", maintain_order=True)
    ]
    return pl.concat(parts) if parts else found.figures


def figure_change_rows(changes: Sequence[FigureChange]) -> list[dict[str, Any]]:
    """Figures of the leaderboard before and after, shares in percent; a star: provisional."""
    factors = _factors({each.protocol for each in changes})
    return [
        {
            "agent": each.agent,
            "metric": each.metric,
            "judge": each.judge,
            "before": _shown(each.before, factors.get((each.protocol, each.metric), 100)),
            "after": _shown(each.after, factors.get((each.protocol, each.metric), 100))
            + ("*" if each.provisional else ""),
            "reports": f"{each.reports_before} → {each.reports_after}",
            "items": f"{each.items_before:,} → {each.items_after:,}",
        }
        for each in changes
    ]


def percent(share: float | None) -> str:
    """A share as percent, a dash for none."""
    return NONE if share is None else f"{100 * share:.1f}"


def _factors(protocols: Iterable[str]) -> dict[tuple[str, str], int]:
    """By what a protocol's metrics are multiplied to be shown: shares by 100."""
    return {
        (name, metric.name): 100 if metric.unit == "share" else 1
        for name, found in at_hand(protocols).items()
        for metric in found.metrics
    }


def _shown(value: float | None, factor: int) -> str:
    return NONE if value is None else f"{factor * value:.1f}"


def _interval(low: float | None, high: float | None) -> str:
    return NONE if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _rests(row: dict[str, Any], which: str) -> str:
    return f"{row[f'{which}_reports']} rep., {row[f'{which}_items']:,} items"
