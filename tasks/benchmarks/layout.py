"""The folders of a published Wiki Live Challenge edition, and safe access to their files.

    <root>/wiki_data/ga_*.csv, ga_*.json              the articles and their metadata
    <root>/wiki_data/raw_wiki/<article>.json          MediaWiki's answers
    <root>/wiki_data/cleaned_data/article/<article>.md
    <root>/wiki_data/cleaned_data/statement/<article>_statements.json
    <root>/test_data/agencies.json                    the agents (may be absent)
    <root>/test_data/<agent>/md_data/<article>.md
    <root>/test_data/<agent>/json_data/<article>.json (some agents only)

An edition may come from anyone. A file is read only if it is a regular file inside the root
(symbolic links out of it are refused) of at most `MAX_FILE_BYTES`. File names are compared in
Unicode NFC, because macOS may store `é` as two characters.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar
from unicodedata import normalize

from tasks.benchmarks.errors import EditionError, UnreadableFileError
from tasks.files.opening import OutsideFile, SpecialFile, open_file, resolve_within
from tasks.foreign_text import refuse_hidden
from tasks.warehouse.jobs import ImportIssue

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Larger files are refused; the largest published one has 3.5 MB."""
ReadT = TypeVar("ReadT")


def article_id(title: str) -> str:
    """Return the file-safe name of a title: NFC, with `_` for each space and `/`."""
    return normalize("NFC", title.strip()).replace("/", "_").replace(" ", "_")


@dataclass
class Issues:
    """Collects import issues, at most one per path and kind."""

    edition: str
    _found: dict[tuple[str, str], ImportIssue] = field(default_factory=dict)

    def add_remark(self, path: str, kind: str, message: str) -> None:
        """Add something odd that was imported nevertheless."""
        self._add(path, kind, "remark", message)

    def add_unreadable(self, path: str, kind: str, message: str) -> None:
        """Add something that could not be read and is left out."""
        self._add(path, kind, "unreadable", message)

    def read(self, read: Callable[[str], ReadT], path: str, consequence: str) -> ReadT | None:
        """Read a file; None if it is unreadable, which is added with its consequence."""
        try:
            return read(path)
        except UnreadableFileError as error:
            self.add_unreadable(path, error.kind, f"{consequence}: {error}")
            return None

    def rows(self) -> tuple[ImportIssue, ...]:
        """Return all issues, by path and kind."""
        return tuple(issue for _, issue in sorted(self._found.items()))

    def _add(
        self, path: str, kind: str, severity: Literal["unreadable", "remark"], message: str
    ) -> None:
        issue = ImportIssue(
            edition=self.edition, path=path, kind=kind, severity=severity, message=message
        )
        self._found.setdefault((path, kind), issue)


@dataclass(frozen=True)
class Layout:
    """One edition's folder. Paths are given and returned relative to it, with `/`."""

    root: Path

    @classmethod
    def open(cls, root: Path) -> "Layout":
        """Open the edition at `root`; raise EditionError if there is none."""
        if not root.is_dir():
            what = "is not a folder" if root.exists() else "does not exist"
            raise EditionError(
                f"{root} {what}; expected the folder of a published edition, with wiki_data/ and "
                "test_data/ in it. Check the path."
            )
        layout = cls(root.resolve())
        missing = [n for n in ("wiki_data", "test_data") if not (layout.root / n).is_dir()]
        if missing:
            raise EditionError(
                f"{root} is not a published edition: it has no {' and no '.join(missing)} folder. "
                f"{_suggest_editions(layout.root)}"
            )
        return layout

    def list_agents(self) -> list[str]:
        """Return the folders in `test_data` that have an `md_data` folder, sorted.

        Raises:
            HiddenCharacters: an agent's name has them.
        """
        base = self.root / "test_data"
        names = self._list_names("test_data")
        agents = [name for name in names if (base / name / "md_data").is_dir()]
        for agent in agents:
            refuse_hidden(agent, f"{base}: the agent")
        return agents

    def list_files(self, folder: str, suffix: str) -> dict[str, str]:
        """Map file names without `suffix`, in NFC, to relative paths; empty if there is no folder.

        Hidden files (such as macOS's `._x`) are ignored. Of two names that differ only in their
        Unicode form the first in sorted order counts.

        Raises:
            HiddenCharacters: a file's name has them.
        """
        found: dict[str, str] = {}
        for name in self._list_names(folder):
            if name.endswith(suffix) and not name.startswith("."):
                refuse_hidden(name, f"{self.root / folder}: the file")
                found.setdefault(normalize("NFC", name.removesuffix(suffix)), f"{folder}/{name}")
        return found

    def read_text(self, path: str) -> str:
        """Read a file's text; raise UnreadableFileError if it is unsafe, too large or not UTF-8."""
        try:
            return self._read_bytes(path).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UnreadableFileError(
                "not_utf8",
                f"{path} is not UTF-8: byte {error.object[error.start]:#04x} at offset "
                f"{error.start}. Save it as UTF-8 and import again.",
            ) from None

    def read_json(self, path: str) -> Any:
        """Read a file's JSON; raise UnreadableFileError if it cannot be read or parsed."""
        text = self.read_text(path)
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UnreadableFileError(
                "broken_json",
                f"{path} is not valid JSON ({error}). Repair it or download it again, then import "
                "again.",
            ) from None

    def _read_bytes(self, path: str) -> bytes:
        try:
            with open_file(self.root / path, within=self.root) as file:
                content = file.read(MAX_FILE_BYTES + 1)
                size = os.fstat(file.fileno()).st_size
        except OutsideFile:
            raise UnreadableFileError(
                "outside", f"{path} leads out of {self.root}. Put the file itself there."
            ) from None
        except SpecialFile:
            raise UnreadableFileError(
                "not_a_file", f"{path} is not a regular file. Remove it."
            ) from None
        except OSError as error:
            raise UnreadableFileError(
                "unreadable",
                f"{path} cannot be read ({error}). Check that it exists and its permissions.",
            ) from None
        if len(content) > MAX_FILE_BYTES:
            raise UnreadableFileError(
                "too_large",
                f"{path} has {size:,} bytes; at most {MAX_FILE_BYTES:,} are read. Shorten it and "
                "import again.",
            )
        return content

    def _list_names(self, folder: str) -> list[str]:
        """List a folder, sorted; empty if it is absent. Raise EditionError if it is unreadable, or
        a link out of the edition."""
        full = self.root / folder
        try:
            return sorted(p.name for p in resolve_within(full, self.root).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OutsideFile:
            raise EditionError(
                f"{full} leads out of {self.root}. Put the folder itself there and import again."
            ) from None
        except OSError as error:
            raise EditionError(
                f"{full} cannot be listed ({error}). Make it readable and import again."
            ) from None


def _suggest_editions(root: Path) -> str:
    """Suggest editions one or two folders below `root`."""
    nested = [*root.glob("*/wiki_data"), *root.glob("*/*/wiki_data")]
    if not nested:
        return "Give the folder that contains both."
    names = ", ".join(sorted(str(p.parent.relative_to(root)) for p in nested)[:5])
    return f"Editions inside it: {names}. Give the path of one of them."
