"""Agents that people run by hand: write prompts into a folder, import reports from it."""

from collections.abc import Sequence
from pathlib import Path

from tasks.agents.kinds.file_drop import FileDropAsk
from tasks.benchmarks.errors import EditionError
from tasks.files.opening import list_files, resolve_within
from tasks.imports.matching import match_reports
from tasks.imports.reports import FileOutcome, import_reports
from tasks.jobs.pending import PendingReport
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
    if folder.is_dir() and list_files(folder):
        summary = import_reports(warehouse, match_reports(warehouse, folder, edition, agent))
        left = [o for o in summary.outcomes if o.outcome in ("left out", "unreadable")]
    taken = set(
        warehouse.frame(
            "SELECT assignment FROM reports WHERE edition = $1 AND agent = $2", [edition, agent]
        )["assignment"]
    )
    try:
        (folder / PROMPTS).mkdir(parents=True, exist_ok=True)
        prompts = resolve_within(folder / PROMPTS, folder)
        for item in missing:
            name = item.assignment.replace("/", "_").lstrip(".")
            prompt = prompts / f"{name}.md"
            prompt.unlink(missing_ok=True)
            if item.assignment not in taken:
                with prompt.open("x", encoding="utf-8") as file:  # follows no link
                    file.write(item.prompt)
    except OSError as error:
        raise EditionError(
            f"{folder}: prompts cannot be written there ({error.strerror or error}). Choose "
            f"another `folder` for {agent} in configs/agents.yaml."
        ) from error
    return left
