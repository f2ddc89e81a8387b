"""The agreement of judges with each other and with people, and the judges' costs.

Only verdicts with status `ok` are compared, item by item. Every figure comes with its number of
items; a figure without items is null.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tasks.annotation.labels import Item, Labels, PeopleLabels
from tasks.annotation.sheets import MAJORITY
from tasks.configuration.models import load_judges
from tasks.editions.names import UnknownName, check_edition
from tasks.errors import suggest_names
from tasks.metrics.agreement import (
    ALL_STEPS,
    FIGURES,
    majority_labels,
    measure_agreement,
    measure_pairwise,
)
from tasks.protocols.registry import PROTOCOLS
from tasks.warehouse.store import Readable

VERDICTS = """
SELECT judge, protocol, step, agent, assignment, item, label
FROM current_verdicts
WHERE edition = $1 AND status = 'ok' AND label IS NOT NULL AND decided_by IS NULL
ORDER BY ALL
"""
ASKED = "SELECT DISTINCT judge FROM leaderboard WHERE edition = $1"
COSTS = """
SELECT judge, protocol, sum(cost_usd ORDER BY agent) / sum(reports) AS usd,
    sum(calls_without_price) AS unpriced
FROM judging_costs
WHERE edition = $1
GROUP BY ALL
"""
STEP = {"protocol": pl.String, "step": pl.String}
WITH_PEOPLE = {**STEP, "judge": pl.String, "person": pl.String, **FIGURES, "n_tied": pl.Int64}
"""`n_tied`: the judge's items on which the people's votes are tied; null beside one person."""
JUDGES = {
    "protocol": pl.String, "judge": pl.String, "n_decided": pl.Int64, "n_with_people": pl.Int64,
    **{name: kind for name, kind in FIGURES.items() if name != "n_items"},
    "usd_per_article": pl.Float64,
}  # fmt: skip
LabelsByStep = dict[tuple[str, str], dict[str, Labels]]
"""(protocol, step) → rater → labels."""


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
    verdicts = _load_verdicts(source, edition)
    asked = source.frame(ASKED, [edition])["judge"]
    for judge in judges:
        _check_name("judge", judge, {*verdicts, *asked, *load_judges().judges})
    judged_by = {judge: verdicts.get(judge, {}) for judge in judges or sorted(verdicts)}
    raters = (*judged_by.values(), *people.labels.values())
    for protocol in protocols:
        _check_name("protocol", protocol, {*PROTOCOLS, *(item[0] for of in raters for item in of)})
    judged, labelled = (_group_by_step(of, protocols) for of in (judged_by, people.labels))
    decided = {item for labels in judged_by.values() for item in labels}
    return JudgeAgreement(
        judges=_tabulate_judges(judged, labelled, judged_by, _load_costs(source, edition)),
        between_judges=_tabulate_pairs(judged, "judge"),
        with_people=_compare_with_people(judged, labelled, judged_by),
        between_people=_tabulate_pairs(labelled, "person"),
        n_unmatched=sum(
            item not in decided
            for labels in people.labels.values()
            for item in labels
            if not protocols or item[0] in protocols
        ),
    )


def _load_verdicts(source: Readable, edition: str) -> dict[str, Labels]:
    """Load the labels by judge."""
    verdicts: dict[str, Labels] = defaultdict(dict)
    for judge, *item, label in source.frame(VERDICTS, [edition]).iter_rows():
        protocol, step, agent, assignment, number = item
        verdicts[judge][protocol, step, agent, assignment, number] = label
    return verdicts


def _check_name(kind: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise UnknownName(f"There is no {kind} {name!r}. {suggest_names(name, known)}")


def _group_by_step(raters: Mapping[str, Labels], protocols: Sequence[str]) -> LabelsByStep:
    """Group the labels by step, and by all steps of a protocol together."""
    grouped: LabelsByStep = defaultdict(lambda: defaultdict(dict))
    for rater, labels in raters.items():
        for item, label in labels.items():
            protocol, step = item[:2]
            if not protocols or protocol in protocols:
                grouped[protocol, step][rater][item] = label
                grouped[protocol, ALL_STEPS][rater][item] = label
    return grouped


def _list_steps(grouped: LabelsByStep) -> list[tuple[str, str]]:
    """List (protocol, step) in order; all steps together only of protocols that have several."""
    count = Counter(protocol for protocol, _ in grouped)
    return sorted(
        (key for key in grouped if key[1] != ALL_STEPS or count[key[0]] > 2),
        key=lambda key: (key[0], key[1] == ALL_STEPS, key[1]),
    )


def _tabulate_judges(
    judged: LabelsByStep,
    labelled: LabelsByStep,
    judges: Iterable[str],
    dollars: Mapping[tuple[str, str], float],
) -> pl.DataFrame:
    rows = []
    for protocol in sorted({protocol for protocol, _ in (*judged, *labelled)}):
        clear, _ = majority_labels(labelled.get((protocol, ALL_STEPS), {}))
        for judge in judges:
            verdicts = judged.get((protocol, ALL_STEPS), {}).get(judge, {})
            found = measure_agreement(verdicts, clear, _assignment_of)
            rows.append(
                {
                    "protocol": protocol,
                    "judge": judge,
                    "n_decided": len(verdicts),
                    "n_with_people": found.n_items,
                    **found.as_row(),
                    "usd_per_article": dollars.get((judge, protocol)),
                }
            )
    return pl.DataFrame(rows, schema=JUDGES)


def _tabulate_pairs(grouped: LabelsByStep, who: str) -> pl.DataFrame:
    one, other = f"{who}_a", f"{who}_b"
    rows = [
        {"protocol": protocol, "step": step, one: first, other: second, **found.as_row()}
        for protocol, step in _list_steps(grouped)
        for first, second, found in measure_pairwise(grouped[protocol, step], _assignment_of)
    ]
    return pl.DataFrame(rows, schema={**STEP, one: pl.String, other: pl.String, **FIGURES})


def _compare_with_people(
    judged: LabelsByStep, labelled: LabelsByStep, judges: Iterable[str]
) -> pl.DataFrame:
    """Compare each judge with the people's majority, then with each person."""
    rows: list[dict[str, Any]] = []
    for protocol, step in _list_steps(labelled):
        people = labelled[protocol, step]
        clear, tied = majority_labels(people)
        for judge in judges:
            verdicts = judged.get((protocol, step), {}).get(judge, {})
            against: dict[str, Labels] = {MAJORITY: clear, **dict(sorted(people.items()))}
            rows += (
                {
                    "protocol": protocol,
                    "step": step,
                    "judge": judge,
                    "person": name,
                    **measure_agreement(verdicts, labels, _assignment_of).as_row(),
                    "n_tied": len(tied & verdicts.keys()) if name == MAJORITY else None,
                }
                for name, labels in against.items()
            )
    return pl.DataFrame(rows, schema=WITH_PEOPLE)


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


def _assignment_of(item: Item) -> str:
    _, _, _, assignment, _ = item
    return assignment
