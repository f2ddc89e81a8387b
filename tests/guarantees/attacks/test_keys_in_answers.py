"""An agent that hands back the key it was given."""

import asyncio
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.runtime.task_runs import format_error
from tasks.imports.matching import match_reports
from tasks.imports.reports import import_reports
from tasks.jobs.run import NoReport
from tasks.models.errors import RequestRejected, TransientError
from tasks.warehouse.rows import Report
from tasks.warehouse.store import Warehouse
from tests.attacks.test_keys_in_results import OWN
from tests.tasks.asked_agents import (
    EDITION,
    ScriptedAgent,
    asker_of,
    ended,
    jobs,
    missing,
    running,
    warehouse,
)

__all__ = ["warehouse"]

WRITTEN = {"plain": OWN, "in base64": b64encode(f"Bearer {OWN}".encode()).decode()}
Answers = tuple[list[Any], list[Any]]
ANSWERS: dict[str, Callable[[str], Answers]] = {
    "as an id": lambda key: ([ended().model_copy(update={"remote_id": key})], []),
    "as a state": lambda key: ([ended().model_copy(update={"remote_state": key})], []),
    "in a refusal": lambda key: ([RequestRejected(f"no such key: {key}", 400)], []),
    "in an error": lambda key: ([TransientError(f"{key} is busy", "server")] * 3, []),
}


@pytest.mark.parametrize("way", WRITTEN)
@pytest.mark.parametrize("where", ANSWERS)
def test_no_part_of_an_answer_stores_our_key(
    where: str, way: str, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither an agent's answer nor its id, state or error stores a key of ours."""
    monkeypatch.setenv("MY_API_KEY", OWN)
    client = ScriptedAgent(*ANSWERS[where](WRITTEN[way]))
    told = ""
    try:
        asyncio.run(asker_of(warehouse, client).get_report(missing(warehouse)[0]))
    except NoReport as error:
        told = format_error(error)
    kept = "".join(job.model_dump_json() for job in jobs(warehouse))
    assert kept
    for key in WRITTEN.values():
        assert key not in kept + told


def test_no_error_carries_our_key_to_prefect(monkeypatch: pytest.MonkeyPatch) -> None:
    """The errors that a run lists in Prefect hold no key of ours."""
    monkeypatch.setenv("MY_API_KEY", OWN)
    assert OWN not in format_error(ValueError(f"the key {OWN} is wrong"))


@pytest.mark.parametrize("way", WRITTEN)
def test_a_report_that_holds_a_key_of_ours_is_set_aside(
    way: str, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that holds a key of ours, in any encoding, becomes no report, and is stored
    without it."""
    monkeypatch.setenv("OPENAI_API_KEY", OWN)
    written = WRITTEN[way]
    client = ScriptedAgent([running()], [ended(text=f"# Tern\n\nThe key is {written}.")])
    with pytest.raises(NoReport, match="holds the value of OPENAI_API_KEY"):
        asyncio.run(asker_of(warehouse, client).get_report(missing(warehouse)[0]))
    [job] = jobs(warehouse)
    assert (job.state, missing(warehouse)[0].next_step) == ("failed", "manual")
    assert written not in job.model_dump_json()
    assert warehouse.rows(Report, "true") == []


def test_a_report_file_that_holds_a_key_of_ours_is_left_out(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report that is imported as a file is searched for our keys as well."""
    monkeypatch.setenv("OPENAI_API_KEY", OWN)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "Tern_0.md").write_text(f"# Tern\n\n{OWN}")
    matched = match_reports(warehouse, tmp_path / "in", EDITION, "hand")
    done = import_reports(warehouse, matched, accept_guesses=True)
    assert [outcome.outcome for outcome in done.outcomes] == ["left out"]
    assert "holds the value of OPENAI_API_KEY" in done.outcomes[0].remarks[0]
