"""The project's files as a fresh clone has them, and the shared data beside it, by content."""

import os
import subprocess
from bisect import bisect_left
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path

STAMPS = ".ci/stamps"
SHARED = ("shared/data", "shared/tools")
"""Folders beside the project that tests and rigs read."""


def is_prose(path: str) -> bool:
    """What people read; its own tests run for every change (`make prose`)."""
    return path.startswith("docs/") or ("/" not in path and path.endswith(".md"))


class Tree:
    """Files by their paths: of the project `flows/run.py`, of what lies beside `shared/data/…`.

    Left out is what no stamp depends on: what Git ignores, prose, and the stamps themselves.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sha = cache(self._sha)

    @cached_property
    def files(self) -> list[str]:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=self.root, check=True, capture_output=True,
        )  # fmt: skip
        ours = {
            path
            for path in os.fsdecode(listed.stdout).split("\0")
            if path and not path.startswith(f"{STAMPS}/") and not is_prose(path)
        }
        beside = {
            path.relative_to(self.root.parent).as_posix()
            for folder in SHARED
            for path in (self.root.parent / folder).rglob("*")
        }
        return sorted(path for path in ours | beside if self.path(path).is_file())

    @cached_property
    def tops(self) -> frozenset[str]:
        """What lies at the root, and `shared`: the names that a path may begin with."""
        return frozenset(path.partition("/")[0] for path in [*self.files, *SHARED])

    def path(self, name: str) -> Path:
        return (self.root.parent if name.startswith("shared/") else self.root) / name

    def below(self, name: str) -> list[str]:
        """The files in a folder, or the file itself; nothing where there is neither."""
        first = bisect_left(self.files, name)
        if first < len(self.files) and self.files[first] == name:
            return [name]
        first = bisect_left(self.files, f"{name}/")
        return self.files[first : bisect_left(self.files, f"{name}0")]  # "0" comes after "/"

    def _sha(self, name: str) -> str:
        return sha256(self.path(name).read_bytes()).hexdigest()
