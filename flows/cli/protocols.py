"""`evergreen protocols`: what each protocol measures, and where it differs from its paper."""

from typing import Annotated

import polars as pl
import typer

from flows.cli.options import FormatOption
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.configuration.models import MetricEntry, ProtocolEntry, load_protocol
from tasks.editions.names import UnknownName
from tasks.protocols.registry import PROTOCOLS


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
    metrics = load_protocol(name).metrics
    print_frame(pl.DataFrame([_describe_metric(metric) for metric in metrics]), form)


def _describe(entry: ProtocolEntry) -> dict[str, object]:
    return {
        "protocol": entry.name,
        "title": entry.title,
        "version": entry.version,
        "metrics": len(entry.metrics),
        "source": entry.source,
        "pairs": entry.pairs or "–",
    }


def _describe_metric(metric: MetricEntry) -> dict[str, object]:
    return {
        "metric": metric.name,
        "equation": metric.equation,
        "denominator": metric.denominator,
        "undecided": metric.undecided,
        "differs": " ".join(metric.differs) or "–",
    }
