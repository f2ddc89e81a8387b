"""Before a flow spends, it is said which judge or agent ends soon, and what follows it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from flows import run
from flows.run import run_flow, warn_about_ends
from tasks.planning.options import EvaluateOptions

LITE = "gemini-2.5-flash retires on 2026-12-01, in 3 days; its successor is gemini-3.5-flash-lite."


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is printed on 2026-11-28 before a flow starts."""
    found: list[str] = []

    def stop() -> Any:
        raise InterruptedError

    monkeypatch.setattr(run, "utc_now", lambda: datetime(2026, 11, 28, tzinfo=UTC))
    monkeypatch.setattr(run, "print_message", lambda text, **style: found.append(text))
    monkeypatch.setattr(run, "exit_when_interrupted", stop)
    return found


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"judge": "gemini-2.5-flash", "agents": None}, [LITE]),
        ({"judge": None, "extractor": "gemini-2.5-flash", "agents": []}, [LITE]),
        ({"judge": "offline", "agents": ["gemini_deep_research", "gone"]}, []),
        ({"edition": "e"}, []),
        ({"judge": None, "agents": None, "to_publish": True}, []),
    ],
)
def test_what_ends_soon_is_told_first(
    parameters: dict[str, Any], said: list[str], told: list[str]
) -> None:
    warn_about_ends(parameters)
    assert told == said


def test_where_nothing_is_pending_nothing_is_told(told: list[str]) -> None:
    options = EvaluateOptions(edition="e", judge="gemini-2.5-flash")
    run_flow("evaluate", options, "all is judged")
    assert told == []
    with pytest.raises(InterruptedError):
        run_flow("evaluate", options)
    assert told[0] == LITE
