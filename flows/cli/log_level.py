"""The log level of libraries on stderr, mainly of Prefect: `--log-level` or EVERGREEN_LOG_LEVEL.

Evergreen's own messages are no log: `--quiet` mutes them. Whatever the level, runs log into their
history from INFO on.
"""

import os
from enum import StrEnum

LOG_LEVEL_VARIABLE = "EVERGREEN_LOG_LEVEL"
CONSOLE_LEVEL_VARIABLE = "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"


class LogLevel(StrEnum):
    """The lowest level that is shown."""

    ERROR = "error"
    WARNING = "warning"
    """The default."""
    INFO = "info"
    """Also the logs of runs and tasks."""
    DEBUG = "debug"
    """Everything, also in the history and in the log of a local server."""


LOG_LEVEL_HELP = (
    f"The log level of Prefect and other libraries on stderr; info shows the logs of runs, debug "
    f"everything ({LOG_LEVEL_VARIABLE})."
)


def set_log_level(level: LogLevel) -> None:
    """Set Prefect's log level, here and in the processes that this one starts; call it before
    Prefect is imported, which reads it."""
    name = level.value.upper()
    os.environ[LOG_LEVEL_VARIABLE] = level.value
    os.environ[CONSOLE_LEVEL_VARIABLE] = name
    os.environ["PREFECT_LOGGING_LEVEL"] = "DEBUG" if level is LogLevel.DEBUG else "INFO"
    os.environ["PREFECT_SERVER_LOGGING_LEVEL"] = name


def shows_run_logs() -> bool:
    """Whether stderr shows the logs of runs, too, not only their history."""
    return os.environ.get(CONSOLE_LEVEL_VARIABLE, "WARNING").upper() in ("INFO", "DEBUG")
