"""Prefect's settings, to be set before its first import."""

import os
from collections.abc import Mapping
from pathlib import Path


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
