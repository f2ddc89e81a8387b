"""What a user of LLM judges reads: the commands about them, and refusals."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import MODEL, at_hand, configured, value, write_configs
from tests.flows.plain_evaluation import evaluate_plainly
from tests.servers.anthropic import MessagesServer
from tests.servers.base import ModelServer
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer

CANARY = "canary-5f1d8e7a-do-not-sing"


@pytest.fixture(scope="module")
def folder(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Holds `configs` and `prepared.duckdb`, which waits for a judge."""
    folder = tmp_path_factory.mktemp("llm")
    with configured(write_configs(folder, retries={"tries": 2, "first_wait_seconds": 0.05})):
        shutil.copy(sample, folder / "prepared.duckdb")
        yield folder


@pytest.fixture(scope="module")
def judged(folder: Path) -> Path:
    """One agent's reports, judged without a fault."""
    path = Path(shutil.copy(folder / "prepared.duckdb", folder / "judged.duckdb"))
    with at_hand(GeminiServer(), "gemini"):
        evaluate_plainly(path, ("wiki_fact",), ("sample_sketch",), "gemini")
    return path


def test_the_ledger_can_be_read(judged: Path, evergreen: Evergreen, tmp_path: Path) -> None:
    n_calls = value(judged, "SELECT count(*) FROM calls")
    code, answer, _ = evergreen("calls", "--format", "json", "--warehouse", judged)
    assert code == 0
    groups = json.loads(answer)
    assert {group["step"] for group in groups} == {
        "wiki_fact/verify_claims", "wiki_fact/verify_against_page",
    }  # fmt: skip
    assert sum(group["calls"] for group in groups) == n_calls
    assert {group["status"] for group in groups} == {"ok"}
    _, answer, _ = evergreen("calls", "--status", "ok", "--format", "json", "--warehouse", judged)
    calls = json.loads(answer)
    assert len(calls) == n_calls
    code, answer, _ = evergreen("calls", "--show", calls[0]["call"], "--warehouse", judged)
    assert code == 0
    assert MODEL in answer
    assert "BEGIN" in answer
    target = tmp_path / "calls.jsonl"
    code, _, _ = evergreen("calls", "--output", target, "--warehouse", judged)
    assert code == 0
    assert len([json.loads(line) for line in target.read_text("utf-8").splitlines()]) == n_calls


def test_judges_are_listed_with_their_state(folder: Path, evergreen: Evergreen) -> None:
    code, answer, _ = evergreen("judges", "--format", "json")
    assert code == 0
    known = {row["judge"]: row for row in json.loads(answer)}
    assert known["gemini"]["model"] == MODEL
    assert (known["gemini"]["in"], known["gemini"]["out"]) == (1.0, 10.0)
    assert "offline (default)" in known


def test_a_judge_that_answers_is_ready(folder: Path, evergreen: Evergreen) -> None:
    server = GeminiServer()
    with at_hand(server, "gemini"):
        code, answer, _ = evergreen("judges", "check", "gemini")
    assert code == 0
    assert f"gemini: answers as {MODEL}; said consistent ($0.00" in answer
    assert len(server.log.entries) == 1


@pytest.mark.parametrize(
    ("options", "exits", "said"),
    [
        ({"thinking_tokens": 20}, 0, f"answers as {MODEL}; said consistent (price unknown)"),
        ({"key": "another key"}, 1, "the key is not accepted"),
        ({"models": ["another"]}, 1, "there is no such model"),
        ({"faults": FaultPlan(("spend_cap",))}, 1, "no credit or quota left"),
    ],
)
def test_a_judge_of_anthropic_is_ready_or_says_why_not(
    folder: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any], exits: int, said: str,
) -> None:  # fmt: skip
    server = MessagesServer(**{"key": CANARY} | options)
    with at_hand(server, "gemini"):
        monkeypatch.setenv("EVERGREEN_TEST_KEY", CANARY)
        code, answer, remarks = evergreen("judges", "check", "messages")
    told = " ".join((answer + remarks).split())
    assert (code, len(server.headers)) == (exits, 1)
    assert said in told
    assert CANARY not in told


@pytest.mark.parametrize(
    ("judge", "server", "said"),
    [
        ("openai", OpenAiServer(key="another key"), "the key is not accepted"),
        ("gemini", GeminiServer(key=None, models=["another"]), "there is no such model"),
        ("pinned", GeminiServer(key=None, answers_as="other"), "answered as 'other'"),
    ],
    ids=["wrong key", "no such model", "another version"],
)
def test_a_judge_that_cannot_answer_says_why(
    folder: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch,
    judge: str, server: ModelServer, said: str,
) -> None:  # fmt: skip
    kind = "openai" if judge == "openai" else "gemini"
    with at_hand(server, kind):
        monkeypatch.setenv("EVERGREEN_TEST_KEY", CANARY)
        code, _, remarks = evergreen("judges", "check", judge)
    assert code == 1
    assert said in " ".join(remarks.split())
    assert CANARY not in remarks
