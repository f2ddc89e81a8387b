"""Print what the offline extractor understands of imported reports, a line for each."""

from collections.abc import Sequence

from rich.measure import Measurement
from rich.table import Table

from flows.display.console import STDOUT
from flows.display.wide_table import UNBOUNDED_WIDTH
from tasks.base import format_count
from tasks.imports.reports import FileOutcome

COLUMNS = ("", "File", "Words", "Claims", "Markers", "Lead on", "Entries", "Which claim cites what")


def print_understandings(outcomes: Sequence[FileOutcome]) -> None:
    """Print a table of the files that are reports; `!` marks those whose claims or citations the
    figures cannot use."""
    table = Table(box=None, pad_edge=False)
    for name in COLUMNS:
        table.add_column(name, justify="right" if name in COLUMNS[2:7] else "left", overflow="fold")
    n_marked = 0
    for outcome in outcomes:
        if not (found := outcome.understood):
            continue
        marked = found.pairs_reason is not None or not found.claims
        n_marked += marked
        counts = (found.words, found.claims, found.markers, found.resolved, found.entries)
        reason = found.pairs_reason or ("known" if found.claims else "it has no claims")
        table.add_row("!" if marked else "", outcome.path, *(f"{n:,}" for n in counts), reason,
                      style="yellow" if marked else "")  # fmt: skip
    if not table.row_count:
        return
    if not STDOUT.is_terminal:  # a line per file, however long
        unbounded = STDOUT.options.update(max_width=UNBOUNDED_WIDTH)
        table.width = Measurement.get(STDOUT, unbounded, table).maximum
    STDOUT.print(table, crop=False)
    STDOUT.print(
        "Read offline. Lead on: markers that lead to an address. Entries: those of the lists of "
        f"references that have one. {format_count(n_marked, 'report')} of {table.row_count} "
        "marked !.",
        style="dim", highlight=False, soft_wrap=True,
    )  # fmt: skip
