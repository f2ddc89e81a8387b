"""What CI may leave out: targets of the Makefile, and the long tests' files one by one."""

import re
import shlex
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath

from tests.stamps.reach import Reach
from tests.stamps.tree import Tree

TARGETS = ("demo", "rig-wheel", "test", "test-long", "test-lake", "rig-questions", "rig-formats",
           "rig-kills", "rig-prefect", "rig-local-model")  # fmt: skip
BY_FILE = {"test-long"}
"""Targets of which each file of tests has a stamp of its own."""

RULE = re.compile(r"([^\s:#=][^:=]*):(?!=)")
SETTING = re.compile(r"\w+\s*[:?+]?=")


class Makefile:
    """The rules of a Makefile, without their help."""

    def __init__(self, text: str) -> None:
        self.rules: dict[str, str] = {}
        self.settings = ""
        target = ""
        for line in text.replace("\\\n", " ").splitlines():
            if line.startswith("\t"):
                self.rules[target] += f"{line}\n"
            elif rule := RULE.match(line):
                target = rule[1]
                self.rules[target] = line.partition("##")[0].rstrip() + "\n"
            elif SETTING.match(line):
                self.settings += f"{line}\n"

    def text(self, target: str) -> str:
        """All that is said about a target: settings, its rule, and the rules of those it names."""
        waiting, found = [target], dict[str, str]()
        while waiting:
            name = waiting.pop()
            if name in self.rules and name not in found:
                found[name] = self.rules[name]
                waiting += re.split(r"[\s;]+", self.rules[name])
        return self.settings + "".join(found[name] for name in sorted(found))


class Units:
    """What has stamps, by name: a target, or a file of tests; and the sha of what each reaches."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tree = Tree(root)
        self.makefile = _makefile(self.tree)
        self._reach = Reach(self.tree)

    def names(self, target: str) -> list[str]:
        """What a target has stamps for: itself, or its files of tests."""
        return self.tests(target) if target in BY_FILE else [target]

    def sha(self, target: str, name: str) -> str:
        """Of all that can change how it ends: files by name and content, and what make runs."""
        lines = [f"{each} {self.tree.sha(each)}" for each in sorted(self.reached(target, name))]
        return sha256("\n".join([self.makefile.text(target), *lines]).encode()).hexdigest()

    def differs(self, now: Tree, target: str, name: str) -> bool:
        """Whether another state of the tree may give another sha."""
        reached = self.reached(target, name)
        return (
            now.files != self.tree.files
            or any(now.sha(each) != self.tree.sha(each) for each in reached)
            or _makefile(now).text(target) != self.makefile.text(target)
        )

    def reached(self, target: str, name: str) -> frozenset[str]:
        if name != target:
            return self._reach.of([name])
        if self.runs_pytest(target):
            return self._reach.of(self.tests(target))
        return self._reach.of([], self.makefile.rules[target].split())

    def runs_pytest(self, target: str) -> bool:
        return "-m pytest" in self.makefile.rules[target]

    def tests(self, target: str) -> list[str]:
        """The files that pytest is given: by their paths, and by a marker that they hold."""
        rule = self.makefile.rules[target]
        words = shlex.split(rule.replace("--ignore ", "--ignore=").partition("-m pytest")[2])
        ignored = {each for word in words if word.startswith("--ignore=")
                   for each in self._tests_below(word.removeprefix("--ignore="))}  # fmt: skip
        given = [each for word in words for each in self._tests_below(word)]
        marker = words[words.index("-m") + 1] if "-m" in words else ""
        return sorted(
            each
            for each in {*(given or self._tests_below("tests"))} - ignored
            if not re.fullmatch(r"\w+", marker) or self._holds(each, f"pytest.mark.{marker}")
        )

    def _tests_below(self, path: str) -> Iterator[str]:
        for each in self.tree.below(path.rstrip("/")):
            if PurePosixPath(each).match("test_*.py"):
                yield each

    def _holds(self, file: str, text: str) -> bool:
        return text in self.tree.path(file).read_text("utf-8")


def _makefile(tree: Tree) -> Makefile:
    return Makefile(tree.path("Makefile").read_text("utf-8"))
