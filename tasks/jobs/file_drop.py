"""Agents that somebody asks by hand: prompts laid out in a folder, reports taken from it."""

from collections.abc import Sequence
from pathlib import Path

from tasks.benchmarks.errors import EditionError
from tasks.configuration.agents import FileDropAsk
from tasks.imports.matching import match_reports
from tasks.imports.reports import FileOutcome, import_reports
from tasks.pending.reports import Unreported
from tasks.warehouse.store import Warehouse

PROMPTS = "prompts"
"""The folder within an agent's folder that holds what it is to be asked."""


def take_dropped(
    warehouse: Warehouse, edition: str, agent: str, ask: FileDropAsk, missing: Sequence[Unreported]
) -> list[FileOutcome]:
    """Take the reports that lie in an agent's folder, and lay out the prompts of the others.

    Returns:
        What could not be taken.

    Raises:
        EditionError: the folder cannot be made.
    """
    folder = Path(ask.folder)
    left: list[FileOutcome] = []
    if folder.is_dir() and any(file.is_file() for file in folder.iterdir()):
        summary = import_reports(warehouse, match_reports(warehouse, folder, edition, agent))
        left = [o for o in summary.outcomes if o.outcome in ("left out", "unreadable")]
    taken = set(
        warehouse.frame(
            "SELECT assignment FROM reports WHERE edition = $1 AND agent = $2", [edition, agent]
        )["assignment"]
    )
    try:
        (folder / PROMPTS).mkdir(parents=True, exist_ok=True)
        for item in missing:
            prompt = folder / PROMPTS / f"{file_name(item.assignment)}.md"
            if item.assignment in taken:
                prompt.unlink(missing_ok=True)
            else:
                prompt.write_text(item.prompt, "utf-8")
    except OSError as error:
        raise EditionError(
            f"{folder}: prompts cannot be laid out there ({error.strerror or error}). Choose "
            f"another `folder` for {agent} in configs/agents.yaml."
        ) from error
    return left


def file_name(assignment: str) -> str:
    """An assignment's id as the name of a file."""
    return assignment.replace("/", "_").lstrip(".")
