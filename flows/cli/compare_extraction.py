"""`evergreen compare extraction`: compare extracted claims with published ones."""

import polars as pl
import polars.selectors as cs

from flows.cli.options import EditionOption, FormatOption, WarehouseOption
from flows.cli.warehouse import open_to_read
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.analysis.extraction import measure_extraction
from tasks.extraction.agreement import ExtractionAgreement
from tasks.warehouse.location import DEFAULT_LOCATION


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
