"""People's labels from the warehouse or a file, with the labels and keys of judges' verdicts; of
their choices between reports also win rates, agreement, and comparison with metrics."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tasks.annotation.kinds import find_verdict_labels
from tasks.annotation.sheets import MAJORITY, find_outdated
from tasks.annotation.table import SheetRow, raise_problems, read_table
from tasks.metrics.agreement import (
    majority_labels,
    measure_agreement,
    measure_pairwise,
    preferred_side,
    win_rates,
)
from tasks.protocols.registry import available_protocols
from tasks.spreadsheets import unescape_formula
from tasks.warehouse.labels import AnnotationItem
from tasks.warehouse.store import Readable

Item = tuple[str, str, str, str, str]
"""protocol, step, agent, assignment, item: the key of a verdict without its judge."""
Labels = dict[Item, str]
FILE_COLUMNS = ("assignment", "agent", "protocol", "step", "item", "label")
DEFAULT_ANNOTATOR = "people"
"""The annotator of a file that names none."""

STORED = """
SELECT i.*, l.annotator, l.label
FROM human_labels AS l JOIN annotation_items AS i USING (sheet, item_id)
WHERE i.edition = $1
ORDER BY l.imported_at, i.sheet, i.number, l.annotator
"""
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
class Preference:
    """A person's choice between two agents' reports."""

    question: tuple[str, str]
    """Sheet and item id."""
    annotator: str
    assignment: str
    first: str
    second: str
    preferred: str


@dataclass(frozen=True)
class PeopleLabels:
    """People's labels on verdicts' items, and their preferences between reports."""

    labels: dict[str, Labels]
    """Annotator → labels."""
    preferences: tuple[Preference, ...] = ()
    n_outdated: int = 0
    """Labels left out because their texts have changed."""


def load_labels(source: Readable, edition: str) -> PeopleLabels:
    """Load an edition's imported labels; of several answers by one person, the latest."""
    rows = [
        (row.pop("annotator"), row.pop("label"), AnnotationItem.model_validate(row))
        for row in source.frame(STORED, [edition]).iter_rows(named=True)
    ]
    gone = find_outdated(source, [item for _, _, item in rows])
    labels: dict[str, Labels] = defaultdict(dict)
    preferences = []
    n_outdated = 0
    for annotator, label, item in rows:
        question = (item.sheet, item.item_id)
        if question in gone:
            n_outdated += 1
        elif item.agent:
            key = (item.protocol, item.step, item.agent, item.assignment, item.item)
            labels[annotator][key] = label
        else:
            sides = (item.left_side, item.right_side)
            preferences.append(Preference(question, annotator, item.assignment, *sides, label))
    return PeopleLabels(dict(labels), tuple(preferences), n_outdated)


def read_label_file(path: Path) -> PeopleLabels:
    """Read labels made elsewhere: a CSV with FILE_COLUMNS and an optional `annotator` column.

    Rows without a label are skipped.

    Raises:
        AnnotationError: the file has problems; the message names row, column and what was expected.
    """
    labels: dict[str, Labels] = defaultdict(dict)
    problems: list[str] = []
    for record in read_table(path, FILE_COLUMNS):
        cells = {name: unescape_formula(cell).strip() for name, cell in record.cells.items()}
        if not cells["label"]:
            continue
        key: Item = (
            cells["protocol"],
            cells["step"],
            cells["agent"],
            cells["assignment"],
            cells["item"],
        )
        given = labels[cells.get("annotator") or DEFAULT_ANNOTATOR]
        problems += _find_problems(record, cells, given.get(key))
        given[key] = cells["label"]
    raise_problems(path, problems)
    return PeopleLabels(dict(labels))


def _find_problems(record: SheetRow, cells: dict[str, str], before: str | None) -> Iterator[str]:
    allowed = find_verdict_labels(cells["protocol"], cells["step"])
    if allowed and cells["label"] not in allowed:
        yield (
            f"row {record.row}, column label: expected {', '.join(allowed)}, found "
            f"“{cells['label']}”"
        )
    if before is not None and before != cells["label"]:
        yield (
            f"row {record.row}, column label: a row above has “{before}” for the same item; "
            "expected one label per item and annotator"
        )
    if cells.get("annotator", "").casefold() == MAJORITY:
        yield f"row {record.row}, column annotator: “{MAJORITY}” is reserved"


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
        if metric.better != "none"
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
