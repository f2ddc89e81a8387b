"""`evergreen annotate` and `evergreen agreement`: people's labels, compared with judges."""

from pathlib import Path
from typing import Annotated

import polars as pl
import polars.selectors as cs
import typer

from flows.cli.options import EditionOption, WarehouseOption
from flows.cli.output import write_tables
from flows.cli.warehouse import open_existing_warehouse, open_to_read
from flows.display.console import STDOUT, print_message, print_result
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.annotation.agreement import JudgeAgreement, compare_judges_and_people
from tasks.annotation.kinds import KINDS
from tasks.annotation.labels import FILE_COLUMNS, load_labels, read_label_file
from tasks.annotation.preferences import PreferenceTables, make_preference_tables
from tasks.annotation.sheets import import_labels, make_annotation_sheet, write_sheet
from tasks.base import format_count
from tasks.warehouse.location import DEFAULT_LOCATION

LARGEST_SEED = 2**31 - 1
"""The maximum of the warehouse's column."""
MIN_PEOPLE = 3
"""With fewer, people who differ have no majority."""


def make(
    edition: EditionOption,
    kind: Annotated[str, typer.Option("--kind", help=f"One of {', '.join(KINDS)}.")],
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", help="Only this agent's texts; may be repeated."),
    ] = None,
    size: Annotated[
        int,
        typer.Option("--items", "--pairs", min=1, help="Statements, or pairs of texts, to draw."),
    ] = 20,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", min=0, max=LARGEST_SEED, help="A different seed draws a different sheet."
        ),
    ] = 0,
    to: Annotated[Path, typer.Option("--to", help="The folder for the two files.")] = Path(),
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Draw a sheet as SHEET.csv and SHEET.html with the same questions; people fill in either."""
    with open_existing_warehouse(warehouse) as store:
        sheet = make_annotation_sheet(store, edition, kind, agent or [], size, seed)
    table, page = write_sheet(sheet, to)
    if len(sheet.panels) < size:
        print_message(f"There are only {len(sheet.panels)}, not {size}: the sheet has them all.")
    questions, parts = len(sheet.items), len(sheet.panels)
    print_message(
        f"{sheet.name}: {format_count(questions, 'question')} in {format_count(parts, 'part')}."
    )
    print_message(f"Page  {page}\nCSV   {table}")
    print_message(
        f"Next: send the page to each person (for {kind}, {MIN_PEOPLE} or more give a "
        "majority). It works offline and downloads a filled CSV. For each CSV:\n"
        f"  evergreen annotate import {sheet.name}.filled.csv --annotator NAME"
    )


def import_filled(
    file: Annotated[Path, typer.Argument(help="A filled CSV.")],
    annotator: Annotated[str, typer.Option("--annotator", help="Who filled it in.")],
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Check, un-blind and import a filled sheet; importing it again changes nothing."""
    with open_existing_warehouse(warehouse) as store:
        found = import_labels(store, file, annotator)
        edition = store.value(
            "SELECT edition FROM annotation_items WHERE sheet = $1 LIMIT 1", [found.sheet]
        )
    print_message(
        f"{found.sheet} by {annotator.strip()}: {found.labelled} of {found.items} questions "
        f"labelled ({found.new} new, {found.changed} changed), {found.open} left open."
    )
    print_message(f"Next: evergreen agreement --edition {edition}")


