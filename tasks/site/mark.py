"""The mark of a site, and checks that a site may be written into a folder."""

import json
import os
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile

from tasks.errors import ExpectedError
from tasks.files.checksums import SUMS, is_signature, parse_sums

MARK = "site.json"
"""The file at a site's root that identifies it; `SHA256SUMS` beside it lists the files."""
WORK_PREFIX = ".evergreen-"
"""Prefix of a run's temporary files and folders."""


class UnwritableSite(ExpectedError):
    """The folder cannot be made, or holds something else; the message says what to do."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write a public file completely or not at all."""
    written = path.with_name(f"{WORK_PREFIX}{path.name}")
    written.unlink(missing_ok=True)  # a link there would be written through
    written.write_bytes(data)
    make_public(written)
    written.replace(path)


def make_public_folder(folder: Path) -> None:
    """Make a folder, and what is missing above it, that a web server of another user may read."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        each.chmod(0o755)


def make_public(file: Path) -> None:
    """Let a web server of another user read a file: others of this process are private."""
    file.chmod(0o644)


def resolve_link(target: Path) -> Path:
    """Follow symbolic links, so that the folder they lead to is replaced."""
    return Path(os.path.realpath(target))


def check_target(target: Path) -> None:
    """Check that a site can be written to this folder: it holds only a site, is empty, or is new.

    Raises:
        UnwritableSite: it cannot be written there.
    """
    folder = resolve_link(target)
    try:
        if folder.exists() and not folder.is_dir():
            raise UnwritableSite(f"{target} is a file. Name a folder with --to.")
        _check_contents(target, folder)
        place = folder if must_stay(folder) else folder.parent
    except OSError as error:
        raise UnwritableSite(
            f"{target} cannot be read ({error.strerror or error}). Name another one with --to."
        ) from error
    while not os.path.lexists(place):
        place = place.parent
    if not (place.is_dir() and _is_writable(place)):
        raise UnwritableSite(f"{target}: {place} cannot be written to. Name another one with --to.")


def must_stay(folder: Path) -> bool:
    """Whether a folder cannot be renamed: a mount point (such as a container's volume), one that
    contains the working directory, or one in a folder that is not writable."""
    here = folder.is_dir() and Path.cwd().is_relative_to(folder)
    return here or folder.is_mount() or (folder.is_dir() and not _is_writable(folder.parent))


def load_listed_files(folder: Path) -> set[str]:
    """Load the paths of a site's files but the mark; empty if there is no mark.

    They are listed in `SHA256SUMS`. The mark lists them in a site that is being replaced, and in
    sites that Evergreen wrote before there was that file.

    Raises:
        UnwritableSite: Evergreen did not write the mark.
    """
    mark, sums = folder / MARK, folder / SUMS
    if not mark.exists():
        return set()
    try:
        about = json.loads(mark.read_text("utf-8"))
        is_ours = "masked_keys" in about or "files" in about
        files = {**about.get("files", {})}
        if sums.exists() or "files" not in about:
            files |= parse_sums(sums.read_bytes())
    except (OSError, ValueError, TypeError, AttributeError):
        is_ours = False
    if not is_ours or not all(map(is_within, files)):
        raise UnwritableSite(
            f"{mark} does not list a site's files, nor does {SUMS} beside it, so Evergreen did "
            "not write it. Name an empty or a new folder with --to."
        )
    return {*files} - {MARK}


def find_signatures(folder: Path) -> list[Path]:
    """Find what signs the site in a folder: today its list of files, once its mark."""
    once = folder / f"{MARK}.minisig"
    return [path for path in folder.iterdir() if is_signature(path.name) or path == once]


def _check_contents(target: Path, folder: Path) -> None:
    if not folder.is_dir() or all(path.name.startswith(WORK_PREFIX) for path in folder.iterdir()):
        return
    if not (folder / MARK).is_file():
        raise UnwritableSite(
            f"{target} holds files and no {MARK}, so it is not a site by Evergreen. "
            "Name an empty or a new folder with --to."
        )
    if found := _find_unlisted(folder, load_listed_files(folder)):
        raise UnwritableSite(
            f"{target} holds {found!r}, which is not part of the site there (no list of its files "
            "has it) and would be deleted. Move it elsewhere, or name another folder with --to."
        )


def _find_unlisted(folder: Path, listed: set[str]) -> str | None:
    """Return the first file or folder that is not part of the site; None if there is none."""
    files = {MARK, SUMS, *listed, *(path.name for path in find_signatures(folder))}
    folders = {str(above) for path in listed for above in PurePosixPath(path).parents}
    for root, names, others in os.walk(folder):
        within = Path(root).relative_to(folder)
        for known, found in ((folders, names), (files, others)):
            for name in sorted(found):
                path = (within / name).as_posix()
                if path not in known and not path.startswith(WORK_PREFIX):
                    return path
    return None


def is_within(path: str) -> bool:
    """Whether a path leads to something within the site."""
    return not path.startswith("/") and ".." not in PurePosixPath(path).parts


def _is_writable(folder: Path) -> bool:
    """Try it: what the system says of a folder's rights is not true of every file system."""
    try:
        with TemporaryFile(prefix=WORK_PREFIX, dir=folder):
            return True
    except OSError:
        return False
