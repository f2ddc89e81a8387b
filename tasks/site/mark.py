"""The mark of a site, checks that a site may be written into a folder, and verification of a signed
site: its signature, and every file against the list that is signed."""

import json
import os
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile

from tasks.errors import ExpectedError
from tasks.files.opening import open_file
from tasks.signing.signatures import LARGEST, SUFFIX, BadSignature, PublicKey, SignedBy

MARK = "site.json"
"""The file at a site's root that identifies it and lists the sha-256 of every file."""
MARK_SIGNATURE = f"{MARK}{SUFFIX}"
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
    """Load the paths of the files that a site's mark lists; empty if there is no mark.

    Raises:
        UnwritableSite: the mark is invalid.
    """
    mark = folder / MARK
    if not mark.exists():
        return set()
    try:
        files = json.loads(mark.read_text("utf-8"))["files"]
    except (ValueError, KeyError, TypeError):
        files = None
    if not isinstance(files, dict) or not all(map(is_within, files)):
        raise UnwritableSite(
            f"{mark} does not list a site's files, so Evergreen did not write it. Name an "
            "empty or a new folder with --to."
        )
    return set(files)


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
            f"{target} holds {found!r}, which is not part of the site there "
            f"({MARK} does not list it) and would be deleted. Move it elsewhere, or name another "
            "folder with --to."
        )


def _find_unlisted(folder: Path, listed: set[str]) -> str | None:
    """Return the first file or folder that is not part of the site; None if there is none."""
    files = {MARK, MARK_SIGNATURE, *listed}
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


def verify_site(folder: Path, key: PublicKey) -> tuple[SignedBy, str, int]:
    """Return whose signature it is, which edition the site is of, and its number of files.

    Raises:
        BadSignature: the site is not as it was signed; the message names the file.
    """
    mark = (folder / MARK).read_bytes()
    signature = _read_signature(folder / MARK_SIGNATURE)
    signed_by = key.check(mark, signature, folder / MARK)
    try:
        about = json.loads(mark)
        edition = str(about["edition"])
        listed = {path: described["sha256"] for path, described in about["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadSignature(
            f"{folder / MARK} is signed, but it does not list a site's files. Get the site again."
        ) from None
    for path, sha in listed.items():
        _check_file(folder, path, sha)
    for path in _walk(folder):
        if path not in listed and path not in (MARK, MARK_SIGNATURE):
            raise BadSignature(
                f"{folder / path} is not part of the site that was signed: {MARK} does not list "
                "it. Do not trust it; delete it, or get the site again."
            )
    return signed_by, edition, len(listed)


def _read_signature(file: Path) -> bytes | None:
    if not file.is_file():
        return None
    with file.open("rb") as opened:
        return opened.read(LARGEST)


def _check_file(folder: Path, path: str, sha: str) -> None:
    file = folder / path
    try:
        with open_file(file, within=folder) as opened:  # what is elsewhere may change tomorrow
            is_same = file_digest(opened, "sha256").hexdigest() == sha
    except OSError as error:
        raise BadSignature(
            f"{file} of the signed site is missing or cannot be read ({error.strerror or error}). "
            "Get the site again."
        ) from error
    if not is_same:
        raise BadSignature(
            f"{file} is not the file that was signed. Do not trust it; get the site again."
        )


def _walk(folder: Path) -> Iterator[str]:
    """Yield every file of a folder, and links to folders, which hold what nobody has signed."""
    for root, folders, files in os.walk(folder, onerror=_refuse_unread):
        within = Path(root).relative_to(folder)
        links = (name for name in folders if (Path(root) / name).is_symlink())
        yield from ((within / name).as_posix() for name in (*files, *links))


def _refuse_unread(error: OSError) -> None:
    raise BadSignature(
        f"{error.filename} cannot be listed ({error.strerror}), and may hold what nobody has "
        "signed. Do not trust it; get the site again."
    ) from error
