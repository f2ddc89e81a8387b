"""People's forced choices between reports: win rates, agreement, and comparison with metrics."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import polars as pl

from tasks.annotation.labels import PeopleLabels, Preference
from tasks.metrics.agreement import majority_labels, measure_agreement, measure_pairwise
from tasks.metrics.preference import preferred_side, win_rates
from tasks.protocols.registry import available_protocols
from tasks.warehouse.store import Readable

SCORES = """
SELECT protocol, judge, metric, agent, assignment, value
FROM scores
WHERE edition = $1
ORDER BY ALL
"""
PEOPLE = {"person_a": pl.String, "person_b": pl.String, "n_items": pl.Int64,
          "alike": pl.Float64, "kappa": pl.Float64}  # fmt: skip
AGENTS = {"agent": pl.String, "n_choices": pl.Int64, "wins": pl.Int64, "win_rate": pl.Float64}
METRICS = {"protocol": pl.String, "metric": pl.String, "judge": pl.String, "n_items": pl.Int64,
           "n_left_out": pl.Int64, "alike": pl.Float64, "kappa": pl.Float64}  # fmt: skip
QuestionKey = tuple[str, str]
"""Sheet and item id of a question."""


@dataclass(frozen=True)
class PreferenceTables:
    """The tables of people's preferences; shares 0-1, kappa -1 to 1."""

    people: pl.DataFrame
    """The agreement of each two people, on the questions that both answered."""
    agents: pl.DataFrame
    """Win rates by the people's majority."""
    metrics: pl.DataFrame
    """The agreement of each judge's metrics with the people's majority."""
    n_tied: int
    """Questions left out because of tied votes."""


def make_preference_tables(
    source: Readable, edition: str, people: PeopleLabels
) -> PreferenceTables:
    """Make the tables over all questions between two reports; empty tables without questions."""
    raters: dict[str, dict[QuestionKey, str]] = defaultdict(dict)
    questions: dict[QuestionKey, Preference] = {}
    for choice in people.preferences:
        side = "first" if choice.preferred == choice.first else "second"
        raters[choice.annotator][choice.question] = side
        questions[choice.question] = choice
    clear, tied = majority_labels(raters)
    sides = {key: (questions[key].first, questions[key].second) for key in clear}
    wins = [sides[key] if side == "first" else sides[key][::-1] for key, side in clear.items()]
    return PreferenceTables(
        people=pl.DataFrame(
            [
                {"person_a": one, "person_b": other, **found.as_row()}
                for one, other, found in measure_pairwise(raters)
            ],
            schema=PEOPLE,
        ),
        agents=pl.DataFrame(win_rates(wins), schema=AGENTS, orient="row"),
        metrics=_tabulate_metrics(source, edition, questions, clear),
        n_tied=len(tied),
    )


def _tabulate_metrics(
    source: Readable,
    edition: str,
    questions: dict[QuestionKey, Preference],
    clear: dict[QuestionKey, str],
) -> pl.DataFrame:
    """Treat each metric as a judge that prefers the report with the better value.

    Questions are left out if a value is missing or both are equal.
    """
    values: dict[tuple[str, str, str], dict[tuple[str, str], float | None]] = defaultdict(dict)
    for protocol, judge, metric, *report, value in source.frame(SCORES, [edition]).iter_rows():
        agent, assignment = report
        values[protocol, judge, metric][agent, assignment] = value
    better = {
        (name, metric.name): metric.better
        for name, protocol in available_protocols(protocol for protocol, *_ in values).items()
        for metric in protocol.metrics
    }
    rows: list[dict[str, Any]] = []
    for (protocol, judge, metric), of_report in values.items():
        if not clear or (protocol, metric) not in better:
            continue
        chosen = {}
        for key in clear:
            question = questions[key]
            pair = [
                of_report.get((agent, question.assignment))
                for agent in (question.first, question.second)
            ]
            side = preferred_side(pair, better[protocol, metric])
            if side:
                chosen[key] = side
        found = measure_agreement(chosen, clear)
        rows.append(
            {
                "protocol": protocol,
                "metric": metric,
                "judge": judge,
                "n_left_out": len(clear) - found.n_items,
                **found.as_row(),
            }
        )
    return pl.DataFrame(rows, schema=METRICS)
