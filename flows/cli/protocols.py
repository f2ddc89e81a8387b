"""`evergreen protocols`: what each protocol measures, and where it differs from its paper."""

from typing import Annotated

import polars as pl
import typer

from flows.cli.options import FormatOption
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.configuration.models import MetricEntry, Missing, ProtocolEntry, load_protocol
from tasks.editions.names import UnknownName
from tasks.protocols.registry import PROTOCOLS
from tasks.scoring.board_notes import describe_missing


def list_protocols(
    name: Annotated[
        str | None, typer.Argument(help="A protocol: its metrics. All of them if not given.")
    ] = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """Describe the protocols, or how one defines its metrics and differs from its paper."""
    if name is None:
        entries = [load_protocol(each) for each in PROTOCOLS]
        print_frame(pl.DataFrame([_describe(entry) for entry in entries]), form)
        return
    if name not in PROTOCOLS:
        raise UnknownName(f"There is no protocol {name!r}; known: {', '.join(PROTOCOLS)}.")
    entry = load_protocol(name)
    rows = [_describe_metric(metric, entry.missing) for metric in entry.metrics]
    print_frame(pl.DataFrame(rows), form)


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
