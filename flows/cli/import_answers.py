"""`evergreen import answers`: import answers to questions."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import WarehouseOption
from flows.cli.warehouse import open_existing_warehouse
from flows.display.console import print_message
from tasks.imports.answers import import_answers
from tasks.warehouse.location import DEFAULT_LOCATION


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
