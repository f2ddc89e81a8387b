"""A small disk of a test's own, which root can mount, and which can be filled."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE = "40m"


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A tmpfs of 40 MB."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path, free: int) -> Path:
    """Fill the disk but for so many bytes; return the file that does."""
    filler = folder / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(folder).free - free))
    return filler
