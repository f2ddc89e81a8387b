"""What a program brought, as its supervisor wrote it down, read as an answer."""

import json

from pydantic import BaseModel, ConfigDict, ValidationError

from tasks.agents.agent import Answer, UnreadableAnswer
from tasks.agents.command.supervise import ANSWER_FILE
from tasks.agents.given import answer_of
from tasks.warehouse.rows import ForeignText

SAID = 600
"""Characters of what a program said last that go into an error."""


class Exit(BaseModel):
    """How a program ended."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    reason: ForeignText
    """`exit`, `timeout`, `memory`, `stopped` (its supervisor was asked to end), `died` (it ended
    without a result), or why it could not be started."""
    code: int | None = None
    signal: ForeignText | None = None
    seconds: float | None = None
    seconds_allowed: float | None = None
    peak_memory_mb: float | None = None
    """Of its largest process, resident."""
    memory_mb_allowed: int | None = None


class Ended(BaseModel):
    """`ended.json`, the raw answer of a job."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    exit: Exit
    report: ForeignText | None = None
    given: ForeignText | None = None
    """What `answer.json` holds, as it stands there."""
    problem: ForeignText | None = None
    """Why what it left could not be taken."""
    stderr_tail: ForeignText = ""


def read(raw: str) -> Answer:
    """What a program brought.

    Raises:
        UnreadableAnswer: `raw` is not of this kind, or its `answer.json` not of its form.
    """
    try:
        ended = Ended.model_validate_json(raw)
    except ValidationError as error:
        raise UnreadableAnswer(f"expected what a supervisor writes, as JSON: {error}") from None
    failure = _failure(ended)
    try:
        answer = _brought(ended)
    except UnreadableAnswer:
        if failure is None:
            raise
        answer = Answer(outcome="failed", text=ended.report or "")
    if failure is not None:
        return answer.model_copy(update={"outcome": "failed", "error": failure})
    if answer.outcome == "failed" and not answer.text.strip():
        why = answer.error or "no report"
        return answer.model_copy(update={"error": f"{why}{_last_words(ended)}"})
    return answer


def _brought(ended: Ended) -> Answer:
    """What it left, however it ended. What `answer.json` holds goes before its output."""
    given = _given(ended)
    if not given.get("report"):
        given["report"] = ended.report or ""
    return answer_of(given)


def _given(ended: Ended) -> dict[str, object]:
    if ended.given is None:
        return {}
    try:
        given = json.loads(ended.given)
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswer(f"{ANSWER_FILE} is not JSON ({error})") from None
    if not isinstance(given, dict):
        raise UnreadableAnswer(f"{ANSWER_FILE}: expected an object, got {str(given)[:80]!r}")
    return given


def _failure(ended: Ended) -> str | None:
    """Why there is no good report, in words; None if nothing went wrong."""
    end = ended.exit
    if end.reason == "timeout":
        allowed = (end.seconds_allowed or 0) / 60
        return f"it was ended after {allowed:.3g} minutes, its limit{_last_words(ended)}"
    if end.reason == "memory":
        return (
            f"it ran out of the {end.memory_mb_allowed} MB that `memory_mb` allows"
            f"{_last_words(ended)}"
        )
    if end.reason == "died":
        return "it ended without a result (the machine restarted, or its supervisor was killed)"
    if end.reason == "stopped":
        return f"it was stopped from outside{_last_words(ended)}"
    if end.reason != "exit":
        return f"it {end.reason}"
    if end.signal is not None:
        hint = " (often: the machine has no memory left)" if end.signal == "SIGKILL" else ""
        return f"it was ended by {end.signal}{hint}{_last_words(ended)}"
    if end.code != 0:
        return f"it ended with code {end.code}{_last_words(ended)}"
    return ended.problem


def _last_words(ended: Ended) -> str:
    last = ended.stderr_tail.strip()[-SAID:]
    return f"; it said last: {last}" if last else ""
