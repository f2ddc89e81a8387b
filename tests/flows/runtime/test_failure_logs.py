"""What Prefect logs of a run that ended badly is what a person needs."""

import logging

import pytest

from flows.runtime.failure_logs import LOGGERS, log_messages_alone
from tasks.errors import ExpectedError


def logged(error: BaseException | None, said: pytest.LogCaptureFixture) -> str:
    """What is logged with the traceback of an error, or of none, as Prefect does for a state."""
    log_messages_alone()
    logger = logging.getLogger(LOGGERS[-1])
    handler = said.handler
    logger.addHandler(handler)
    try:
        if error:
            raise error
        logger.error("Task run failed with state: Partial", exc_info=True)
    except Exception:
        logger.exception("Encountered an exception")
    finally:
        logger.removeHandler(handler)
    return handler.format(said.records[-1])


@pytest.mark.parametrize(("error", "traceback", "message"), [
    (ExpectedError("Set the key."), False, "Set the key."),
    (ValueError("no"), True, "ValueError: no"),
    (None, False, "Task run failed with state: Partial"),
], ids=["that a user can fix", "that nobody expected", "that is a state"])  # fmt: skip
def test_a_traceback_stands_only_under_an_error_that_nobody_expected(
    error: BaseException | None, traceback: bool, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    text = logged(error, caplog)
    assert message in text
    assert ("Traceback" in text) == traceback
    assert "NoneType: None" not in text
