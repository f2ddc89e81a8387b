"""The folder a site is written into: whole or not at all."""

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

from filelock import FileLock, Timeout

from tasks.site.mark import MARK, OURS, UnwritableSite, check_target, listed_files, real, stays
from tasks.warehouse.rows import content_sha

WAIT_SECONDS = 60
"""For another run that writes the same site."""
STAYS = {errno.EBUSY, errno.EXDEV, errno.EPERM, errno.EACCES, errno.EROFS}
"""What the system says of a folder that it does not rename: mounted, or not ours to move."""
_PLAIN = re.compile(r"[^a-z0-9._-]+")
_WITH_SHA = re.compile(r"-[0-9a-f]{8}\Z")


def file_name(name: str) -> str:
    """A name for a file that every system and address can hold; no two names share one.

    `gemini_3_pro` stays as it is; `Blix_(Magic!)` becomes `blix_-magic-` with eight digits of its
    sha, and so does a name that already ends as if it had them.
    """
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    plain = _PLAIN.sub("-", folded).strip(".-")[:60]
    if plain and plain == name and not _WITH_SHA.search(name):
        return plain
    return f"{plain or 'x'}-{content_sha(name)[:8]}"


@dataclass
class SiteFolder:
    """Files gathered beside the target, which takes their place in one step when all are there."""

    target: Path
    files: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Path within the site → bytes and sha-256."""
    _work: Path | None = None
    _held: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        self.target = real(self.target)

    def __enter__(self) -> "SiteFolder":
        check_target(self.target)
        inside = stays(self.target)  # then its files are replaced, and these wait where they are
        place = self.target if inside else self.target.parent
        prefix = OURS if inside else f".{self.target.name}{OURS}"
        try:
            place.mkdir(parents=True, exist_ok=True)
            with ExitStack() as held:
                held.enter_context(_alone(place / f"{prefix}lock"))
                self._tidy(place, prefix)
                self._work = Path(mkdtemp(prefix=prefix, dir=place))
                self._work.chmod(0o755)
                self._held = held.pop_all()
        except Timeout as error:
            raise UnwritableSite(
                f"{self.target} is being written by another run. Wait until that has ended, then "
                "publish again."
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
        self._held.close()

    def add(self, path: str, content: str | bytes) -> None:
        """Write one file of the site.

        Raises:
            UnwritableSite: the disk does not take it.
        """
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        self.files[path] = (len(data), sha256(data).hexdigest())
        file = self.path(path)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        except OSError as error:
            raise UnwritableSite(
                f"{file}: cannot be written ({error.strerror or error}). What was published "
                "before is untouched; free some space, then publish again."
            ) from error

    def adopt(self, path: str) -> None:
        """Take in a file that somebody else has written to `path`."""
        data = self.path(path).read_bytes()
        self.files[path] = (len(data), sha256(data).hexdigest())

    def path(self, path: str) -> Path:
        """Where a file of the site lies until it is finished."""
        if self._work is None:
            raise RuntimeError("use the folder in a with statement")
        return self._work / path

    def finish(self, about: dict[str, object]) -> None:
        """Put the site in its place; what was there before, if it was one, goes.

        Raises:
            UnwritableSite: it could not be put there.
        """
        listed = {
            path: {"bytes": n, "sha256": sha} for path, (n, sha) in sorted(self.files.items())
        }
        mark = about | {"files": listed}
        try:
            if self.path(".").parent == self.target:
                self._fill(mark)
            else:
                self._swap(mark)
        except OSError as error:
            raise UnwritableSite(
                f"{self.target}: the new site could not be put in its place "
                f"({error.strerror or error}). What was published before is untouched."
            ) from error

    def _swap(self, mark: dict[str, object]) -> None:
        """One folder for the other."""
        _write_mark(self.path(MARK), mark)
        work = self.path(".")
        old = work.with_name(f"{work.name}-old")
        try:
            if self.target.exists():
                self.target.rename(old)
            work.rename(self.target)
        except OSError as error:
            if old.exists() and not self.target.exists():
                old.rename(self.target)
            if error.errno not in STAYS or not self.target.is_dir():
                raise
            self._fill(mark)
        shutil.rmtree(old, ignore_errors=True)

    def _fill(self, mark: dict[str, object]) -> None:
        """Replace the files within a folder that stays.

        This is not one step: whoever reads meanwhile may see some pages of before and some new
        ones. So that a run can follow one that was killed here, the mark lists the files of both
        until the last step.
        """
        before = listed_files(self.target)
        both: dict[str, object] = {path: {} for path in sorted({*before, *self.files})}
        _write_mark(self.target / MARK, {"unfinished": True, "files": both})
        try:
            for path in self.files:
                (self.target / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.move(self.path(path), self.target / path)
            for path in before.difference(self.files):
                (self.target / path).unlink(missing_ok=True)
                with suppress(OSError):  # a folder that is not empty stays
                    for above in PurePosixPath(path).parents[:-1]:
                        (self.target / above).rmdir()
            _write_mark(self.target / MARK, mark)
        except OSError as error:
            raise UnwritableSite(
                f"{self.target}: only a part of the new site could be put in its place "
                f"({error.strerror or error}). Mend that, then publish again."
            ) from error

    def _tidy(self, place: Path, prefix: str) -> None:
        """Remove what runs have left that were killed: nobody else is at it now. One of them may
        have moved the old site away without putting its own there: the old one comes back first.
        """
        named = re.compile(rf"{re.escape(prefix)}[a-z0-9_]{{8}}(-old)?")
        for path in sorted(place.iterdir()):
            if found := named.fullmatch(path.name):
                if found[1] and not self.target.exists():
                    path.rename(self.target)
                else:
                    shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Wait until nobody else writes this site. The system ends the lock with its process, also
    where that ran in another container, in which numbers of processes mean nothing."""
    with FileLock(lock, timeout=WAIT_SECONDS):
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)  # who waits for a file that is gone begins anew


def _write_mark(path: Path, mark: dict[str, object]) -> None:
    """Whole or not at all."""
    written = path.with_name(f"{OURS}mark")
    written.write_text(json.dumps(mark, ensure_ascii=False, indent=1) + "\n", "utf-8")
    written.replace(path)
