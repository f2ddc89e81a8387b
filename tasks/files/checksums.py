"""The list of a folder's files by sha-256, in the form of coreutils' `sha256sum -c`.

It is what people sign, with a program of their own: Evergreen signs nothing.
"""

import re
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path

SUMS = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def hash_files(folder: Path) -> dict[str, str]:
    """Return the path within a folder of each file in it → its sha-256."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hash_file(path) for path in files}


def format_sums(shas: Mapping[str, str]) -> bytes:
    """Return the content of a `SHA256SUMS` file. shas: path within the folder → sha-256."""
    return "".join(f"{shas[path]}  {path}\n" for path in sorted(shas)).encode()


def parse_sums(data: bytes) -> dict[str, str]:
    """Return the paths of a `SHA256SUMS` file with their sha-256.

    Raises:
        ValueError: it is none.
    """
    lines = [_LINE.fullmatch(line) for line in data.decode().removesuffix("\n").split("\n")]
    shas = {line[2]: line[1] for line in lines if line}
    if len(shas) != len(lines):
        raise ValueError("a line is not a sha-256 and a path, or a path comes twice")
    return shas


def is_signature(path: str) -> bool:
    """Return whether a file signs the list, such as `SHA256SUMS.minisig`."""
    return path.startswith(f"{SUMS}.")
