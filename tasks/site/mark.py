"""The mark of a site, and which folders a site may be written into."""

import json
import os
from pathlib import Path, PurePosixPath

from tasks.errors import ExpectedError

MARK = "site.json"
"""The file at a site's root that says it is one, with the sha-256 of every file."""
OURS = ".evergreen-"
"""How the names begin of what a run keeps in a folder while it writes there."""


class UnwritableSite(ExpectedError):
    """The folder cannot be made, or holds something else; the message says what to do."""


def real(target: Path) -> Path:
    """Where a folder lies: a link to it is followed, so that what it leads to is replaced."""
    return Path(os.path.realpath(target))


def check_target(target: Path) -> None:
    """See beforehand that a site can be written: into a site's folder that holds nothing else, an
    empty one, or a new one.

    Raises:
        UnwritableSite: it cannot; nothing was touched.
    """
    folder = real(target)
    try:
        if folder.exists() and not folder.is_dir():
            raise UnwritableSite(f"{target} is a file. Name a folder with --to.")
        _check_contents(target, folder)
        place = folder if stays(folder) else folder.parent
    except OSError as error:
        raise UnwritableSite(
            f"{target} cannot be read ({error.strerror or error}). Name another one with --to."
        ) from error
    while not os.path.lexists(place):
        place = place.parent
    if not (place.is_dir() and _is_writable(place)):
        raise UnwritableSite(f"{target}: {place} cannot be written to. Name another one with --to.")


def stays(folder: Path) -> bool:
    """Whether a folder must stay the one it is, as it cannot be renamed: a mount point (such as a
    container's volume), one that we stand in, or one in a folder that we may not change."""
    here = folder.is_dir() and Path.cwd().is_relative_to(folder)
    return here or folder.is_mount() or (folder.is_dir() and not _is_writable(folder.parent))


def listed_files(folder: Path) -> set[str]:
    """The files that a site's mark lists, by their paths in it; none where there is no mark.

    Raises:
        UnwritableSite: it is no mark of ours.
    """
    mark = folder / MARK
    if not mark.exists():
        return set()
    try:
        files = json.loads(mark.read_text("utf-8"))["files"]
    except (ValueError, KeyError, TypeError):
        files = None
    if not isinstance(files, dict) or not all(map(_is_within, files)):
        raise UnwritableSite(
            f"{mark} does not list a site's files, so it is nothing that Evergreen wrote. Name an "
            "empty or a new folder with --to."
        )
    return set(files)


def _check_contents(target: Path, folder: Path) -> None:
    if not folder.is_dir() or all(path.name.startswith(OURS) for path in folder.iterdir()):
        return
    if not (folder / MARK).is_file():
        raise UnwritableSite(
            f"{target} holds files and no {MARK}, so it is no site that Evergreen wrote. "
            "Name an empty or a new folder with --to."
        )
    if found := _unlisted(folder, listed_files(folder)):
        raise UnwritableSite(
            f"{target} holds {found!r}, which is no part of the site that Evergreen wrote there "
            f"({MARK} does not list it) and would be gone. Move it elsewhere, or name another "
            "folder with --to."
        )


def _unlisted(folder: Path, listed: set[str]) -> str | None:
    """The first file or folder that is no part of a site."""
    files = {MARK, *listed}
    folders = {str(above) for path in listed for above in PurePosixPath(path).parents}
    for root, names, others in os.walk(folder):
        within = Path(root).relative_to(folder)
        for known, found in ((folders, names), (files, others)):
            for name in sorted(found):
                path = (within / name).as_posix()
                if path not in known and not path.startswith(OURS):
                    return path
    return None


def _is_within(path: str) -> bool:
    return not path.startswith("/") and ".." not in PurePosixPath(path).parts


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)
