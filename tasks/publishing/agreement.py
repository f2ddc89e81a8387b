"""The agreement of judges with each other and with people, as tables of formatted text."""

from collections.abc import Iterator

import polars as pl

from tasks.annotation.agreement import compare_judges_and_people
from tasks.annotation.labels import load_labels
from tasks.publishing.material import SiteMaterial
from tasks.site.content import SiteTable
from tasks.site.wording import format_figure, format_number

COLUMNS = (("Protocol", False), ("Step", False), ("First", False), ("Second", False),
           ("Alike", True), ("95 % interval", True), ("Kappa", True), ("95 % interval", True),
           ("Items", True), ("Assignments", True))  # fmt: skip
NOTE = (
    "Alike: percent of the items decided by both that have the same label. Kappa: Cohen's kappa, "
    "agreement beyond chance. Intervals: bootstrap over assignments."
)


def make_agreement_tables(material: SiteMaterial) -> list[SiteTable]:
    """Make the tables that have rows: judges and people with each other."""
    people = load_labels(material.source, material.edition)
    found = compare_judges_and_people(
        material.source, material.edition, people, judges=material.judges
    )
    tables = (
        (
            "Judges with each other",
            _format_rows(material, found.between_judges, "judge_a", "judge_b"),
        ),
        ("Judges with people", _format_rows(material, found.with_people, "judge", "person")),
        (
            "People with each other",
            _format_rows(material, found.between_people, "person_a", "person_b"),
        ),
    )
    return [
        SiteTable(title, COLUMNS, rows, NOTE) for title, lines in tables if (rows := tuple(lines))
    ]


def _format_rows(
    material: SiteMaterial, frame: pl.DataFrame, one: str, other: str
) -> Iterator[tuple[str, ...]]:
    for row in frame.iter_rows(named=True):
        if not row["n_items"]:
            continue
        yield (
            material.protocol_title(row["protocol"]),
            row["step"].replace("_", " "),
            material.judge_title(row[one]),
            material.judge_title(row[other]),
            format_figure(row["alike"]),
            _format_range(format_figure(row["alike_low"]), format_figure(row["alike_high"])),
            format_number(row["kappa"]),
            _format_range(format_number(row["kappa_low"]), format_number(row["kappa_high"])),
            format_number(row["n_items"]),
            format_number(row["n_assignments"]),
        )


def _format_range(low: str, high: str) -> str:
    return "–" if low == "–" or high == "–" else f"{low} to {high}"
