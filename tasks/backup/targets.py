"""The two forms in which a backup is written: a dated folder beside others, or one file.

Nothing has its name before all of it is on disk; what a killed one leaves has another name, and
goes when the next is made.
"""

import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from filelock import FileLock

from tasks.backup.manifest import MANIFEST, STAMP, TABLES, BackupError, BackupManifest
from tasks.warehouse.rows import utc_now

MAKING = ".making"
"""Names end so while a backup is made; nobody takes them for one."""


class Making(Protocol):
    """A backup that is being made."""

    place: Path
    """Where it will be."""
    scratch: Path
    """A folder for tables and lists, to become part of it."""

    def has(self, name: str, n_bytes: int) -> bool:
        """Whether an earlier backup has brought these bytes."""

    def keep(self, name: str, path: Path) -> None:
        """Take the bytes of a page or file."""

    def publish(self, manifest: BackupManifest) -> None:
        """Have all of it on disk, then give it its name."""


class FolderMaking:
    """Into a folder of dated backups."""

    def __init__(self, folder: Path) -> None:
        name = utc_now().strftime(STAMP)
        self.place = folder / name
        self.scratch = folder / f".{name}{MAKING}"
        (self.scratch / TABLES).mkdir(parents=True)

    def has(self, name: str, n_bytes: int) -> bool:
        path = self.place.parent / name
        # A size that differs: the machine failed while it was written.
        return path.is_file() and path.stat().st_size == n_bytes

    def keep(self, name: str, path: Path) -> None:
        target = self.place.parent / name
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f".{target.name}{MAKING}")
        shutil.copyfile(path, fresh)
        fresh.replace(target)

    def publish(self, manifest: BackupManifest) -> None:
        (self.scratch / MANIFEST).write_text(manifest.model_dump_json(indent=1), "utf-8")
        os.sync()
        self.scratch.rename(self.place)
        os.sync()


class TarMaking:
    """Into one file."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.scratch = place.with_name(f".{place.name}.tables{MAKING}")
        (self.scratch / TABLES).mkdir(parents=True)
        self._fresh = place.with_name(f".{place.name}{MAKING}")
        self._tar = tarfile.open(self._fresh, "w", format=tarfile.PAX_FORMAT)  # noqa: SIM115

    def has(self, name: str, n_bytes: int) -> bool:
        return False

    def keep(self, name: str, path: Path) -> None:
        self._tar.add(path, name, recursive=False, filter=_nobodys)

    def publish(self, manifest: BackupManifest) -> None:
        (self.scratch / MANIFEST).write_text(manifest.model_dump_json(indent=1), "utf-8")
        for path in sorted(self.scratch.rglob("*")):
            if path.is_file():
                self.keep(str(path.relative_to(self.scratch)), path)
        self._tar.close()
        os.sync()
        self._fresh.rename(self.place)
        os.sync()
        shutil.rmtree(self.scratch)


@contextmanager
def making_at(to: Path) -> Iterator[Making]:
    """A backup to be filled and published, one at a time; what a killed one left goes first.

    Raises:
        BackupError: the file exists.
    """
    is_tar = to.suffix == ".tar"
    if is_tar and to.exists():
        raise BackupError(f"{to} exists. Choose another name: backups are never written over.")
    folder = to.parent if is_tar else to
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / (f".{to.name}.lock" if is_tar else ".lock")
    with FileLock(lock):
        for left in folder.glob(f".{to.name if is_tar else ''}*{MAKING}"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        yield TarMaking(to) if is_tar else FolderMaking(to)
    if is_tar:
        lock.unlink(missing_ok=True)


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Whose files they are on this machine is no matter of the backup."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
