"""Matching of report files to assignments by their names, before they are read."""

from collections.abc import Iterator
from pathlib import Path

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.documents.kinds import KINDS as ENDINGS
from tasks.documents.matching import AssignmentName, FileMatch, match_names
from tasks.editions.names import check_edition
from tasks.warehouse.store import Warehouse

REPORTS = "report"
"""A folder of this name may be between the given folder and the agents' folders."""


class MatchedFile(Frozen):
    """A file with the assignment that it matches."""

    agent: str
    path: str
    """The path in the imported folder."""
    file: Path
    match: FileMatch


class MatchedFiles(Frozen):
    """The files under a path."""

    edition: str
    folder: bool
    """Whether the path is a folder; then import issues of files no longer in it are removed."""
    files: tuple[MatchedFile, ...]


def match_reports(
    warehouse: Warehouse, path: Path, edition: str, agent: str | None
) -> MatchedFiles:
    """Match the files under `path` to assignments, by agent and name.

    Args:
        agent: the agent of all files; None if each agent has a folder of its own.

    Raises:
        UnknownName: no such edition.
        EditionError: no such path, or no report files in it.
    """
    check_edition(warehouse, edition)
    known = [
        AssignmentName(assignment=row["assignment"], title=row["title"] or "")
        for row in warehouse.frame(
            "SELECT a.assignment, t.title FROM assignments AS a LEFT JOIN articles AS t "
            "ON t.edition = a.edition AND t.article = a.article AND a.kind = 'write_article' "
            "WHERE a.edition = $1 ORDER BY a.assignment",
            [edition],
        ).iter_rows(named=True)
    ]
    if not known:
        raise EditionError(
            f"{edition} has no assignments. Make them with `evergreen assign --edition {edition}` "
            "first."
        )
    files = [
        MatchedFile(agent=name, path=_relative_path(file, path), file=file, match=match)
        for name, paths in _find_files(path, agent)
        for file, match in zip(paths, match_names([f.stem for f in paths], known), strict=True)
    ]
    return MatchedFiles(edition=edition, folder=path.is_dir(), files=tuple(files))


def _find_files(path: Path, agent: str | None) -> Iterator[tuple[str, list[Path]]]:
    """Find the report files of each agent."""
    if not path.exists():
        raise EditionError(f"{path}: there is no such file or folder of reports.")
    if agent is not None:
        found = [(agent, [path] if path.is_file() else _list_files(path))]
    elif path.is_file():
        raise EditionError(f"{path} is a file: name the report's agent with --agent.")
    else:
        above = path / REPORTS if (path / REPORTS).is_dir() else path
        folders = sorted(f for f in above.iterdir() if f.is_dir() and not f.name.startswith("."))
        found = [(folder.name, _list_files(folder)) for folder in folders]
    if not any(files for _, files in found):
        raise EditionError(
            f"{path} has no reports; expected files that end in {' '.join(ENDINGS)}"
            + ("." if agent else ", in a folder for each agent. Or name the agent with --agent.")
        )
    yield from found


def _list_files(folder: Path) -> list[Path]:
    return sorted(f for f in folder.iterdir() if f.is_file() and not f.name.startswith("."))


def _relative_path(file: Path, path: Path) -> str:
    return file.name if path.is_file() else file.relative_to(path).as_posix()
