"""One setting for how much libraries say on stderr."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.cli.main import (
    CONSOLE_LEVEL_VARIABLE,
    LOG_LEVEL_VARIABLE,
    LogLevel,
    set_log_level,
)
from tests.flows.conftest import Evergreen

ROOT = Path(__file__).resolve().parents[4]
SET = (
    LOG_LEVEL_VARIABLE,
    CONSOLE_LEVEL_VARIABLE,
    "PREFECT_LOGGING_LEVEL",
    "PREFECT_SERVER_LOGGING_LEVEL",
)


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in SET}
    os.environ.pop(LOG_LEVEL_VARIABLE, None)
    yield
    for name, value in before.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


@pytest.mark.parametrize(
    ("level", "console", "history"),
    [
        (LogLevel.ERROR, "ERROR", "INFO"),
        (LogLevel.WARNING, "WARNING", "INFO"),
        (LogLevel.INFO, "INFO", "INFO"),
        (LogLevel.DEBUG, "DEBUG", "DEBUG"),
    ],
)
def test_a_level_sets_what_prefect_says_and_keeps(
    level: LogLevel, console: str, history: str
) -> None:
    set_log_level(level)
    assert (
        os.environ[CONSOLE_LEVEL_VARIABLE] == os.environ["PREFECT_SERVER_LOGGING_LEVEL"] == console
    )
    assert os.environ["PREFECT_LOGGING_LEVEL"] == history


def test_the_option_comes_before_the_command_and_the_variable_does_the_same(
    evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert evergreen("--log-level", "debug", "schema", "facts")[0] == 0
    assert os.environ[CONSOLE_LEVEL_VARIABLE] == "DEBUG"
    assert os.environ[LOG_LEVEL_VARIABLE] == "debug", "so say the processes that it starts"
    monkeypatch.setenv(LOG_LEVEL_VARIABLE, "error")
    assert evergreen("schema", "facts")[0] == 0
    assert os.environ[CONSOLE_LEVEL_VARIABLE] == "ERROR"
    assert evergreen("--log-level", "info", "schema", "facts")[0] == 0
    assert os.environ[CONSOLE_LEVEL_VARIABLE] == "INFO", "the option wins"


def test_another_word_is_wrong_usage(evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, said = evergreen("--log-level", "loud", "schema")
    assert code == 2
    assert "warning" in said
    monkeypatch.setenv(LOG_LEVEL_VARIABLE, "loud")
    assert evergreen("schema")[0] == 2


def test_prefect_takes_it(tmp_path: Path) -> None:
    code = f"""
import os
from pathlib import Path
from flows.cli.main import LogLevel, set_log_level
from flows.runtime.settings import prefect_environment
os.environ.update(prefect_environment(Path({str(tmp_path)!r})))
set_log_level(LogLevel.INFO)
import logging, prefect.flows
from prefect.logging.configuration import setup_logging
setup_logging()
(console,) = logging.getLogger().handlers
print(logging.getLevelName(console.level), prefect.settings.get_current_settings().logging.level)
"""
    plain = {name: value for name, value in os.environ.items() if name not in SET}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=plain, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["INFO", "INFO"], done.stderr
