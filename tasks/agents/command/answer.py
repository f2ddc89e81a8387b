"""The result of a program, as its supervisor recorded it, read as an answer."""

import json

from pydantic import ValidationError

from tasks.agents.agent import JobAnswer, UnreadableJobAnswer
from tasks.agents.command.supervisor import ANSWER_FILE
from tasks.agents.wire.report_form import parse_report_form
from tasks.base import Frozen
from tasks.warehouse.rows import ForeignText

MAX_STDERR_CHARS = 600
"""How much of the end of a program's standard error goes into a message."""

REFUSALS = (
    "Permission denied", "PermissionError", "EACCES", "Operation not permitted",
    "No such file or directory", "FileNotFoundError", "ModuleNotFoundError", "No module named",
)  # fmt: skip
"""What programs say where the isolation keeps them from something."""


class ProgramExit(Frozen, extra="ignore"):
    """How a program ended."""

    reason: ForeignText
    """`exit`, `timeout`, `memory`, `stopped` (its supervisor was terminated), `died` (it ended
    without a result), or why it could not be started."""
    code: int | None = None
    signal: ForeignText | None = None
    seconds: float | None = None
    seconds_allowed: float | None = None
    peak_memory_mb: float | None = None
    """Peak resident memory of its largest process."""
    memory_mb_allowed: int | None = None
    isolation: ForeignText | None = None
    """What held it; None if nothing did."""


class ProgramResult(Frozen, extra="ignore"):
    """The contents of `ended.json`, the raw answer of a job."""

    exit: ProgramExit
    report: ForeignText | None = None
    given: ForeignText | None = None
    """The text of `answer.json`."""
    problem: ForeignText | None = None
    """Why its output files could not be used."""
    stderr_tail: ForeignText = ""


def read(raw: str) -> JobAnswer:
    """Read the answer of a program.

    Raises:
        UnreadableJobAnswer: `raw` is no ProgramResult, or `answer.json` does not match its form.
    """
    try:
        result = ProgramResult.model_validate_json(raw)
    except ValidationError as error:
        raise UnreadableJobAnswer(f"expected the result of a program, as JSON: {error}") from None
    failure = _describe_failure(result)
    try:
        given = _parse_answer_file(result)  # it takes precedence, however the program ended
        if not given.get("report"):
            given["report"] = result.report or ""
        answer = parse_report_form(given)
    except UnreadableJobAnswer:
        if failure is None:
            raise
        answer = JobAnswer(outcome="failed", text=result.report or "")
    if failure is not None:
        return answer.model_copy(update={"outcome": "failed", "error": failure})
    if answer.outcome == "failed" and not answer.text.strip():
        why = answer.error or "no report"
        return answer.model_copy(update={"error": f"{why}{_quote_stderr(result)}"})
    return answer


def _parse_answer_file(result: ProgramResult) -> dict[str, object]:
    if result.given is None:
        return {}
    try:
        given = json.loads(result.given)
    except (ValueError, RecursionError) as error:
        raise UnreadableJobAnswer(f"{ANSWER_FILE} is not JSON ({error})") from None
    if not isinstance(given, dict):
        raise UnreadableJobAnswer(f"{ANSWER_FILE}: expected an object, got {str(given)[:80]!r}")
    return given


def _describe_failure(result: ProgramResult) -> str | None:
    """Describe why there is no valid report; None if nothing failed."""
    end = result.exit
    if end.reason == "timeout":
        allowed = (end.seconds_allowed or 0) / 60
        return f"it was ended after {allowed:.3g} minutes, its limit{_quote_stderr(result)}"
    if end.reason == "memory":
        return (
            f"it ran out of the {end.memory_mb_allowed} MB that `memory_mb` allows"
            f"{_quote_stderr(result)}"
        )
    if end.reason == "died":
        return "it ended without a result (the machine restarted, or its supervisor was killed)"
    if end.reason == "stopped":
        return f"it was stopped from outside{_quote_stderr(result)}"
    if end.reason != "exit":
        return f"it {end.reason}"
    if end.signal is not None:
        hint = " (often: the machine has no memory left)" if end.signal == "SIGKILL" else ""
        return f"it was ended by {end.signal}{hint}{_quote_stderr(result)}"
    if end.code != 0:
        return f"it ended with code {end.code}{_suggest_reads(result)}{_quote_stderr(result)}"
    return result.problem


def _suggest_reads(result: ProgramResult) -> str:
    """Name the setting that it may lack, if it complains of a file or a connection."""
    if result.exit.isolation is None or not any(w in result.stderr_tail for w in REFUSALS):
        return ""
    return (
        f" (it is held by {result.exit.isolation}: what it may read and reach is `reads` and "
        "`network` in its entry of configs/agents.yaml)"
    )


def _quote_stderr(result: ProgramResult) -> str:
    last = result.stderr_tail.strip()[-MAX_STDERR_CHARS:]
    return f"; the end of its standard error: {last}" if last else ""
