"""Which files a test or a rig can reach: what is not among them cannot change how it ends.

From a file this follows its imports, and its texts: a text that names a module, a file or a
folder reaches it. Where that may not be all, more is reached: whatever starts the command or a
Prefect server, or loads modules by names that it does not say, reaches the whole product.
"""

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from functools import cache, cached_property
from pathlib import PurePosixPath

from tests.stamps.sources import Source, source
from tests.stamps.tree import Tree

PRODUCT = ("evergreen", "flows", "tasks", "configs", "data")
COMMAND = ("evergreen", "flows")
"""Its names; reaching a module of `flows` is to start it, or one of its flows on a server."""
STARTS_NOTHING = {"flows/__init__.py", "flows/runtime/__init__.py", "flows/runtime/settings.py"}
ALWAYS = ("pyproject.toml", "requirements*.lock")
"""What everything runs with."""
READ_FOR_NAMES = ("*.yaml", "*.yml", "*Dockerfile")
"""Beside Python: what else names programs and files."""

COMMENT = re.compile(r"(?m)(^|\s)#.*$")
WORDS = re.compile(r"[\s\"'`(){}\[\],;:=<>|]+")
DOTTED = re.compile(r"\b(?:evergreen|flows|tasks|tests)(?:\.\w+)+|^(?:flows|tasks|tests)(?=\.$)")
BARE = re.compile(r"(?:\bimport|\bfrom|-m)\s+(flows|tasks|tests)(?![\w.])")


class Reach:
    """The files of a tree, each with those that it leads to."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.named_by = cache(self._named_by)
        self.next_of = cache(self._next_of)

    def of(self, starts: Iterable[str], texts: Iterable[str] = ()) -> frozenset[str]:
        """All that these files, and these texts, lead to."""
        waiting = {*starts, *self.always, *(each for text in texts for each in self._named(text))}
        found: set[str] = set()
        while waiting:
            file = waiting.pop()
            found.add(file)
            waiting |= self.next_of(file) - found
        return frozenset(found)

    @cached_property
    def always(self) -> list[str]:
        return [each for each in self.tree.files for name in ALWAYS if fnmatch(each, name)]

    @cached_property
    def product(self) -> list[str]:
        return [each for top in PRODUCT for each in self.tree.below(top)]

    @cached_property
    def packages(self) -> dict[str, list[str]]:
        """Folders of modules, with the other files that belong to each, also in folders below."""
        found: dict[str, list[str]] = {
            _folder(each): [] for each in self.tree.files if each.endswith(".py")
        }
        for each in self.tree.files:
            owner = next((str(up) for up in PurePosixPath(each).parents if str(up) in found), None)
            if owner and not each.endswith(".py"):
                found[owner].append(each)
        return found

    def _next_of(self, file: str) -> frozenset[str]:
        if file.endswith(".py"):
            return frozenset(self._of_module(file))
        if any(fnmatch(file, name) for name in READ_FOR_NAMES):
            return self.named_by(COMMENT.sub("", self.tree.path(file).read_text("utf-8")))
        return frozenset()

    def _of_module(self, file: str) -> Iterator[str]:
        read: Source = source(self.tree.path(file).read_bytes(), file)
        folder = _folder(file)
        yield from self.packages[folder]
        for name in read.imports:
            yield from self._imported(name)
        for text in read.texts:
            yield from self.named_by(text)
            yield from self.tree.below(f"{folder}/{text}") if text.endswith(".py") else ()
        if PurePosixPath(file).name.startswith("test_"):
            above = (str(up / "conftest.py") for up in PurePosixPath(file).parents)
            yield from (each for path in above for each in self.tree.below(path))
        if read.loads_what_it_does_not_name or self._is_command(file):
            yield from self.product

    def _is_command(self, file: str) -> bool:
        return file.startswith("flows/") and file not in STARTS_NOTHING

    def _imported(self, name: str) -> Iterator[str]:
        """The module's file, and those of the packages around it, which run before it."""
        parts = name.split(".")
        for n in range(1, len(parts) + 1):
            path = "/".join(parts[:n])
            yield from self.tree.below(f"{path}/__init__.py") or self.tree.below(f"{path}.py")

    def _named_by(self, text: str) -> frozenset[str]:
        return frozenset(self._named(text))

    def _named(self, text: str) -> Iterator[str]:
        if text in COMMAND or text.endswith("/evergreen"):
            yield from self.product
        for found in DOTTED.finditer(text):
            yield from self._module(found[0])
        for found in BARE.finditer(text):
            yield from self._module(found[1])
        words = [word for word in WORDS.split(text) if word]
        alone = words == [text]  # not in f"evergreen {name}", whose first word is no folder
        for word in words:
            if alone or self._is_said_as_path(word):
                yield from self._path(word)

    def _module(self, dotted: str) -> Iterator[str]:
        """A module named in a text. Of a package all its modules: which one may be added later."""
        parts = dotted.split(".")
        while parts and not self._is_module("/".join(parts)):
            parts.pop()
        if not parts or (len(parts) == 1 and "." in dotted):  # `tasks.jsonl` is no module
            return
        yield from self._imported(".".join(parts))
        if "/".join(parts) in self.packages:
            for each in self.tree.below("/".join(parts)):
                name = PurePosixPath(each).name
                if not name.startswith("test_") and name != "conftest.py":
                    yield each

    def _is_module(self, path: str) -> bool:
        return path in self.packages or bool(self.tree.below(f"{path}.py"))

    def _is_said_as_path(self, word: str) -> bool:
        """In a sentence. Of shared data these say that it is not there; who reads it has a path."""
        return ("/" in word or "." in word) and "shared" not in word

    def _path(self, word: str) -> Iterator[str]:
        """The file or the folder, or the one around it that there is."""
        parts = re.sub(r"^(\.{0,2}/)+", "", word).strip("/").split("/")
        if parts[0] not in self.tree.tops:
            return
        while parts:
            if found := self.tree.below("/".join(parts)):
                yield from found
                return
            parts.pop()


def _folder(file: str) -> str:
    return str(PurePosixPath(file).parent)
