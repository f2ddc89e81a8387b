"""Agents that people run by hand: write prompts into a folder, import reports from it."""

from collections.abc import Sequence
from pathlib import Path

from tasks.benchmarks.errors import EditionError
from tasks.configuration.agents import FileDropAsk
from tasks.imports.matching import match_reports
from tasks.imports.reports import FileOutcome, import_reports
from tasks.pending.reports import PendingReport
from tasks.warehouse.store import Warehouse

PROMPTS = "prompts"
"""Subfolder of an agent's folder that holds its prompts."""


def exchange_files(
    warehouse: Warehouse,
    edition: str,
    agent: str,
    ask: FileDropAsk,
    missing: Sequence[PendingReport],
) -> list[FileOutcome]:
    """Import the reports in an agent's folder and write the prompts of the missing ones.

    Returns:
        The files that could not be imported.

    Raises:
        EditionError: the folder cannot be written.
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
            prompt = folder / PROMPTS / f"{prompt_file_name(item.assignment)}.md"
            if item.assignment in taken:
                prompt.unlink(missing_ok=True)
            else:
                prompt.write_text(item.prompt, "utf-8")
    except OSError as error:
        raise EditionError(
            f"{folder}: prompts cannot be written there ({error.strerror or error}). Choose "
            f"another `folder` for {agent} in configs/agents.yaml."
        ) from error
    return left


def prompt_file_name(assignment: str) -> str:
    """Return an assignment's id as a file name."""
    return assignment.replace("/", "_").lstrip(".")
