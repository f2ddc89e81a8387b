"""A model that nobody has named extracts within a budget, or after a person at the terminal has
agreed: so no command buys more than its user has allowed."""

import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from flows.cli import ask as ask_commands
from flows.cli import evaluate as evaluate_command
from tasks.planning.options import FlowOptions
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import KEY, at_hand, configured, value, write_configs
from tests.servers.gemini import GeminiServer
from tests.tasks.annotated import sample_warehouse

pytestmark = pytest.mark.usefixtures("judges")
ASKED = "gemini would extract the facts or claims of 7 texts for about $"


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    server = GeminiServer()
    with at_hand(server, "gemini"):
        yield server


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """The parameters of the flows that commands start here; none is run."""
    flows: list[dict[str, object]] = []

    def start(name: str, options: FlowOptions, *_: object) -> tuple[bool, str]:
        flows.append(options.model_dump())
        return True, "not run"

    monkeypatch.setattr(evaluate_command, "run_flow", start)
    monkeypatch.setattr(ask_commands, "run_flow", start)
    return flows


def evaluate(path: Path, *more: object) -> tuple[object, ...]:
    return ("evaluate", "--edition", "sample", "--judge", "gemini", "--protocol", "wiki_fact",
            "--warehouse", path, *more)  # fmt: skip


def test_without_a_budget_and_a_terminal_it_is_refused_and_nothing_is_bought(
    tmp_path: Path, evergreen: Evergreen, server: GeminiServer
) -> None:
    path = sample_warehouse(tmp_path)
    code, _, said = evergreen(*evaluate(path))
    assert code == 1
    told = " ".join(said.split())
    assert ASKED in told
    assert "there is no budget. Nothing was bought. Set a budget (--budget, " in told
    assert server.log.entries == []
    assert value(path, "SELECT count(*) FROM extractions WHERE source <> 'published'") == 0


def test_fetching_pages_buys_no_claims_unasked(
    tmp_path: Path, evergreen: Evergreen, server: GeminiServer
) -> None:
    path = sample_warehouse(tmp_path)
    with configured(write_configs(tmp_path, default="gemini")):
        code, _, said = evergreen("fetch", "--edition", "sample", "--warehouse", path)
    assert code == 1
    told = " ".join(said.split())
    assert "gemini would extract the facts or claims of 6 texts for about $" in told
    assert "(--budget, which `fetch` does not have)" in told
    assert server.log.entries == []


def test_without_a_key_nobody_is_asked_and_nothing_is_bought(
    tmp_path: Path, evergreen: Evergreen, server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY)
    code, _, said = evergreen(*evaluate(sample_warehouse(tmp_path), "--budget", "5"))
    assert (code, "has no key" in said) == (1, True)
    assert server.log.entries == []


@pytest.mark.parametrize(
    ("given", "extractor"),
    [(["--budget", "5"], None), (["--extractor", "gemini"], "gemini"),
     (["--extractor", "offline"], "offline")],
)  # fmt: skip
def test_a_budget_or_a_named_extractor_needs_no_answer(
    tmp_path: Path, evergreen: Evergreen, server: GeminiServer,
    started: list[dict[str, object]], given: list[str], extractor: str | None,
) -> None:  # fmt: skip
    assert evergreen(*evaluate(sample_warehouse(tmp_path), *given))[0] == 0
    assert [flow["extractor"] for flow in started] == [extractor]


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_a_person_at_the_terminal_is_asked_with_the_estimate(
    tmp_path: Path, evergreen: Evergreen, server: GeminiServer, monkeypatch: pytest.MonkeyPatch,
    started: list[dict[str, object]], answer: str, code: int,
) -> None:  # fmt: skip
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    ended, _, said = evergreen(*evaluate(sample_warehouse(tmp_path), "--extract-again"))
    assert ended == code
    assert said.count(ASKED) == 1
    assert "There is no budget. Continue? [y/N]" in said
    again = [(flow["extractor"], flow["extract_again"]) for flow in started]
    assert again == ([("gemini", True)] if code == 0 else [])
    assert server.log.entries == []
