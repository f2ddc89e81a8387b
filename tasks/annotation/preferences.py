"""What people's forced choices between reports say of agents, of each other, and of metrics."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import polars as pl

from tasks.annotation.labels import People, Preference
from tasks.metrics.agreement import agreement, majorities, pairwise
from tasks.metrics.preference import preferred_side, win_rates
from tasks.protocols.registry import at_hand
from tasks.warehouse.store import Readable

SCORES = """
SELECT protocol, judge, metric, agent, assignment, value
FROM scores
WHERE edition = $1
ORDER BY ALL
"""
Place = tuple[str, str]
"""Sheet and item id of one question."""


@dataclass(frozen=True)
class PreferenceTables:
    """Shares 0-1, kappa -1 to 1."""

    people: pl.DataFrame
    """Each two people, over the questions both answered."""
    agents: pl.DataFrame
    """Win rates by the people's majority."""
    metrics: pl.DataFrame
    """Each metric of each judge against the people's majority."""
    n_tied: int
    """Questions left out because the votes are tied."""


def preference_tables(source: Readable, edition: str, people: People) -> PreferenceTables:
    """Over all questions between two reports; with an empty table where nothing was asked."""
    raters: dict[str, dict[Place, str]] = defaultdict(dict)
    questions: dict[Place, Preference] = {}
    for choice in people.preferences:
        side = "first" if choice.preferred == choice.first else "second"
        raters[choice.annotator][choice.place] = side
        questions[choice.place] = choice
    clear, tied = majorities(raters)
    sides = {place: (questions[place].first, questions[place].second) for place in clear}
    wins = [
        sides[place] if side == "first" else sides[place][::-1] for place, side in clear.items()
    ]
    return PreferenceTables(
        people=pl.DataFrame(
            [
                (one, other, found.n_items, found.alike, found.kappa)
                for one, other, found in pairwise(raters)
            ],
            schema={"person_a": pl.String, "person_b": pl.String, "n_items": pl.Int64,
                    "alike": pl.Float64, "kappa": pl.Float64},
            orient="row",
        ),
        agents=pl.DataFrame(
            [(rate.agent, rate.n_choices, rate.wins, rate.rate) for rate in win_rates(wins)],
            schema={"agent": pl.String, "n_choices": pl.Int64, "wins": pl.Int64,
                    "win_rate": pl.Float64},
            orient="row",
        ),
        metrics=_metrics(source, edition, questions, clear),
        n_tied=len(tied),
    )  # fmt: skip


def _metrics(
    source: Readable, edition: str, questions: dict[Place, Preference], clear: dict[Place, str]
) -> pl.DataFrame:
    """Each metric as if it were a judge that prefers the report with the better value.

    Questions where it has no value for one of the two, or the same for both, are left out.
    """
    values: dict[tuple[str, str, str], dict[tuple[str, str], float | None]] = defaultdict(dict)
    for protocol, judge, metric, *report, value in source.frame(SCORES, [edition]).iter_rows():
        agent, assignment = report
        values[protocol, judge, metric][agent, assignment] = value
    better = {
        (name, metric.name): metric.better
        for name, protocol in at_hand(protocol for protocol, *_ in values).items()
        for metric in protocol.metrics
    }
    rows: list[dict[str, Any]] = []
    for (protocol, judge, metric), of_report in values.items():
        if not clear or (protocol, metric) not in better:
            continue
        chosen = {}
        for place in clear:
            asked = questions[place]
            pair = [
                of_report.get((agent, asked.assignment)) for agent in (asked.first, asked.second)
            ]
            side = preferred_side(pair, better[protocol, metric])
            if side:
                chosen[place] = side
        found = agreement(chosen, clear)
        rows.append(
            {
                "protocol": protocol,
                "metric": metric,
                "judge": judge,
                "n_items": found.n_items,
                "n_left_out": len(clear) - found.n_items,
                "alike": found.alike,
                "kappa": found.kappa,
            }
        )
    return pl.DataFrame(
        rows,
        schema={"protocol": pl.String, "metric": pl.String, "judge": pl.String,
                "n_items": pl.Int64, "n_left_out": pl.Int64, "alike": pl.Float64,
                "kappa": pl.Float64},
    )  # fmt: skip
