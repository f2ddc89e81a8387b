"""`evergreen import drgym|drb2|drb|rigorous|livedrbench`: published queries and
questions with what reports on them are judged by; `evergreen import wlc`: a published edition with
all its pages."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.hints import describe_next_step
from flows.cli.options import AgentsOption, WarehouseOption
from flows.display.console import print_message, transient_progress
from tasks.base import format_count
from tasks.benchmarks import deepresearch_bench, drb2, drgym, livedrbench, rigorous
from tasks.benchmarks.research import PublishedQuery, PublishedSet
from tasks.configuration.models import load_protocol
from tasks.imports.queries import QueriesSummary, import_queries
from tasks.imports.wlc import import_edition
from tasks.protocols.declarations import parse_parameters
from tasks.protocols.rigorous.parameters import RigorousParameters
from tasks.warehouse.location import DEFAULT_LOCATION, Location
from tasks.warehouse.store import open_warehouse

MAX_SHOWN = 5
EditionName = Annotated[
    str | None,
    typer.Option("--edition", help="The edition's name; that of the file or folder if not given."),
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
            help="How many Researchy Questions to take, by clicked documents; "
            f"{drgym.TOP:,} if not given, as published.",
        ),
    ] = None,
    documents: Annotated[
        Path | None,
        typer.Option(
            help="A file of Researchy Questions with the documents that people clicked, of which "
            "key points are made where none are published. Not needed if PATH is such a file."
        ),
    ] = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Import DeepResearchGym's queries with their key points; idempotent."""
    name = edition or path.resolve().stem
    found = drgym.read_drgym(path, top)
    queries = found.queries
    if documents:
        clicked = drgym.read_clicked_documents(documents)
        queries = tuple(
            query.model_copy(update={"documents": clicked.get(query.key, query.documents)})
            for query in queries
        )
    summary = _import(warehouse, drgym.SET, queries, name)
    print_message(f"{name}: {_format_counts(summary, found.n_available)}")
    _print_next_step(name, "<id>.md")


