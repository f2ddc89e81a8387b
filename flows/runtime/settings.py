"""Prefect's settings, to be set before its first import."""

import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, chdir
from pathlib import Path

from tasks.errors import ExpectedError

KEEP_VARIABLE = "EVERGREEN_SERVER_MINUTES"
"""Sets how long a local server stays after its last user."""
_FOR_SERVERS = re.compile(
    f"PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|XDG_.*|PYTHON.*|LD_LIBRARY_PATH"
    f"|SSL_CERT_FILE|SSL_CERT_DIR|{KEEP_VARIABLE}"
    "|PREFECT_(LOGGING|SERVER_LOGGING|SERVER_SERVICES|SERVER_EVENTS|SERVER_UI)_.*"
)
"""What a local server is told of the environment that it is started in: no keys, which it outlives,
and no address of another server or database."""


class InvalidMinutes(ExpectedError):
    """The variable EVERGREEN_SERVER_MINUTES holds no number of minutes."""


def load_keep_minutes() -> float:
    """Return for how many minutes a local server stays after its last user.

    Raises:
        InvalidMinutes: the variable holds something else.
    """
    setting = os.environ.get(KEEP_VARIABLE) or "10"
    if not re.fullmatch(r"\d{1,6}(\.\d+)?", setting):
        raise InvalidMinutes(
            f"{KEEP_VARIABLE}={setting!r} is no number of minutes. Write, for example, 10 or 0."
        )
    return float(setting)


def away_from_projects() -> AbstractContextManager[None]:
    """Work in a folder of ours: Prefect reads prefect.toml, .env and pyproject.toml of the working
    folder, which may be another project's."""
    return chdir(Path(__file__).parent)


def prefect_home() -> Path:
    """The folder of Prefect's history and results: EVERGREEN_PREFECT_HOME, or `data/prefect`."""
    return Path(os.environ.get("EVERGREEN_PREFECT_HOME", "data/prefect"))


def prefect_environment(home: Path, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return settings that keep Prefect local and quiet.

    Data locations and privacy settings are fixed; preferences (log levels) yield to `environ`
    (default: os.environ). Runs log at INFO into the history, the console shows warnings only.
    """
    environ = os.environ if environ is None else environ
    home = home.absolute()
    direct = [host for host in environ.get("NO_PROXY", "").split(",") if host]
    fixed = {
        "PREFECT_HOME": str(home),
        "PREFECT_LOCAL_STORAGE_PATH": str(home / "storage"),
        "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "false",
        # Nothing leaves the machine: no server heartbeat, usage events or marketing; and no proxy
        # for the loopback.
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
        "NO_PROXY": ",".join(dict.fromkeys([*direct, "127.0.0.1", "localhost"])),
    }
    preferred = {
        "PREFECT_LOGGING_LEVEL": "INFO",
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "WARNING",
        # Reveals killed runs (recovery.py); 30 s is Prefect's minimum.
        "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
        # Code that logs in a task also runs outside of one: no warnings about that.
        "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
    }
    return fixed | {key: environ.get(key, value) for key, value in preferred.items()}


def server_environment(home: Path) -> dict[str, str]:
    """Return the variables that the process of a local server starts with."""
    told = {name: value for name, value in os.environ.items() if _FOR_SERVERS.fullmatch(name)}
    return told | prefect_environment(home)
