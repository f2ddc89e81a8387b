"""`evergreen protocols`: what each protocol measures, and where it differs from its paper."""

from typing import Annotated

import polars as pl
import typer
from rich.padding import Padding
from rich.text import Text

from flows.cli.options import FormatOption
from flows.display.console import STDOUT, print_result
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.configuration.models import MetricEntry, Missing, ProtocolEntry, load_protocol
from tasks.editions.names import UnknownName
from tasks.errors import suggest_names
from tasks.protocols.registry import PROTOCOLS, get_protocol
from tasks.scoring.board_notes import describe_missing


def list_protocols(
    name: Annotated[
        str | None,
        typer.Argument(metavar="PROTOCOL", help="Its metrics. All protocols if not given."),
    ] = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """Describe the protocols, or how one defines its metrics and differs from its paper."""
    if name is None:
        frame = pl.DataFrame([_describe(load_protocol(each)) for each in sorted(PROTOCOLS)])
        print_frame(frame.drop("pairs") if form is Format.TABLE else frame, form)
        return
    if name not in PROTOCOLS:
        raise UnknownName(
            f"There is no protocol {name!r}. {suggest_names(name, sorted(PROTOCOLS))}"
        )
    entry = load_protocol(name)
    if form is Format.TABLE:  # in words: its cells would be too narrow to read
        _print_protocol(entry)
        return
    rows = [_describe_metric(metric, entry.missing) for metric in entry.metrics]
    print_frame(pl.DataFrame(rows), form)


def _print_protocol(entry: ProtocolEntry) -> None:
    print_result(f"{entry.title} ({entry.name}), version {entry.version}", style="bold")
    print_result(f"Source: {entry.source}.")
    if entry.pairs:
        print_result(f"Pairs of claim and URL: {entry.pairs}")
    print_result(f"Refused items, worst to best: {get_protocol(entry.name).bounds.describe()}")
    for metric in entry.metrics:
        print_result(f"\n{metric.title} ({metric.name})", style="bold")
        differs = [f"- {each}" for each in metric.differs] or ["- none known"]
        lines = (
            metric.description,
            f"Equation: {metric.equation}",
            f"Denominator: {metric.denominator}",
            f"Missing report: {describe_missing(metric, entry.missing)}",
            f"Failed items: {metric.undecided}",
            "Differences from the paper and its code:",
            *differs,
        )
        STDOUT.print(Padding(Text("\n".join(lines)), (0, 0, 0, 2), expand=False))


def _describe(entry: ProtocolEntry) -> dict[str, object]:
    return {
        "protocol": entry.name,
        "title": entry.title,
        "version": entry.version,
        "metrics": len(entry.metrics),
        "source": entry.source,
        "pairs": entry.pairs or "–",
    }


def _describe_metric(metric: MetricEntry, missing: Missing) -> dict[str, object]:
    return {
        "metric": metric.name,
        "equation": metric.equation,
        "denominator": metric.denominator,
        "undecided": metric.undecided,
        "missing": describe_missing(metric, missing),
        "differs": " ".join(metric.differs) or "–",
    }