def import_drb2(
    path: Annotated[Path, typer.Argument(help="Your copy of tasks_and_rubrics.jsonl.")],
    edition: EditionName = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Import DeepResearch Bench II's tasks with their rubrics; idempotent."""
    name = edition or path.resolve().stem
    tasks = drb2.read_drb2(path)
    summary = _import(warehouse, drb2.SET, tasks, name)
    languages = sorted({str(task.settings.language) for task in tasks})
    print_message(
        f"{name}: {format_count(summary.queries, 'task')} ({summary.new} new) in "
        f"{', '.join(languages)}, with {format_count(summary.items, 'rubric item')}."
    )
    _print_next_step(name, "idx-12.md, .docx, .pdf, …")


def import_rigorous(
    path: Annotated[
        Path, typer.Argument(help="Your copy: a JSON file, or JSON lines with an entry each.")
    ],
    edition: EditionName = None,
    general: Annotated[
        Path | None,
        typer.Option(help="The JSON file with the general rubrics (`grr`), if PATH has none."),
    ] = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Import queries in Rigorous Bench's published format; idempotent."""
    name = edition or path.resolve().stem
    settings = parse_parameters(load_protocol(rigorous.PROTOCOL), RigorousParameters)
    queries = rigorous.read_rigorous(path, settings.domains, general)
    summary = _import(warehouse, rigorous.SET, queries, name)
    themes = sorted({str(query.settings.theme) for query in queries})
    common = sum(item.dimension == rigorous.GENERAL for item in queries[0].items)
    print_message(
        f"{name}: {format_count(summary.queries, 'query', 'queries')} ({summary.new} new) with "
        f"{summary.items - common * summary.queries:,} rubrics of their own and {common} general "
        f"ones, in {len(themes)} domains: {', '.join(themes)}."
    )
    _print_next_step(name, "<uid>.md")


def import_drb(
    path: Annotated[Path, typer.Argument(help="Your clone of the repository, or its data folder.")],
    edition: Annotated[
        str | None, typer.Option(help="The edition's name; deepresearch_bench if not given.")
    ] = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Import DeepResearch Bench's tasks, criteria and references; idempotent."""
    name = edition or deepresearch_bench.SET.layout
    tasks = deepresearch_bench.read_deepresearch_bench(path)
    summary = _import(warehouse, deepresearch_bench.SET, tasks, name)
    print_message(
        f"{name}: {format_count(summary.queries, 'task')} ({summary.new} new), "
        f"{summary.items:,} criteria, "
        f"{format_count(sum(task.reference is not None for task in tasks), 'reference')}."
    )
    _print_without("a reference: RACE cannot score them", [t.key for t in tasks if not t.reference])
    _print_without("criteria: RACE takes general ones", [t.key for t in tasks if not t.items])
    _print_next_step(name, "<id>.md")


def import_livedrbench(
    path: Annotated[Path, typer.Argument(help="Your copy: a JSON, JSON lines or Parquet file.")],
    edition: Annotated[
        str | None, typer.Option(help="The edition's name; the file's name if not given.")
    ] = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Import questions in LiveDRBench's published format; idempotent."""
    name = edition or path.resolve().stem
    questions = livedrbench.read_livedrbench(path)
    summary = _import(warehouse, livedrbench.SET, questions, name)
    categories = {question.truth.category for question in questions if question.truth}
    print_message(
        f"{name}: {format_count(summary.queries, 'question')} in "
        f"{format_count(len(categories), 'category', 'categories')}, "
        f"{format_count(summary.claims, 'true claim')}."
    )
    print_message(f"Next: evergreen import reports PATH --agent AGENT --edition {name}")


def _import(
    warehouse: Location, published: PublishedSet, queries: Sequence[PublishedQuery], edition: str
) -> QueriesSummary:
    with open_warehouse(warehouse, on_wait=print_message) as store:
        return import_queries(store, published, queries, edition)


def _format_counts(summary: QueriesSummary, known: int) -> str:
    queries = format_count(summary.queries, "query", "queries")
    if known > summary.queries:
        queries = f"{summary.queries:,} of {known:,} queries, those with the most clicked documents"
    if not summary.points and summary.documents:
        points = (
            f"Their {summary.documents:,} clicked documents: `evergreen fetch` gets them, and a "
            "judge that calls a model makes key points of them."
        )
    elif not summary.points:
        points = "They have no key points, so there will be no recall."
    else:
        points = f"Their key points: {summary.points:,}."
    if summary.without_points:
        points += f" Queries without any (no recall): {summary.without_points:,}."
    return f"{queries} ({summary.new:,} new). {points}"


def _print_without(what: str, keys: list[str]) -> None:
    if keys:
        shown = ", ".join(keys[:MAX_SHOWN]) + (" …" if len(keys) > MAX_SHOWN else "")
        print_message(f"{len(keys)} without {what} ({shown}).", "yellow")


def _print_next_step(name: str, files: str) -> None:
    """Print how to get reports. files: the names of their files."""
    print_message(
        f"Next: evergreen ask --agent AGENT --edition {name}, or reports that you have, in a folder"
    )
    print_message(f"      for each agent ({files}): evergreen import reports PATH --edition {name}")


def import_wlc(
    path: Annotated[Path, typer.Argument(help="The edition's folder (wiki_data, test_data).")],
    edition: Annotated[
        str | None, typer.Option(help="The edition's name; the folder's name if not given.")
    ] = None,
    agent: AgentsOption = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Import an edition in the published Wiki Live Challenge layout; idempotent."""
    name = edition or path.resolve().name
    bars = transient_progress()
    with open_warehouse(warehouse, on_wait=print_message) as store, bars:
        bar = bars.add_task(f"import {name}", total=None)

        def on_progress(agent_id: str, done: int, total: int) -> None:
            bars.update(bar, completed=done, total=total, description=f"import {agent_id}")

        summary = import_edition(store, path, name, agent or [], on_progress)
        issues = store.frame(
            "SELECT severity, path, message FROM import_issues WHERE edition = $1 "
            "AND severity = 'unreadable' ORDER BY path",
            [name],
        )
        next_step = describe_next_step(store, name)
    print_message(
        f"{name}: {format_count(summary.articles, 'article')}, "
        f"{format_count(summary.facts, 'fact')}, {format_count(summary.agents, 'agent')}, "
        f"{format_count(summary.reports, 'report')} ({summary.new_reports} new or changed), "
        f"{format_count(summary.claims, 'published claim')}, "
        f"{format_count(summary.pages, 'page')}.",
    )
    for row in issues.iter_rows(named=True):
        print_message(f"not read: {row['path']}: {row['message']}", style="red")
    if summary.remarks:
        print_message(
            f'{format_count(summary.remarks, "remark")}: evergreen sql "SELECT kind, path, '
            f"message FROM import_issues WHERE edition = '{name}'\"",
            style="dim",
        )
    print_message(next_step)
