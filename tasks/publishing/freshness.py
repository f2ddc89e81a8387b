"""Check whether a site shows the current figures already: then it need not be written."""

import json
from collections.abc import Sequence
from pathlib import Path

from tasks.base import Frozen
from tasks.editions.refresh import load_refresh
from tasks.publishing.downloads import TABLES
from tasks.site.mark import MARK, resolve_link
from tasks.spreadsheets import format_csv
from tasks.warehouse.rows import content_sha
from tasks.warehouse.store import Readable

PUBLISHED = """
SELECT folder, judges FROM publications WHERE is_written AND edition = $1 ORDER BY published_at
"""
COMPARED = ("leaderboard", "scores")
"""The tables to compare: every figure, and every report's scores with the ids of their cells. A new
version of the site's templates does not make a site outdated."""
RANKED = "SELECT DISTINCT judge FROM leaderboard WHERE edition = $1"


class PublishedSite(Frozen):
    """A site of an edition."""

    folder: str
    judges: tuple[str, ...] = ()
    """The judges whose figures it was to show; all if empty."""


def find_sites(source: Readable, edition: str) -> list[PublishedSite]:
    """Return the edition's sites that `publish` or `refresh` has written and that are still there,
    the last one at the end."""
    written = source.frame(PUBLISHED, [edition]).iter_rows()
    sites = [
        PublishedSite(folder=folder, judges=json.loads(judges) or ()) for folder, judges in written
    ]
    if monthly := load_refresh().publish:
        folder = monthly.to.format(edition=edition)
        sites.insert(0, PublishedSite(folder=folder, judges=monthly.judges))
    last = {site.folder: site for site in sites}
    return [
        site for site in last.values() if _read_judges(resolve_link(Path(site.folder)), edition)
    ]


def is_current(source: Readable, edition: str, to: Path, judges: Sequence[str] = ()) -> bool:
    """Return whether the folder holds a complete site of this edition with the current figures.

    judges: the judges whose figures it must show; all if empty.
    """
    folder = resolve_link(to)
    on_site = _read_judges(folder, edition)
    wanted = {*judges} or {*source.frame(RANKED, [edition])["judge"]}
    if not wanted or {*on_site} != wanted:
        return False
    return all(_matches_table(source, folder, name, edition, on_site) for name in COMPARED)


def describe_current(edition: str, folder: str) -> str:
    """Return a message that the site shows the current figures."""
    return f"The site of {edition} in {folder} is up to date."


def _read_judges(folder: Path, edition: str) -> list[str]:
    """Read the judges of a complete site of this edition; else none."""
    try:
        mark = json.loads((folder / MARK).read_text("utf-8"))
        whole = mark["edition"] == edition and not mark.get("unfinished")
        return [str(judge) for judge in mark["judges"]] if whole else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _matches_table(
    source: Readable, folder: Path, table: str, edition: str, judges: Sequence[str]
) -> bool:
    current = source.frame(TABLES[table][1], [edition, list(judges)])
    try:
        return (folder / f"data/{table}.csv").read_bytes() == format_csv(current).encode()
    except OSError:
        return False


def hash_figures(source: Readable, edition: str, judges: Sequence[str] = ()) -> str:
    """Hash the current figures of these judges, or of all if empty."""
    wanted = sorted({*judges} or {*source.frame(RANKED, [edition])["judge"]})
    board = source.frame(TABLES["leaderboard"][1], [edition, wanted])
    return content_sha(board.write_csv())[:16]
