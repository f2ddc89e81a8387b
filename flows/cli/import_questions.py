"""`evergreen import livedrbench` and `evergreen import answers`: questions, and answers to them."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import WarehouseAt
from flows.cli.warehouse import existing_warehouse
from flows.display.console import remark
from tasks.imports.questions import import_answers, import_questions
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.store import open_warehouse


def import_livedrbench(
    path: Annotated[Path, typer.Argument(help="Your copy: a JSON, JSON lines or Parquet file.")],
    edition: Annotated[
        str | None, typer.Option(help="What to call it; the file's name if not given.")
    ] = None,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Import questions in LiveDRBench's published format; again changes nothing."""
    name = edition or path.resolve().stem
    with open_warehouse(warehouse, on_wait=remark) as store:
        summary = import_questions(store, path, name)
    remark(
        f"{name}: {summary.questions} questions in {len(summary.categories)} categories, "
        f"{summary.claims:,} true claims."
    )
    remark(f"Next: evergreen import answers PATH --agent AGENT --edition {name}")


def import_agent_answers(
    path: Annotated[
        Path, typer.Argument(help="Predictions (key, preds) as JSON, or a folder of <key> files.")
    ],
    agent: Annotated[str, typer.Option("--agent", help="Whose answers they are.")],
    edition: Annotated[str, typer.Option("--edition", help="An edition with questions.")],
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Import one agent's answers to an edition's questions; again changes nothing."""
    with existing_warehouse(warehouse) as store:
        summary = import_answers(store, path, edition, agent)
    remark(f"{edition}: {summary.answers} answers of {agent} ({summary.new} new or changed).")
    if summary.unknown:
        shown = ", ".join(summary.unknown[:5])
        remark(f"{len(summary.unknown)} keys are no questions of {edition}: {shown}")
    if summary.unanswered:
        remark(
            f"{summary.unanswered} questions of {edition} have no answer there: they are not "
            "scored for this agent. An empty answer would be, with 0."
        )
    remark(f"Next: evergreen evaluate --edition {edition} --judge JUDGE")
