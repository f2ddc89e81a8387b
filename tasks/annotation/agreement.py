"""The agreement of judges with each other and with people, and the judges' costs.

Only verdicts with status `ok` are compared, item by item. Every figure comes with its number of
items; a figure without items is null.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tasks.annotation.labels import Item, Labels, PeopleLabels
from tasks.annotation.sheets import MAJORITY, check_edition
from tasks.configuration.models import load_judges
from tasks.editions.names import UnknownName
from tasks.metrics.agreement import (
    LabelAgreement,
    majority_labels,
    measure_agreement,
    measure_pairwise,
)
from tasks.protocols.registry import PROTOCOLS
from tasks.warehouse.store import Readable

ALL_STEPS = "all"
"""The name of all steps of a protocol together."""

VERDICTS = """
SELECT judge, protocol, step, agent, assignment, item, label
FROM current_verdicts
WHERE edition = $1 AND status = 'ok' AND label IS NOT NULL
ORDER BY ALL
"""
COSTS = """
SELECT judge, protocol, sum(cost_usd ORDER BY agent) / sum(reports) AS usd,
    sum(calls_without_price) AS unpriced
FROM judging_costs
WHERE edition = $1
GROUP BY ALL
"""
FIGURES = {"n_items": pl.Int64, "n_assignments": pl.Int64,
           "alike": pl.Float64, "alike_low": pl.Float64, "alike_high": pl.Float64,
           "kappa": pl.Float64, "kappa_low": pl.Float64, "kappa_high": pl.Float64}  # fmt: skip
"""Shares and kappa with the ends of their 95 % intervals from resampling assignments, because items
of one assignment are not independent. Null with fewer than five assignments, or if every resample
gives the same figure."""


@dataclass(frozen=True)
class JudgeAgreement:
    """The tables of one edition; shares 0-1, kappa -1 to 1, money in US dollars."""

    judges: pl.DataFrame
    """Per protocol and judge: items decided, agreement with people, dollars per article."""
    between_judges: pl.DataFrame
    """Per protocol and step, each two judges."""
    with_people: pl.DataFrame
    """Per protocol and step, each judge against each annotator and against their majority."""
    between_people: pl.DataFrame
    """Per protocol and step, each two annotators."""
    n_unmatched: int
    """People's labels on items that no judge decided."""


def compare_judges_and_people(
    source: Readable,
    edition: str,
    people: PeopleLabels,
    protocols: Sequence[str] = (),
    judges: Sequence[str] = (),
) -> JudgeAgreement:
    """Compare the edition's judges with each other and with people.

    Args:
        protocols: only these; all that have verdicts or labels if empty.
        judges: only these; all that have verdicts if empty.

    Raises:
        UnknownName: the edition, protocol or judge is unknown.
    """
    check_edition(source, edition)
    verdicts = _load_verdicts(source, edition, judges)
    _check_protocols(protocols, verdicts, people)
    judged, labelled = _group_by_step(verdicts, protocols), _group_by_step(people.labels, protocols)
    decided = {item for labels in verdicts.values() for item in labels}
    with_people = [
        _compare_with_people(
            protocol, step, judge, judged.get((protocol, step), {}).get(judge, {}), labels
        )
        for (protocol, step), labels in labelled.items()
        for judge in verdicts
    ]
    return JudgeAgreement(
        judges=_tabulate_judges(judged, labelled, list(verdicts), _load_costs(source, edition)),
        between_judges=_tabulate_pairs(judged, "judge"),
        with_people=_make_frame(
            [row for rows in with_people for row in rows],
            {"protocol": pl.String, "step": pl.String, "judge": pl.String, "person": pl.String,
             **FIGURES, "n_tied": pl.Int64},
        ),
        between_people=_tabulate_pairs(labelled, "person"),
        n_unmatched=sum(
            item not in decided
            for labels in people.labels.values()
            for item in labels
            if not protocols or item[0] in protocols
        ),
    )  # fmt: skip


LabelsByStep = dict[tuple[str, str], dict[str, Labels]]
"""(protocol, step) → rater → labels."""


def _load_verdicts(source: Readable, edition: str, judges: Sequence[str]) -> dict[str, Labels]:
    """Load the labels by judge; requested judges without verdicts have none."""
    verdicts: dict[str, Labels] = defaultdict(dict)
    for judge, *item, label in source.frame(VERDICTS, [edition]).iter_rows():
        protocol, step, agent, assignment, number = item
        verdicts[judge][protocol, step, agent, assignment, number] = label
    known = sorted({*verdicts, *load_judges().judges})
    for judge in judges:
        if judge not in known:
            raise UnknownName(f"There is no judge {judge!r}; there are: {', '.join(known)}.")
    return {judge: verdicts.get(judge, {}) for judge in judges or sorted(verdicts)}


def _check_protocols(
    protocols: Sequence[str], verdicts: dict[str, Labels], people: PeopleLabels
) -> None:
    met = {item[0] for raters in (verdicts, people.labels) for of in raters.values() for item in of}
    known = sorted({*met, *PROTOCOLS})
    for protocol in protocols:
        if protocol not in known:
            raise UnknownName(f"There is no protocol {protocol!r}; there are: {', '.join(known)}.")


