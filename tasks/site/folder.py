"""The folder a site is written into: whole or not at all."""

import json
import os
import re
import shutil
import unicodedata
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

import psutil

from tasks.warehouse.rows import content_sha

MARK = "site.json"
"""The file at a site's root that says it is one, with the sha-256 of every file."""
_PLAIN = re.compile(r"[^a-z0-9._-]+")
_WITH_SHA = re.compile(r"-[0-9a-f]{8}\Z")


class UnwritableSite(Exception):
    """The folder cannot be made, or holds something else; the message says what to do."""


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

    def __enter__(self) -> "SiteFolder":
        self._check()
        try:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            self._tidy()
            work = mkdtemp(prefix=f"{self._prefix}{os.getpid()}-", dir=self.target.parent)
        except OSError as error:
            raise UnwritableSite(
                f"{self.target}: the folder above it cannot be written "
                f"({error.strerror or error}). Name another one with --to."
            ) from error
        self._work = Path(work)
        self._work.chmod(0o755)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._work is not None:
            shutil.rmtree(self._work, ignore_errors=True)

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
        """Put the site in its place; what was there before, if it was one, goes."""
        listed = {
            path: {"bytes": n, "sha256": sha} for path, (n, sha) in sorted(self.files.items())
        }
        mark = json.dumps(about | {"files": listed}, ensure_ascii=False, indent=1)
        self.path(MARK).write_text(mark + "\n", "utf-8")
        work = self.path(".")
        old = work.with_name(f"{work.name}-old")
        try:
            if self.target.exists():
                self.target.rename(old)
            work.rename(self.target)
        except OSError as error:
            if old.exists() and not self.target.exists():
                old.rename(self.target)
            raise UnwritableSite(
                f"{self.target}: the new site could not be put in its place "
                f"({error.strerror or error}). What was published before is untouched."
            ) from error
        shutil.rmtree(old, ignore_errors=True)

    @property
    def _prefix(self) -> str:
        return f".{self.target.name}-"

    def _tidy(self) -> None:
        """Remove what runs have left that were killed."""
        named = re.compile(rf"{re.escape(self._prefix)}(\d+)-\w+(-old)?")
        for path in self.target.parent.iterdir():
            if (found := named.fullmatch(path.name)) and not psutil.pid_exists(int(found[1])):
                shutil.rmtree(path, ignore_errors=True)

    def _check(self) -> None:
        """Only a site, an empty folder or nothing at all is written over."""
        if self.target.is_file():
            raise UnwritableSite(f"{self.target} is a file. Name a folder with --to.")
        if not self.target.is_dir() or (self.target / MARK).is_file():
            return
        if any(self.target.iterdir()):
            raise UnwritableSite(
                f"{self.target} holds files and no {MARK}, so it is no site that Evergreen wrote. "
                "Name an empty or a new folder with --to."
            )
