"""Whether a site shows already what would be published: then nothing is to be written."""

import json
from collections.abc import Sequence
from pathlib import Path

from tasks.publishing.downloads import TABLES
from tasks.site.mark import MARK, real
from tasks.warehouse.rows import content_sha
from tasks.warehouse.store import Readable

COMPARED = ("leaderboard", "scores")
"""The tables by which it is known: every figure, and every report's scores with the ids of the
cells that they rest on. Another version of the site's pages does not make it another site."""
RANKED = "SELECT DISTINCT judge FROM leaderboard WHERE edition = $1"


def is_published(source: Readable, edition: str, to: Path, judges: Sequence[str] = ()) -> bool:
    """Whether the folder holds a whole site of this edition with the figures that there are now.

    judges: of whom figures are wanted; of everyone if empty.
    """
    folder = real(to)
    shown = _judges_of(folder, edition)
    wanted = {*judges} or {*source.frame(RANKED, [edition])["judge"]}
    if not wanted or {*shown} != wanted:
        return False
    return all(_as_now(source, folder, name, edition, shown) for name in COMPARED)


def published_message(edition: str, folder: str) -> str:
    """That a site shows the figures that there are now."""
    return f"{edition} is published in {folder} as it is now."


def _judges_of(folder: Path, edition: str) -> list[str]:
    """Whose figures a site of this edition shows; none where it is none, or not whole."""
    try:
        mark = json.loads((folder / MARK).read_text("utf-8"))
        whole = mark["edition"] == edition and not mark.get("unfinished")
        return [str(judge) for judge in mark["judges"]] if whole else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _as_now(
    source: Readable, folder: Path, table: str, edition: str, judges: Sequence[str]
) -> bool:
    written = source.frame(TABLES[table][1], [edition, list(judges)]).write_csv().encode()
    try:
        return (folder / f"data/{table}.csv").read_bytes() == written
    except OSError:
        return False


def figures_sha(source: Readable, edition: str, judges: Sequence[str] = ()) -> str:
    """What stands for the figures that would be published now, of these judges or of everyone."""
    wanted = sorted({*judges} or {*source.frame(RANKED, [edition])["judge"]})
    board = source.frame(TABLES["leaderboard"][1], [edition, wanted])
    return content_sha(board.write_csv())[:16]