def agreement(
    edition: EditionOption,
    protocol: Annotated[
        list[str] | None, typer.Option("--protocol", help="Only this protocol; may be repeated.")
    ] = None,
    judge: Annotated[
        list[str] | None, typer.Option("--judge", help="Only this judge; may be repeated.")
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            help="Compare with these labels instead of the imported ones: a CSV with the columns "
            f"{', '.join(FILE_COLUMNS)} and, for several people, annotator.",
        ),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print it.")] = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Show judges' agreement with each other and with people, and their costs per article."""
    with open_to_read(warehouse) as source:
        imported = load_labels(source, edition)
        people = read_label_file(labels) if labels else imported
        found = compare_judges_and_people(source, edition, people, protocol or [], judge or [])
        preferences = make_preference_tables(source, edition, imported)
    tables = _collect_tables(found, preferences)
    if form is Format.TABLE:
        _print_tables(tables)
    else:
        write_tables(tables, form, STDOUT)
    if found.n_unmatched:
        print_message(f"{found.n_unmatched} labels are for items that no judge has decided.")
    if preferences.n_tied:
        print_message(f"{preferences.n_tied} forced choices are left out: their votes are tied.")
    if imported.n_outdated:
        print_message(f"{imported.n_outdated} labels are left out: their texts have changed.")


HEADINGS = {
    "judges": "Judges, over all decisions",
    "between_judges": "Judges with each other",
    "with_people": "Judges with people",
    "between_people": "People with each other",
    "preference_people": "Forced choices: people with each other",
    "preference_agents": "Forced choices: how often each agent is preferred",
    "preference_metrics": "Forced choices: the leaderboard's metrics with people",
}
BRACKETS = (
    "95 % intervals over assignments; none with fewer than five, or if every resample gives the "
    "same value."
)
NOTES = {
    "judges": "alike, kappa: with the people's majority, over n_with_people items that both "
    "decided; over the criteria of wiki_writing, alike is the papers' PAR. usd_per_article: the "
    "cost of judging one report; – if a price is not known. "
    f"Brackets: {BRACKETS}",
    "between_judges": "n_items: items both decided (status ok). kappa: Cohen's; – if all have "
    f"one label. Brackets: {BRACKETS}",
    "with_people": "n_items: items both labelled. n_tied: items without a majority, "
    f"as the votes are tied. Brackets: {BRACKETS}",
    "between_people": f"n_items: items both labelled. Brackets: {BRACKETS}",
    "preference_people": "n_items: questions both answered.",
    "preference_agents": "By the people's majority. n_choices: comparisons the agent was in.",
    "preference_metrics": "The report with the better value against the people's majority. "
    "n_left_out: no value for one of the two, or the same for both.",
}


def _collect_tables(
    found: JudgeAgreement, preferences: PreferenceTables
) -> dict[str, pl.DataFrame]:
    """Return the tables by name; those of forced choices only if there are any."""
    names = ("judges", "between_judges", "with_people", "between_people")
    tables: dict[str, pl.DataFrame] = {name: getattr(found, name) for name in names}
    choices = {
        "preference_people": preferences.people,
        "preference_agents": preferences.agents,
        "preference_metrics": preferences.metrics,
    }
    if preferences.n_tied or any(frame.height for frame in choices.values()):
        tables |= choices
    return tables


def _print_tables(tables: dict[str, pl.DataFrame]) -> None:
    """Print the tables that are not empty, each with a note on its numbers."""
    for name, frame in tables.items():
        if frame.height:
            STDOUT.print(HEADINGS[name], style="bold")
            rounded = _append_intervals(frame.with_columns(cs.float().round(3).cast(pl.String)))
            print_frame(rounded.with_columns(pl.all().cast(pl.String).fill_null("–")), Format.TABLE)
            print_result(NOTES[name] + "\n", style="dim")
    if not any(frame.height for frame in tables.values()):
        print_message("Nothing is judged or labelled yet: run evergreen evaluate, or annotate.")


def _append_intervals(frame: pl.DataFrame) -> pl.DataFrame:
    """Append intervals to their figures, `0.8 [0.75 to 0.85]`; programs get columns."""
    shown = frame
    for name in ("alike", "kappa"):
        if f"{name}_low" in frame.columns:
            ends = pl.format("{} [{} to {}]", name, f"{name}_low", f"{name}_high")
            shown = shown.with_columns(ends.fill_null(pl.col(name)).alias(name))
    return shown.drop(cs.matches("^(alike|kappa)_(low|high)$|^n_assignments$"))