def _group_by_step(raters: dict[str, Labels], protocols: Sequence[str]) -> LabelsByStep:
    """Group the labels by step, and by all steps of a protocol that has several."""
    compared: LabelsByStep = defaultdict(lambda: defaultdict(dict))
    for rater, labels in raters.items():
        for item, label in labels.items():
            protocol, step = item[:2]
            if not protocols or protocol in protocols:
                compared[protocol, step][rater][item] = label
                compared[protocol, ALL_STEPS][rater][item] = label
    steps = [protocol for protocol, _ in compared]
    return {
        key: dict(compared[key])
        for key in sorted(compared, key=lambda key: (key[0], key[1] == ALL_STEPS, key[1]))
        if key[1] != ALL_STEPS or steps.count(key[0]) > 2
    }


def _tabulate_judges(
    judged: LabelsByStep,
    labelled: LabelsByStep,
    judges: Sequence[str],
    dollars: dict[tuple[str, str], float],
) -> pl.DataFrame:
    rows = []
    for protocol in sorted({protocol for protocol, _ in (*judged, *labelled)}):
        clear, _ = majority_labels(_merge_steps(labelled, protocol))
        by_judge = _merge_steps(judged, protocol)
        for judge in judges:
            verdicts = by_judge.get(judge, {})
            found = measure_agreement(verdicts, clear, _assignment_of)
            rows.append(
                {
                    "protocol": protocol,
                    "judge": judge,
                    "n_decided": len(verdicts),
                    "n_with_people": found.n_items,
                    **{k: v for k, v in _make_figures(found).items() if k != "n_items"},
                    "usd_per_article": dollars.get((judge, protocol)),
                }
            )
    return _make_frame(
        rows,
        {"protocol": pl.String, "judge": pl.String, "n_decided": pl.Int64,
         "n_with_people": pl.Int64, **{k: v for k, v in FIGURES.items() if k != "n_items"},
         "usd_per_article": pl.Float64},
    )  # fmt: skip


def _merge_steps(compared: LabelsByStep, protocol: str) -> dict[str, Labels]:
    """Return each rater's labels on all items of a protocol."""
    whole: dict[str, Labels] = defaultdict(dict)
    for (name, step), raters in compared.items():
        if name == protocol and step != ALL_STEPS:
            for rater, labels in raters.items():
                whole[rater].update(labels)
    return whole


def _tabulate_pairs(compared: LabelsByStep, who: str) -> pl.DataFrame:
    rows = [
        {"protocol": protocol, "step": step, f"{who}_a": one, f"{who}_b": other}
        | _make_figures(found)
        for (protocol, step), raters in compared.items()
        for one, other, found in measure_pairwise(raters, _assignment_of)
    ]
    names = ("protocol", "step", f"{who}_a", f"{who}_b")
    return _make_frame(rows, {**dict.fromkeys(names, pl.String), **FIGURES})


def _compare_with_people(
    protocol: str, step: str, judge: str, verdicts: Labels, people: dict[str, Labels]
) -> list[dict[str, Any]]:
    """Compare one judge with the people's majority, then with each person."""
    clear, tied = majority_labels(people)
    place = {"protocol": protocol, "step": step, "judge": judge}
    n_tied = len(tied & verdicts.keys())
    against: list[tuple[str, dict[Item, str], int | None]] = [(MAJORITY, clear, n_tied)]
    against += [(name, people[name], None) for name in sorted(people)]
    return [
        {
            **place,
            "person": name,
            **_make_figures(measure_agreement(verdicts, labels, _assignment_of)),
            "n_tied": ties,
        }
        for name, labels, ties in against
    ]


def _load_costs(source: Readable, edition: str) -> dict[tuple[str, str], float]:
    """Load dollars per article by (judge, protocol), if every call has a price."""
    costs = {
        (judge, protocol): usd
        for judge, protocol, usd, unpriced in source.frame(COSTS, [edition]).iter_rows()
        if usd is not None and not unpriced
    }
    free = [name for name, entry in load_judges().judges.items() if entry.kind == "offline"]
    protocols = source.frame(
        "SELECT DISTINCT protocol FROM verdicts WHERE edition = $1", [edition]
    )["protocol"]
    return {**{(name, protocol): 0.0 for name in free for protocol in protocols}, **costs}


def _make_figures(found: LabelAgreement) -> dict[str, Any]:
    alike, kappa = found.alike_interval, found.kappa_interval
    return {
        "n_items": found.n_items,
        "n_assignments": found.n_clusters or 0,
        "alike": found.alike,
        "alike_low": alike.low if alike else None,
        "alike_high": alike.high if alike else None,
        "kappa": found.kappa,
        "kappa_low": kappa.low if kappa else None,
        "kappa_high": kappa.high if kappa else None,
    }


def _assignment_of(item: Item) -> str:
    _, _, _, assignment, _ = item
    return assignment


def _make_frame(rows: list[dict[str, Any]], schema: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema, orient="row")
