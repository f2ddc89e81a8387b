"""For pytest (`-p tests.stamps.outcomes`): run some files alone, and write down how each ended."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest


@dataclass
class Outcome:
    """How the tests of a file ended."""

    passed: int = 0
    failed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    """By reason."""

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", type=Path, help="Where to write how each file's tests ended.")
    parser.addoption("--only", type=Path, help="A list of files of tests: no others are run.")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--outcomes") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(config.getoption("--outcomes")))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if not config.getoption("--only") or not collection_path.match("test_*.py"):
        return None
    wanted = config.getoption("--only").read_text("utf-8").splitlines()
    return collection_path.relative_to(config.rootpath).as_posix() not in wanted or None


class Recorder:
    """Hears of every test, also of those that other processes run."""

    def __init__(self, to: Path) -> None:
        self.to = to
        self.files: dict[str, Outcome] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._note(report)

    def _note(self, report: Any) -> None:
        outcome = self.files.setdefault(report.nodeid.split("::")[0], Outcome())
        if report.failed:
            outcome.failed += 1
        elif report.skipped and not hasattr(report, "wasxfail"):
            outcome.skipped[report.longrepr[2].removeprefix("Skipped: ")] += 1
        elif report.when == "call":
            outcome.passed += 1

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Nothing of a run that was cut short: files may have been begun only."""
        ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if ended and not session.shouldfail and not session.shouldstop:
            whole = {file: vars(outcome) for file, outcome in self.files.items()}
            self.to.write_text(json.dumps(whole, indent=1), "utf-8")


def read_outcomes(path: Path) -> dict[str, Outcome]:
    """By file; none where a run was cut short."""
    if not path.exists():
        return {}
    read = json.loads(path.read_text("utf-8"))
    return {
        file: Outcome(each["passed"], each["failed"], Counter(each["skipped"]))
        for file, each in read.items()
    }
