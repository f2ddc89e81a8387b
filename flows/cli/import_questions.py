"""`evergreen import livedrbench` and `evergreen import answers`: import questions and answers."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import WarehouseOption
from flows.cli.warehouse import open_existing_warehouse
from flows.display.console import print_message
from tasks.imports.questions import import_answers, import_questions
from tasks.warehouse.location import DEFAULT_LOCATION
from tasks.warehouse.store import open_warehouse


def import_livedrbench(
    path: Annotated[Path, typer.Argument(help="Your copy: a JSON, JSON lines or Parquet file.")],
    edition: Annotated[
        str | None, typer.Option(help="The edition's name; the file's name if not given.")
    ] = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Import questions in LiveDRBench's published format; idempotent."""
    name = edition or path.resolve().stem
    with open_warehouse(warehouse, on_wait=print_message) as store:
        summary = import_questions(store, path, name)
    print_message(
        f"{name}: {summary.questions} questions in {len(summary.categories)} categories, "
        f"{summary.claims:,} true claims."
    )
    print_message(f"Next: evergreen import answers PATH --agent AGENT --edition {name}")


def import_agent_answers(
    path: Annotated[
        Path, typer.Argument(help="Predictions (key, preds) as JSON, or a folder of <key> files.")
    ],
    agent: Annotated[str, typer.Option("--agent", help="The agent that gave the answers.")],
    edition: Annotated[str, typer.Option("--edition", help="An edition with questions.")],
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Import one agent's answers to an edition's questions; idempotent."""
    with open_existing_warehouse(warehouse) as store:
        summary = import_answers(store, path, edition, agent)
    print_message(
        f"{edition}: {summary.answers} answers of {agent} ({summary.new} new or changed)."
    )
    if summary.unknown:
        shown = ", ".join(summary.unknown[:5])
        print_message(f"{len(summary.unknown)} keys match no question of {edition}: {shown}")
    if summary.unanswered:
        print_message(
            f"{summary.unanswered} questions of {edition} have no answer: they are not scored for "
            "this agent. An empty answer would score 0."
        )
    print_message(f"Next: evergreen evaluate --edition {edition} --judge JUDGE")
