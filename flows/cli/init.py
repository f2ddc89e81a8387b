"""`evergreen init`: a project of one's own."""

from pathlib import Path
from typing import Annotated

import typer

from flows.display.console import print_always, print_message
from tasks.configuration.folders import find_packaged
from tasks.errors import ExpectedError
from tasks.warehouse.rows import utc_now

TEMPLATES = "project"
HIDDEN = {"gitignore": ".gitignore", "env.example": ".env.example"}
"""Templates whose names begin with a dot in a project, where installers would leave them out."""


class FolderInUse(ExpectedError):
    """The folder already has some of the files."""


def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Created if it is missing.")],
) -> None:
    """Make a project of your own: configurations to edit, .gitignore and .env.example."""
    files = list_project_files(folder)
    if there := [str(path) for path in files if path.exists()]:
        raise FolderInUse(
            f"{folder} already has {', '.join(there)}. Nothing was written. Name a new folder."
        )
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        print_always(str(path))
    edition = f"{utc_now():%Y-%m}"
    print_message(
        "Edit configs/ (agents.yaml first). Next:\n"
        f"  cd {folder}\n"
        "  evergreen demo                          see a whole evaluation, without a key\n"
        f"  evergreen collect --edition {edition}     your first edition, from Wikipedia\n"
        "  evergreen doctor                        what is still missing"
    )


def list_project_files(folder: Path) -> dict[Path, str]:
    """Return each file of a new project, with its text."""
    templates = find_packaged(TEMPLATES)
    files = {}
    for path in sorted(filter(Path.is_file, templates.rglob("*"))):
        shown = path.with_name(HIDDEN.get(path.name, path.name))
        files[folder / shown.relative_to(templates)] = path.read_text("utf-8")
    return files
