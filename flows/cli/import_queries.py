"""`evergreen import drgym|drb2|rigorous|deepresearch_bench`: published research queries, with
what their reports are measured by."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import WarehouseAt
from flows.display.console import remark
from tasks.benchmarks import deepresearch_bench, drb2, drgym, rigorous
from tasks.configuration.models import load_protocol
from tasks.imports.queries import PublishedSet, QueriesSummary, import_queries
from tasks.protocols.rigorous_parameters import RigorousParameters
from tasks.protocols.versions import checked_parameters
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.store import open_warehouse

GYM = PublishedSet(layout=drgym.LAYOUT, title="DeepResearchGym")
BENCH_2 = PublishedSet(
    layout=drb2.LAYOUT, title="DeepResearch Bench II", protocol=drb2.PROTOCOL
)  # fmt: skip
RIGOROUS = PublishedSet(
    layout=rigorous.LAYOUT, title="Rigorous Bench", protocol=rigorous.PROTOCOL
)  # fmt: skip
BENCH = PublishedSet(
    layout=deepresearch_bench.LAYOUT,
    title="DeepResearch Bench",
    protocol=deepresearch_bench.PROTOCOL,
)
SHOWN = 5
EditionName = Annotated[
    str | None,
    typer.Option("--edition", help="What to call it; as the file or folder if not given."),
]


def import_drgym(
    path: Annotated[
        Path,
        typer.Argument(
            help="Your copy: a folder with queries.jsonl and key_points.jsonl, the published "
            "folder key_point, or a file of Researchy Questions."
        ),
    ],
    edition: EditionName = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Of Researchy Questions: how many, by clicked documents; "
            f"{drgym.TOP:,} if not given, as published.",
        ),
    ] = None,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Import DeepResearchGym's queries with their key points; again changes nothing."""
    name = edition or path.resolve().stem
    found = drgym.read_drgym(path, top)
    with open_warehouse(warehouse, on_wait=remark) as store:
        summary = import_queries(store, GYM, found.queries, name)
    remark(f"{name}: {_counted(summary, found.known)}")
    _say_next(name, "<id>.md")


def import_drb2(
    path: Annotated[Path, typer.Argument(help="Your copy of tasks_and_rubrics.jsonl.")],
    edition: EditionName = None,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Import DeepResearch Bench II's tasks with their rubrics; again changes nothing."""
    name = edition or path.resolve().stem
    tasks = drb2.read_drb2(path)
    with open_warehouse(warehouse, on_wait=remark) as store:
        summary = import_queries(store, BENCH_2, tasks, name)
    languages = sorted({str(task.settings.language) for task in tasks})
    remark(
        f"{name}: {summary.queries} tasks ({summary.new} new) in {', '.join(languages)}, with "
        f"{summary.items:,} items to be checked."
    )
    _say_next(name, "idx-12.md, .docx, .pdf, …")


def import_rigorous(
    path: Annotated[
        Path, typer.Argument(help="Your copy: a JSON file, or JSON lines with an entry each.")
    ],
    edition: EditionName = None,
    general: Annotated[
        Path | None,
        typer.Option(help="The JSON file with the general rubrics (`grr`), if PATH has none."),
    ] = None,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Import queries in Rigorous Bench's published format; again changes nothing."""
    name = edition or path.resolve().stem
    settings = checked_parameters(load_protocol(rigorous.PROTOCOL), RigorousParameters)
    queries = rigorous.read_rigorous(path, settings.domains, general)
    with open_warehouse(warehouse, on_wait=remark) as store:
        summary = import_queries(store, RIGOROUS, queries, name)
    themes = sorted({str(query.settings.theme) for query in queries})
    common = sum(item.dimension == rigorous.GENERAL for item in queries[0].items)
    remark(
        f"{name}: {summary.queries} queries ({summary.new} new) with "
        f"{summary.items - common * summary.queries:,} rubrics of their own and {common} general "
        f"ones, in {len(themes)} domains: {', '.join(themes)}."
    )
    _say_next(name, "<uid>.md")


def import_deepresearch_bench(
    path: Annotated[Path, typer.Argument(help="Your clone of the repository, or its data folder.")],
    edition: Annotated[
        str | None,
        typer.Option("--edition", help="What to call it; deepresearch_bench if not given."),
    ] = None,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Import DeepResearch Bench's tasks, criteria and references; again changes nothing."""
    name = edition or deepresearch_bench.LAYOUT
    tasks = deepresearch_bench.read_deepresearch_bench(path)
    with open_warehouse(warehouse, on_wait=remark) as store:
        summary = import_queries(store, BENCH, tasks, name)
    remark(
        f"{name}: {summary.queries} tasks ({summary.new} new), {summary.items:,} criteria, "
        f"{sum(task.reference is not None for task in tasks)} references."
    )
    _say_without("a reference: RACE cannot score them", [t.key for t in tasks if not t.reference])
    _say_without("criteria: RACE takes general ones", [t.key for t in tasks if not t.items])
    _say_next(name, "<id>.md")


def _counted(summary: QueriesSummary, known: int) -> str:
    queries = f"{summary.queries:,} queries"
    if known > summary.queries:
        queries = f"{summary.queries:,} of {known:,} queries, those with the most clicked documents"
    if not summary.points:
        points = "No key points came with them, so there will be no recall of any."
    else:
        points = f"Their key points: {summary.points:,}."
    if summary.without_points:
        points += f" Queries without any (no recall of them): {summary.without_points:,}."
    return f"{queries} ({summary.new:,} new). {points}"


def _say_without(what: str, keys: list[str]) -> None:
    if keys:
        shown = ", ".join(keys[:SHOWN]) + (" …" if len(keys) > SHOWN else "")
        remark(f"{len(keys)} without {what} ({shown}).", "yellow")


def _say_next(name: str, files: str) -> None:
    """How reports come to the queries. files: what they are called."""
    remark(f"Next: evergreen ask AGENT --edition {name}, or reports that you have, in a folder")
    remark(f"      for each agent ({files}): evergreen import reports PATH --edition {name}")
