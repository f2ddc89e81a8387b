"""Keys come from Prefect and appear nowhere; an estimate says what the evaluation then asks."""

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.registry import load_judge_entry
from tasks.judging.session import check_judge_live
from tasks.models.errors import Misconfigured
from tests import patient
from tests.conftest import PREFECT_HOME
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import MODEL, ROOT, at_hand, environment, value
from tests.guarantees.flows.cli.test_llm_commands import CANARY, folder, judged
from tests.servers.base import ModelServer
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer

__all__ = ["folder", "judged"]
PAGE = 200


def everything_in(warehouse: Path) -> str:
    """All rows of all tables as text."""
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        names = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        return "\n".join(
            str(connection.execute(f"SELECT * FROM {name}").fetchall()) for (name,) in names
        )


def everything_told(api: str) -> str:
    """What the Prefect API tells of all runs, with their logs and artifacts."""
    told = []
    for what in ("flow_runs", "task_runs", "logs", "artifacts"):
        for offset in range(0, 20_000, PAGE):
            answer = patient.post(f"{api}/{what}/filter", json={"limit": PAGE, "offset": offset})
            answer.raise_for_status()
            told.append(answer.text)
            if len(answer.json()) < PAGE:
                break
    return "\n".join(told)


@pytest.mark.parametrize(
    ("judge", "server", "ends"),
    [
        ("gemini", GeminiServer(key=CANARY, faults=FaultPlan(("key_echoed",), times=None)), ""),
        ("openai", OpenAiServer(key="another key"), "/v1"),
    ],
    ids=["a server that repeats the key", "a key that is not accepted"],
)
def test_the_key_appears_nowhere_after_a_failing_run(
    api: str, folder: Path, tmp_path: Path, judge: str, server: ModelServer, ends: str
) -> None:
    path = Path(shutil.copy(folder / "prepared.duckdb", tmp_path / "w.duckdb"))
    command = ["evaluate", "--edition", "sample", "--judge", judge, "--warehouse", str(path),
               "--agent", "sample_sketch", "--protocol", "wiki_fact"]  # fmt: skip
    with at_hand(server, judge) as address:
        done = subprocess.run(
            [sys.executable, "-m", "flows", *command],
            env=environment(folder / "configs", PREFECT_HOME, EVERGREEN_TEST_KEY=CANARY,
                            EVERGREEN_TEST_URL=address + ends),
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Partial" in done.stderr
    assert "[key]" in done.stderr  # so it was there to be hidden
    kept, told = everything_in(path), everything_told(api)
    assert "sample_sketch" in kept
    assert "[key]" in told
    for text in (done.stdout, done.stderr, kept, told):
        assert CANARY not in text


def test_an_estimate_says_what_the_evaluation_then_asks(
    folder: Path, judged: Path, evergreen: Evergreen
) -> None:
    asked = ("evaluate", "--estimate", "--edition", "sample", "--judge", "gemini", "--agent",
             "sample_sketch", "--protocol", "wiki_fact", "--warehouse")  # fmt: skip
    code, answer, _ = evergreen(*asked, folder / "prepared.duckdb", "--format", "json")
    assert code == 0
    [row] = json.loads(answer)
    assert (row["protocol"], row["agent"], row["cells"]) == ("wiki_fact", "sample_sketch", 3)
    assert row["calls"] == value(judged, "SELECT count(*) FROM calls")
    assert row["in_ledger"] == 0
    spent = value(judged, "SELECT sum(cost_usd) FROM calls")
    assert row["usd"] / 3 < spent < row["usd_at_most"]
    code, answer, remarks = evergreen(*asked, judged)
    assert code == 0
    assert "3 of 3 cells need no judging" in remarks


def test_a_key_can_come_from_a_prefect_secret_block(
    api: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.blocks.system import Secret

    async def kept_and_used() -> str:
        await Secret(value="a-kept-key").save("evergreen-test-key", overwrite=True)
        entry = load_judge_entry("gemini")[1].model_copy(update={"key_block": "evergreen-test-key"})
        assert isinstance(entry, LlmJudgeEntry)
        return await check_judge_live("gemini", entry)

    with at_hand(GeminiServer(key="a-kept-key"), "gemini"):
        monkeypatch.delenv("EVERGREEN_TEST_KEY")
        monkeypatch.setenv("PREFECT_API_URL", api)
        assert f"answers as {MODEL}" in asyncio.run(kept_and_used())


def test_a_block_that_is_not_there_is_named(
    api: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = load_judge_entry("gemini")[1].model_copy(update={"key_block": "nowhere"})
    assert isinstance(entry, LlmJudgeEntry)
    with at_hand(GeminiServer(), "gemini"):
        monkeypatch.delenv("EVERGREEN_TEST_KEY")
        monkeypatch.setenv("PREFECT_API_URL", api)
        with pytest.raises(Misconfigured, match="create a Prefect Secret block 'nowhere'"):
            asyncio.run(check_judge_live("gemini", entry))
