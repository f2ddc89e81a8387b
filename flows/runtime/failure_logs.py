"""How Prefect logs what ends a run or a task: an error that a user can fix as on the command line,
by its message without a traceback."""

import logging

from tasks.errors import ExpectedError

LOGGERS = ("prefect.engine", "prefect.flow_runs", "prefect.task_runs")
"""They log what ends a run."""


def log_messages_alone() -> None:
    """Have these loggers drop tracebacks that help nobody."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(drop_traceback)


def drop_traceback(record: logging.LogRecord) -> bool:
    """Reduce the record of an `ExpectedError` to its message, and that of a state to what it says:
    Prefect adds the traceback of no error, `NoneType: None`. For a logger's filters."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, ExpectedError):
        record.msg, record.args, record.exc_info = "%s", (str(error),), None
    elif error is None:
        record.exc_info = None
    return True
