"""How far judges agree with each other and with people, as tables of ready words."""

from collections.abc import Iterator
from typing import Any

from tasks.annotation.agreement import judge_agreement
from tasks.annotation.labels import stored_labels
from tasks.publishing.material import Material
from tasks.site.content import Table
from tasks.site.wording import figure, number

HEADS = (("Protocol", False), ("Step", False), ("One", False), ("Other", False), ("Alike", True),
         ("95 % interval", True), ("Kappa", True), ("95 % interval", True), ("Items", True),
         ("Assignments", True))  # fmt: skip
READ = (
    "Alike: percent of the items that both decided and labelled alike. Kappa: Cohen's, agreement "
    "beyond chance. Intervals by drawing assignments again."
)


def agreement_tables(material: Material) -> list[Table]:
    """Judge against judge, and judges against people; only what there is."""
    people = stored_labels(material.source, material.edition)
    found = judge_agreement(material.source, material.edition, people, judges=material.judges)
    tables = (
        ("Judges with each other", _rows(material, found.between_judges, "judge_a", "judge_b")),
        ("Judges with people", _rows(material, found.with_people, "judge", "person")),
        ("People with each other", _rows(material, found.between_people, "person_a", "person_b")),
    )
    return [Table(title, HEADS, rows, READ) for title, lines in tables if (rows := tuple(lines))]


def _rows(material: Material, frame: Any, one: str, other: str) -> Iterator[tuple[str, ...]]:
    for row in frame.iter_rows(named=True):
        if not row["n_items"]:
            continue
        yield (
            material.protocol_title(row["protocol"]),
            row["step"].replace("_", " "),
            material.judge_titles.get(row[one], row[one]),
            material.judge_titles.get(row[other], row[other]),
            figure(row["alike"]),
            _between(figure(row["alike_low"]), figure(row["alike_high"])),
            number(row["kappa"]),
            _between(number(row["kappa_low"]), number(row["kappa_high"])),
            number(row["n_items"]),
            number(row["n_assignments"]),
        )


def _between(low: str, high: str) -> str:
    return "–" if low == "–" or high == "–" else f"{low} to {high}"
