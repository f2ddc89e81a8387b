"""How Prefect is set up here, before anything of it is imported."""

import os
from collections.abc import Mapping
from pathlib import Path


def prefect_home() -> Path:
    """Where Prefect keeps its history and results: `data/prefect`, or EVERGREEN_PREFECT_HOME."""
    return Path(os.environ.get("EVERGREEN_PREFECT_HOME", "data/prefect"))


def prefect_environment(home: Path, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Settings that keep Prefect local and quiet; set them before the first import of prefect.

    Where data lies and what may leave the machine is fixed; matters of taste (log levels) give
    way to what `environ` (default: os.environ) already says. Runs log at INFO into the history,
    the console shows warnings only.
    """
    environ = os.environ if environ is None else environ
    home = home.absolute()
    direct = [host for host in environ.get("NO_PROXY", "").split(",") if host]
    fixed = {
        "PREFECT_HOME": str(home),
        "PREFECT_LOCAL_STORAGE_PATH": str(home / "storage"),
        "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "false",
        # Nothing leaves the machine: the server's heartbeat, the client's usage events, the
        # UI's marketing; and no proxy stands between us and the loopback.
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
        "NO_PROXY": ",".join(dict.fromkeys([*direct, "127.0.0.1", "localhost"])),
    }
    preferred = {
        "PREFECT_LOGGING_LEVEL": "INFO",
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "WARNING",
        # By which a run that was killed is noticed (recovery.py); the least that can be.
        "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
        # Code that runs in a task may also run outside one, without a warning each time.
        "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
    }
    return fixed | {key: environ.get(key, value) for key, value in preferred.items()}
