"""The two targets of a backup: a dated folder, or one file.

A backup gets its final name when everything is on disk. The remains of a killed one have another
name, and are removed by the next.
"""

import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tasks.backup.manifest import MANIFEST, SIGNATURE, STAMP, TABLES, BackupError, BackupManifest
from tasks.files.locks import hold_lock
from tasks.signing.keys import Signer
from tasks.warehouse.rows import utc_now

UNFINISHED_SUFFIX = ".making"
"""The suffix of unfinished backups."""


class BackupWriter:
    """Writes into a folder of dated backups, or into one tar file."""

    def __init__(self, place: Path, *, is_tar: bool) -> None:
        """place: the final path."""
        self.place, self.is_tar = place, is_tar
        self.scratch = place.with_name(f".{place.name}.tables{UNFINISHED_SUFFIX}")
        """A folder for tables and lists, which becomes part of the backup."""
        (self.scratch / TABLES).mkdir(parents=True)
        self._fresh = place.with_name(f".{place.name}{UNFINISHED_SUFFIX}")
        self._tar = (
            tarfile.open(self._fresh, "w", format=tarfile.PAX_FORMAT)  # noqa: SIM115
            if is_tar
            else None
        )

    def has(self, name: str, n_bytes: int) -> bool:
        """Return whether an earlier backup contains these bytes."""
        path = self.place.parent / name
        # The size differs if the machine failed while the file was written.
        return not self.is_tar and path.is_file() and path.stat().st_size == n_bytes

    def add(self, name: str, path: Path) -> None:
        """Add the bytes of a page or file."""
        if self._tar:
            self._tar.add(path, name, recursive=False, filter=_drop_owner)
            return
        target = self.place.parent / name
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f".{target.name}{UNFINISHED_SUFFIX}")
        fresh.unlink(missing_ok=True)  # a link there would be written through
        shutil.copyfile(path, fresh)
        fresh.replace(target)

    def finish(self, manifest: BackupManifest, signer: Signer | None) -> None:
        """Flush everything to disk, then give the backup its final name."""
        data = manifest.model_dump_json(indent=1).encode()
        (self.scratch / MANIFEST).write_bytes(data)
        if signer:
            (self.scratch / SIGNATURE).write_bytes(signer.sign(data, MANIFEST))
        if self._tar:
            for path in sorted(self.scratch.rglob("*")):
                if path.is_file():
                    self.add(str(path.relative_to(self.scratch)), path)
            self._tar.close()
        os.sync()
        (self._fresh if self._tar else self.scratch).rename(self.place)
        os.sync()
        if self._tar:
            shutil.rmtree(self.scratch)


@contextmanager
def open_writer(to: Path) -> Iterator[BackupWriter]:
    """Open a backup for writing, one at a time, after removing the remains of killed ones.

    Raises:
        BackupError: the file exists.
    """
    is_tar = to.suffix == ".tar"
    if is_tar and to.exists():
        raise BackupError(f"{to} exists. Choose another name: backups are never overwritten.")
    folder = to.parent if is_tar else to
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / (f".{to.name}.lock" if is_tar else ".lock")
    with hold_lock(lock):
        for left in folder.glob(f".{to.name if is_tar else ''}*{UNFINISHED_SUFFIX}"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        place = to if is_tar else folder / utc_now().strftime(STAMP)
        yield BackupWriter(place, is_tar=is_tar)
    if is_tar:
        lock.unlink(missing_ok=True)


def _drop_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove the owner, which has no meaning on other machines."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
