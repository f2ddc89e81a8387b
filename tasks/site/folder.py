"""Write a site's folder atomically."""

import errno
import json
import re
import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from filelock import Timeout

from tasks.files.checksums import SUMS, format_sums
from tasks.files.locks import hold_lock
from tasks.secrecy.guard import KeyGuard
from tasks.site.mark import (
    MARK,
    WORK_PREFIX,
    UnwritableSite,
    check_target,
    find_signatures,
    load_listed_files,
    make_public,
    make_public_folder,
    must_stay,
    resolve_link,
    write_atomically,
)
from tasks.warehouse.rows import content_sha

WAIT_SECONDS = 60
"""How long to wait for another run that writes the same site."""
UNMOVABLE = {errno.EBUSY, errno.EXDEV, errno.EPERM, errno.EACCES, errno.EROFS}
"""Errors of renaming a folder that is a mount point or may not be moved."""
_PLAIN = re.compile(r"[^a-z0-9._-]+")
_OURS = re.compile(r"-([0-9a-f]{8}|facts-\d+)\Z")
"""How we name files ourselves: with a sha, or as a further page of facts."""
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|\Z)")
"""Names that Windows keeps for devices, with whatever ending."""


def safe_file_name(name: str) -> str:
    """Return a unique file name that is valid on every system and in URLs.

    `gemini_3_pro` stays as it is; `Blix_(Magic!)` becomes `blix_-magic-` plus eight digits of its
    sha, and so does a name that looks like one of ours.
    """
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    plain = _DEVICE.sub(r"x-\g<0>", _PLAIN.sub("-", folded).strip(".-")[:60], count=1)
    if plain and plain == name and not _OURS.search(name):
        return plain
    return f"{plain or 'x'}-{content_sha(name)[:8]}"


@dataclass
class SiteFolder:
    """Collects a site's files beside the target and swaps the folders when all are written."""

    target: Path
    guard: KeyGuard = field(default_factory=KeyGuard)
    """Keeps keys out of every text."""
    files: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Path within the site → size in bytes and sha-256."""
    _work: Path | None = None
    _lock: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        self.target = resolve_link(self.target)

    def __enter__(self) -> "SiteFolder":
        check_target(self.target)
        inside = must_stay(self.target)  # then write inside it and replace its files
        place = self.target if inside else self.target.parent
        prefix = WORK_PREFIX if inside else f".{self.target.name}{WORK_PREFIX}"
        try:
            make_public_folder(place)
            with ExitStack() as stack:
                stack.enter_context(_lock_site(place / f"{prefix}lock"))
                self._remove_leftovers(place, prefix)
                self._work = Path(mkdtemp(prefix=prefix, dir=place))
                self._work.chmod(0o755)
                self._lock = stack.pop_all()
        except Timeout as error:
            raise UnwritableSite(
                f"{self.target} is being written by another run. Publish again when that has ended."
            ) from error
        except OSError as error:
            raise UnwritableSite(
                f"{self.target}: {place} cannot be written to ({error.strerror or error}). "
                "Name another one with --to."
            ) from error
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._work is not None:
            shutil.rmtree(self._work, ignore_errors=True)
        self._lock.close()

    def add(self, path: str, content: str | bytes) -> None:
        """Write one file of the site: a text, or the bytes of checked values.

        Raises:
            LeakedKey: the text holds a key.
            UnwritableSite: it cannot be written.
        """
        if isinstance(content, str):
            content = self.guard.check(content, path).encode("utf-8", "replace")
        data = content
        self.files[path] = (len(data), sha256(data).hexdigest())
        file = self.path(path)
        try:
            make_public_folder(file.parent)
            file.write_bytes(data)
            make_public(file)
        except OSError as error:
            raise UnwritableSite(
                f"{file}: cannot be written ({error.strerror or error}). What was published "
                "before is untouched; free some space, then publish again."
            ) from error

    def path(self, path: str) -> Path:
        """Return where a file of the site is until `finish`."""
        if self._work is None:
            raise RuntimeError("use the folder in a with statement")
        return self._work / path

    def finish(self, about: dict[str, object]) -> None:
        """Move the site to its target, replacing the earlier site there.

        Raises:
            UnwritableSite: it could not be moved.
        """
        mark = about | {"masked_keys": self.guard.n_masked}
        try:
            if self.path(".").parent == self.target:
                self._replace_files(mark)
            else:
                self._swap(mark)
        except OSError as error:
            raise UnwritableSite(
                f"{self.target}: the new site could not be moved to its place "
                f"({error.strerror or error}). What was published before is untouched."
            ) from error

    def _swap(self, mark: dict[str, object]) -> None:
        """Rename the new folder to the target's name."""
        self._write_mark(self.path("."), mark)
        work = self.path(".")
        old = work.with_name(f"{work.name}-old")
        try:
            if self.target.exists():
                self.target.rename(old)
            work.rename(self.target)
        except OSError as error:
            if old.exists() and not self.target.exists():
                old.rename(self.target)
            if error.errno not in UNMOVABLE or not self.target.is_dir():
                raise
            self._replace_files(mark)
        shutil.rmtree(old, ignore_errors=True)

    def _replace_files(self, mark: dict[str, object]) -> None:
        """Replace the files within a folder that cannot be renamed.

        This is not atomic: readers may see old and new pages meanwhile. Until the last step the
        mark lists the files of both, so that a run can recover from one that was killed here.
        """
        before = load_listed_files(self.target)
        both: dict[str, object] = {path: {} for path in sorted({*before, *self.files})}
        write_atomically(self.target / MARK, _format_mark({"unfinished": True, "files": both}))
        try:
            for signature in find_signatures(self.target):
                signature.unlink()
            for path in self.files:
                make_public_folder((self.target / path).parent)
                shutil.move(self.path(path), self.target / path)
            for path in before.difference(self.files):
                (self.target / path).unlink(missing_ok=True)
                with suppress(OSError):  # folders that are not empty stay
                    for above in PurePosixPath(path).parents[:-1]:
                        (self.target / above).rmdir()
            self._write_mark(self.target, mark)
        except OSError as error:
            raise UnwritableSite(
                f"{self.target}: only a part of the new site could be moved to its place "
                f"({error.strerror or error}). Fix that, then publish again."
            ) from error

    def _write_mark(self, folder: Path, mark: dict[str, object]) -> None:
        """Write the list of all files, then the mark, which completes a site."""
        data = _format_mark(mark)
        shas = {path: sha for path, (_, sha) in self.files.items()}
        write_atomically(folder / SUMS, format_sums(shas | {MARK: sha256(data).hexdigest()}))
        write_atomically(folder / MARK, data)

    def _remove_leftovers(self, place: Path, prefix: str) -> None:
        """Remove the leftovers of killed runs, under the lock. If one of them had moved the old
        site away without replacing it, move it back first."""
        named = re.compile(rf"{re.escape(prefix)}[a-z0-9_]{{8}}(-old)?")
        for path in sorted(place.iterdir()):
            if found := named.fullmatch(path.name):
                if found[1] and not self.target.exists():
                    path.rename(self.target)
                else:
                    shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _lock_site(lock: Path) -> Iterator[None]:
    """Lock the site for writing. The system releases the lock when its process ends, also in
    another container, where process ids mean nothing."""
    with hold_lock(lock, timeout=WAIT_SECONDS):
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)  # waiters start over when the file is gone


def _format_mark(mark: dict[str, object]) -> bytes:
    return (json.dumps(mark, ensure_ascii=False, indent=1) + "\n").encode()
