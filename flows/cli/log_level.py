"""How much libraries say on stderr, Prefect above all: `--log-level`, or EVERGREEN_LOG_LEVEL.

What Evergreen itself says to people is no log: `--quiet` leaves it out. Whatever is said here,
runs log into their history from INFO on.
"""

import os
from enum import StrEnum

LOG_LEVEL = "EVERGREEN_LOG_LEVEL"
CONSOLE = "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"


class LogLevel(StrEnum):
    """From what level on it is said."""

    ERROR = "error"
    WARNING = "warning"
    """Unless somebody says."""
    INFO = "info"
    """Also what runs and their tasks log."""
    DEBUG = "debug"
    """Everything, also into the history and the log of a server of ours."""


LOG_LEVEL_HELP = (
    f"What Prefect and other libraries may say on stderr; info shows what runs log, debug all "
    f"({LOG_LEVEL})."
)


def set_log_level(level: LogLevel) -> None:
    """Have Prefect log from this level on, here and in the processes that this one starts. Prefect
    reads it when it is imported: before that."""
    name = level.value.upper()
    os.environ[LOG_LEVEL] = level.value
    os.environ[CONSOLE] = name
    os.environ["PREFECT_LOGGING_LEVEL"] = "DEBUG" if level is LogLevel.DEBUG else "INFO"
    os.environ["PREFECT_SERVER_LOGGING_LEVEL"] = name


def shows_runs() -> bool:
    """Whether what runs log is wanted on stderr, too; otherwise it is in their history alone."""
    return os.environ.get(CONSOLE, "WARNING").upper() in ("INFO", "DEBUG")
