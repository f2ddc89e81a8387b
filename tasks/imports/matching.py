"""Files that people have, matched to the assignments they answer: before anything is read."""

from collections.abc import Iterator
from pathlib import Path

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.documents.kinds import KINDS as ENDINGS
from tasks.documents.matching import Known, Match, match_names
from tasks.editions.names import check_edition
from tasks.warehouse.store import Warehouse

REPORTS = "report"
"""A folder of this name may stand between the given one and those of the agents."""


class Given(Frozen):
    """A file, and what it was taken for."""

    agent: str
    path: str
    """Relative to what was imported."""
    file: Path
    match: Match


class Matched(Frozen):
    """What was found under a path."""

    edition: str
    folder: bool
    """Whether a whole folder was given, so that what it does not hold any more is forgotten."""
    given: tuple[Given, ...]


def match_reports(warehouse: Warehouse, path: Path, edition: str, agent: str | None) -> Matched:
    """The files under `path` and the assignments they answer, by agent and name.

    Args:
        agent: Whose they are; None where each agent has a folder of its own.

    Raises:
        UnknownName: no such edition.
        EditionError: no such path, or nothing in it that could be a report.
    """
    check_edition(warehouse, edition)
    known = [
        Known(assignment=row["assignment"], title=row["title"] or "")
        for row in warehouse.frame(
            "SELECT a.assignment, t.title FROM assignments AS a LEFT JOIN articles AS t "
            "ON t.edition = a.edition AND t.article = a.article AND a.kind = 'write_article' "
            "WHERE a.edition = $1 ORDER BY a.assignment",
            [edition],
        ).iter_rows(named=True)
    ]
    if not known:
        raise EditionError(
            f"{edition} has no assignments, so nothing can answer one. Make them with `evergreen "
            f"assign --edition {edition}`."
        )
    given = [
        Given(agent=name, path=_relative(file, path), file=file, match=match)
        for name, files in _files(path, agent)
        for file, match in zip(files, match_names([f.stem for f in files], known), strict=True)
    ]
    return Matched(edition=edition, folder=path.is_dir(), given=tuple(given))


def _files(path: Path, agent: str | None) -> Iterator[tuple[str, list[Path]]]:
    """The report files of each agent."""
    if not path.exists():
        raise EditionError(f"{path}: there is no such file or folder of reports.")
    if agent is not None:
        found = [(agent, [path] if path.is_file() else _listed(path))]
    elif path.is_file():
        raise EditionError(f"{path} is one file: say whose report it is, with --agent.")
    else:
        above = path / REPORTS if (path / REPORTS).is_dir() else path
        folders = sorted(f for f in above.iterdir() if f.is_dir() and not f.name.startswith("."))
        found = [(folder.name, _listed(folder)) for folder in folders]
    if not any(files for _, files in found):
        raise EditionError(
            f"{path} holds no reports; expected files that end in {' '.join(ENDINGS)}"
            + (
                "."
                if agent
                else ", in a folder for each agent; or say whose they are, with --agent."
            )
        )
    yield from found


def _listed(folder: Path) -> list[Path]:
    return sorted(f for f in folder.iterdir() if f.is_file() and not f.name.startswith("."))


def _relative(file: Path, path: Path) -> str:
    return file.name if path.is_file() else file.relative_to(path).as_posix()
