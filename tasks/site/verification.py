"""Verify a signed site: its signature, and every file against the list that is signed."""

import json
import os
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path

from tasks.files.opening import open_file
from tasks.signing.signatures import LARGEST, BadSignature, PublicKey, SignedBy
from tasks.site.mark import MARK, MARK_SIGNATURE


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
