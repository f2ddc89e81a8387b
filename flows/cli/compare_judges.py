"""`evergreen compare judges`: judges' agreement with each other and with people's labels;
`evergreen compare extraction`: extracted claims with published ones."""

from pathlib import Path
from typing import Annotated

import polars as pl
import polars.selectors as cs
import typer

from flows.cli.options import (
    EditionOption,
    FormatOption,
    JudgesOption,
    ScoreProtocolsOption,
    WarehouseOption,
)
from flows.cli.output import write_tables
from flows.cli.warehouse import open_to_read
from flows.display.console import STDOUT, print_message, print_result
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.analysis.judges import measure_extraction
from tasks.annotation.agreement import JudgeAgreement, compare_judges_and_people
from tasks.annotation.labels import (
    FILE_COLUMNS,
    PreferenceTables,
    load_labels,
    make_preference_tables,
    read_label_file,
)
from tasks.extraction.agreement import ExtractionAgreement
from tasks.warehouse.location import DEFAULT_LOCATION


def compare_with_people(
    edition: EditionOption,
    protocol: ScoreProtocolsOption = None,
    judge: JudgesOption = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Compare with these labels instead of the imported ones: a CSV with the columns "
            f"{', '.join(FILE_COLUMNS)} and, for several people, annotator."
        ),
    ] = None,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Compare judges with each other and with people, and their costs per article."""
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


def compare_extraction(
    edition: EditionOption,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Compare published claims with those extracted offline from the same reports."""
    with open_to_read(warehouse, edition) as source:
        _print_agreements(list(measure_extraction(source, edition)), form)


def _print_agreements(agreements: list[tuple[str, ExtractionAgreement]], form: Format) -> None:
    """Print offline against published claims, a row per agent; shares 0-1."""
    rows = [
        {
            "agent": agent,
            "claims": found.n_published_claims,
            "offline": found.n_offline_claims,
            "found": found.matched_share,
            "pairs": found.n_published_pairs,
            "offline_pairs": found.n_offline_pairs,
            "pairs_found": found.recall,
            "pairs_confirmed": found.precision,
            "f1": found.f1,
        }
        for agent, found in agreements
    ]
    frame = pl.DataFrame(rows)
    print_frame(frame.with_columns(cs.float().round(3)) if rows else frame, form)
