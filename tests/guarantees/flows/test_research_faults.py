"""The protocols of research queries with endpoints that fail in every way."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tasks.warehouse.store import open_warehouse
from tests.flows.llm_runs import (
    KINDS,
    at_hand,
    configured,
    evaluate,
    rows,
    value,
    verdicts,
    write_configs,
)
from tests.guarantees.flows.test_llm_faults import HEALED, LASTING, OPEN, PASSING
from tests.rigs.research_editions import PROTOCOLS, write_research_editions
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer

Verdicts = dict[tuple[str, ...], tuple[Any, ...]]
ONE = {"agents": ["thorough"], "extractor": "offline"}
PLACES: list[tuple[str, dict[str, Any]]] = [
    *(
        (name, {"edition": edition, "protocols": [name]} | ONE)
        for edition, name in PROTOCOLS.items()
    ),
    *((name, {"protocols": [name]}) for name in ("race", "reader")),
    ("fact", {"protocols": ["fact"], "agents": ["sample_scholar"]}),
]
"""Each protocol with an edition that it judges."""


@pytest.fixture(params=["rubric_bench", "race"])
def name(request: pytest.FixtureRequest) -> str:
    """A protocol that grades what a report has, and one that compares it with another."""
    return str(request.param)


@pytest.fixture
def chosen(name: str) -> dict[str, Any]:
    return dict(PLACES)[name]


@pytest.fixture(scope="module")
def prepared(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The sample edition and those of research queries, with the judges of `llm_runs`."""
    folder = tmp_path_factory.mktemp("research")
    path = Path(shutil.copy(sample, folder / "prepared.duckdb"))
    with open_warehouse(path) as warehouse:
        write_research_editions(warehouse)
    with configured(write_configs(folder)):
        yield path


@pytest.fixture
def path(prepared: Path, tmp_path: Path) -> Path:
    """A warehouse of its own."""
    return Path(shutil.copy(prepared, tmp_path / "warehouse.duckdb"))


@pytest.fixture(scope="module")
def calm(prepared: Path) -> Callable[[str], Verdicts]:
    """The verdicts of a protocol's run without faults, in which nothing is bought twice."""

    @cache
    def of(name: str) -> Verdicts:
        path = Path(shutil.copy(prepared, prepared.with_name(f"calm_{name}.duckdb")))
        server, chosen = GeminiServer(), dict(PLACES)[name]
        with at_hand(server, "gemini"):
            state = evaluate(path, "gemini", **chosen)
            asked = len(server.log.entries)
            again = evaluate(path, "gemini", **chosen)
        assert (state.name, again.name) == ("Completed", "Completed"), state.message
        assert len(server.log.entries) == asked == value(path, "SELECT count(*) FROM calls") > 3
        assert server.log.n_bought_again == 0
        assert value(path, f"SELECT count(*) FROM verdicts WHERE {OPEN}") == 0
        assert {label for label, *_ in verdicts(path).values()} != {None}
        return verdicts(path)

    return of


def test_both_kinds_of_judge_decide_alike(
    name: str, chosen: dict[str, Any], path: Path, calm: Callable[[str], Verdicts]
) -> None:
    with at_hand(OpenAiServer(), "openai"):
        assert evaluate(path, "openai", **chosen).name == "Completed"
    assert verdicts(path) == calm(name)


def test_faults_that_pass_leave_every_verdict_as_it_was(
    name: str, chosen: dict[str, Any], path: Path, calm: Callable[[str], Verdicts]
) -> None:
    plan = FaultPlan((*PASSING, "prompt_block"), in_turn=True, hint_seconds=0.1, slow_seconds=4)
    server = KINDS["gemini"][1](faults=plan)
    with at_hand(server, "gemini"):
        state = evaluate(path, "gemini", **chosen)
    assert state.name == "Completed", state.message
    assert verdicts(path) == calm(name)
    assert server.log.summary()["faults"]
    # What was blocked is asked for once more, in the same words; nothing else is.
    blocked = value(path, "SELECT count(*) FROM calls WHERE status IN ('blocked', 'refused')")
    assert server.log.n_bought_again == blocked


def test_faults_that_last_spoil_no_other_item_and_healing_buys_only_what_was_open(
    name: str, chosen: dict[str, Any], path: Path, calm: Callable[[str], Verdicts]
) -> None:
    plan = FaultPlan(LASTING, share=0.9, times=None, salt="lasting")
    server = GeminiServer(faults=plan)
    with at_hand(server, "gemini"):
        broken_state = evaluate(path, "hasty", **chosen)
        broken = verdicts(path)
        prompts = {entry.prompt_id for entry in server.log.entries}
        before = len(server.log.entries)
        server.faults = FaultPlan()
        healed_state = evaluate(path, "hasty", **chosen)
    assert (broken_state.type.value, broken_state.name) == ("COMPLETED", "Partial")
    # Only what is found out about answers (whether their evidence stands there) may be missing.
    assert {step for *_, step, _ in calm(name).keys() - broken.keys()} <= {"evidence"}
    assert broken.keys() <= calm(name).keys()
    differing = {key: said for key, said in broken.items() if said != calm(name)[key]}
    assert {label for label, *_ in differing.values()} == {None}
    assert {status for _, status, _ in differing.values()} <= {
        "unparsable", "judge_error", "blocked", "skipped", "not_assessed",
    }  # fmt: skip
    assert healed_state.name == "Completed", healed_state.message
    healed = {key: said for key, said in verdicts(path).items() if said != calm(name)[key]}
    assert {status for _, status, _ in healed.values()} <= {"blocked"}
    bought = Counter(entry.prompt_id for entry in server.log.entries[before:])
    open_ones = {prompt for prompt in prompts if plan.fault_of(prompt) in HEALED}
    assert open_ones <= bought.keys()
    assert set(bought.values()) == {1}
    of = "SELECT count(*) FROM scores WHERE judge = 'hasty' AND n_open > 0"
    assert rows(path, of) == [(0,)]
