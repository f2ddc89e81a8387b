"""LLM judges whose endpoints fail in every way: what is decided in the end, and what it costs."""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.flows.llm_runs import (
    KINDS,
    MODEL,
    at_hand,
    configured,
    evaluate,
    rows,
    value,
    verdicts,
    write_configs,
)
from tests.servers.base import ModelServer
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer

PASSING = (
    "rate_limit", "rate_limit_retry_after", "rate_limit_retry_info", "server_500", "html_502",
    "reset_before", "reset_mid_body", "bad_gzip", "cut_gzip", "unknown_encoding", "bad_charset",
    "bad_reason", "bad_cookie", "truncated_json", "empty_200", "safety", "wrong_enum",
    "missing_item", "slow",
)  # fmt: skip
LASTING = ("wrong_enum", "server_500", "safety")
HEALED = ("wrong_enum", "server_500")
AGENTS = ["sample_scholar"]
"""Whose reports are judged here: one agent's have every kind of decision in them."""
OPEN = "status IN ('unparsable', 'judge_error')"


@pytest.fixture(scope="module")
def prepared(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A small edition, ready for a judge; the judges of `llm_runs` are known meanwhile."""
    folder = tmp_path_factory.mktemp("llm")
    with configured(write_configs(folder)):
        yield Path(shutil.copy(small, folder / "prepared.duckdb"))


class Calm(NamedTuple):
    """A run without faults."""

    path: Path
    server: ModelServer
    state: Any


@pytest.fixture(scope="module")
def calm(prepared: Path) -> dict[str, Calm]:
    """By kind of judge."""
    found = {}
    for kind, (_, server_class, _) in KINDS.items():
        path = Path(shutil.copy(prepared, prepared.with_name(f"calm_{kind}.duckdb")))
        server = server_class()
        with at_hand(server, kind):
            found[kind] = Calm(path, server, evaluate(path, kind, agents=AGENTS))
    return found


@pytest.fixture
def path(prepared: Path, tmp_path: Path) -> Path:
    """A warehouse of its own, ready for a judge."""
    return Path(shutil.copy(prepared, tmp_path / "warehouse.duckdb"))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_calm_run_decides_everything_and_buys_each_answer_once(
    calm: dict[str, Calm], kind: str
) -> None:
    run = calm[kind]
    assert run.state.name == "Completed", run.state.message
    assert value(run.path, "SELECT count(*) FROM verdicts WHERE label IS NOT NULL") > 20
    assert value(run.path, f"SELECT count(*) FROM verdicts WHERE {OPEN}") == 0
    totals = run.server.log.summary()
    assert totals["requests"] == totals["answered"] == value(run.path, "SELECT count(*) FROM calls")
    assert totals["bought_again"] == 0


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_both_kinds_of_judge_decide_alike(calm: dict[str, Calm], kind: str) -> None:
    assert verdicts(calm[kind].path) == verdicts(calm["gemini"].path)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_faults_that_pass_leave_every_verdict_as_it_was(
    calm: dict[str, Calm], path: Path, kind: str
) -> None:
    # Every prompt goes wrong at first; `slow` is too slow for the client.
    faults = (*PASSING, "prompt_block" if kind == "gemini" else "refusal")
    plan = FaultPlan(faults, in_turn=True, hint_seconds=0.1, slow_seconds=4)
    server = KINDS[kind][1](faults=plan)
    with at_hand(server, kind):
        state = evaluate(path, kind, agents=AGENTS)
    assert state.name == "Completed", state.message
    assert verdicts(path) == verdicts(calm[kind].path)
    struck = server.log.summary()["faults"]
    assert set(struck) == set(faults)
    assert value(path, "SELECT count(*) FROM calls WHERE status = 'failed'") == 0
    assert value(path, "SELECT max(tries) FROM calls") > 1
    # What was blocked is asked for once more, in the same words; nothing else is.
    blocked = value(path, "SELECT count(*) FROM calls WHERE status IN ('blocked', 'refused')")
    assert blocked == sum(struck.get(fault, 0) for fault in ("safety", "prompt_block", "refusal"))
    assert server.log.n_bought_again == blocked


class Lasting(NamedTuple):
    """A run with faults that never healed, and the run after the server was mended."""

    broken: dict[tuple[str, ...], tuple[Any, ...]]
    broken_state: Any
    counts: tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]
    """Of either run, by report and metric: metric, decided, n_items, blocked, open, n_open."""
    provisional: set[bool]
    """Of the broken run's leaderboard, over all agents' coverage."""
    healed: dict[tuple[str, ...], tuple[Any, ...]]
    healed_state: Any
    asked_for: set[str]
    """Prompts whose fault was one that may heal."""
    bought: Counter[str]
    """Requests of each prompt after the mending."""


COUNTS = f"""
SELECT s.metric, count(*) FILTER (v.status = 'ok'), any_value(s.n_items),
    count(*) FILTER (v.status = 'blocked'), count(*) FILTER ({OPEN}), any_value(s.n_open)
FROM scores AS s JOIN verdicts AS v USING (edition, protocol, agent, assignment, judge)
WHERE judge <> 'offline' AND (s.metric, v.step) IN (
    ('coverage_wiki', 'coverage'), ('wiki_conflict', 'conflict'), ('ref_acc_pairs', 'citation'))
GROUP BY s.metric, agent, assignment ORDER BY ALL
"""


@pytest.fixture(scope="module")
def lasting(prepared: Path) -> Lasting:
    path = Path(shutil.copy(prepared, prepared.with_name("lasting.duckdb")))
    plan = FaultPlan(LASTING, share=0.3, times=None)
    server = GeminiServer(faults=plan)
    with at_hand(server, "gemini"):
        broken_state = evaluate(path, "hasty", agents=AGENTS)
        broken = verdicts(path)
        counts = rows(path, COUNTS)
        board = "SELECT agent, provisional FROM leaderboard WHERE metric = 'coverage_wiki'"
        provisional = {told for _, told in rows(path, f"{board} AND judge = 'hasty'")}
        prompts = {entry.prompt_id for entry in server.log.entries}
        before = len(server.log.entries)
        server.faults = FaultPlan()
        healed_state = evaluate(path, "hasty", agents=AGENTS)
    return Lasting(
        broken, broken_state, (counts, rows(path, COUNTS)), provisional, verdicts(path),
        healed_state,
        {prompt for prompt in prompts if plan.fault_of(prompt) in HEALED},
        Counter(entry.prompt_id for entry in server.log.entries[before:]),
    )  # fmt: skip


def test_faults_that_last_are_statuses_without_a_label_and_spoil_no_other_item(
    calm: dict[str, Calm], lasting: Lasting
) -> None:
    whole = verdicts(calm["gemini"].path)
    assert lasting.broken.keys() == whole.keys()
    differing = {key: said for key, said in lasting.broken.items() if said != whole[key]}
    statuses = Counter(status for _, status, _ in differing.values())
    assert statuses.keys() == {"unparsable", "judge_error", "blocked"}
    assert {label for label, _, _ in differing.values()} == {None}
    assert all(reason for _, _, reason in differing.values())


def test_an_item_without_a_label_is_in_no_denominator(lasting: Lasting) -> None:
    broken, healed = lasting.counts
    assert {row[0] for row in healed} == {"coverage_wiki", "wiki_conflict", "ref_acc_pairs"}
    # A report is scored when none of its items is open any more.
    assert all(n_items <= decided for _, decided, n_items, *_ in broken)
    assert sum(undecided for *_, undecided, _ in broken) > 0
    assert all((n, left) == (decided, 0) for _, decided, n, _, _, left in healed)
    assert sum(blocked for *_, blocked, _, _ in healed) > 0


def test_a_run_with_open_items_is_partial_and_its_leaderboard_provisional(
    lasting: Lasting,
) -> None:
    assert (lasting.broken_state.type.value, lasting.broken_state.name) == ("COMPLETED", "Partial")
    for status in ("judge_error", "unparsable"):
        assert f" of wiki_fact: {status}" in lasting.broken_state.message
    assert lasting.provisional == {True}


def test_a_mended_endpoint_heals_all_but_what_was_blocked(
    calm: dict[str, Calm], lasting: Lasting
) -> None:
    assert lasting.healed_state.name == "Completed", lasting.healed_state.message
    whole = verdicts(calm["gemini"].path)
    blocked = {key for key, said in lasting.broken.items() if said[1] == "blocked"}
    assert blocked
    assert {key for key, said in lasting.healed.items() if said != whole[key]} == blocked
    assert all(lasting.healed[key] == lasting.broken[key] for key in blocked)


def test_healing_buys_only_what_was_open(lasting: Lasting) -> None:
    assert lasting.bought == dict.fromkeys(lasting.asked_for, 1)


def test_a_finished_evaluation_calls_nothing(calm: dict[str, Calm]) -> None:
    run = calm["openai"]
    before = len(run.server.log.entries)
    with at_hand(run.server, "openai"):
        state = evaluate(run.path, "openai", agents=AGENTS)
    assert state.name == "Completed"
    assert len(run.server.log.entries) == before


def test_a_budget_is_never_exceeded_and_a_bigger_one_goes_on(
    calm: dict[str, Calm], path: Path
) -> None:
    spent = "SELECT coalesce(sum(cost_usd), 0) FROM calls"
    whole = value(calm["gemini"].path, spent)
    budget = round(whole * 0.6, 4)
    server = GeminiServer()
    with at_hand(server, "gemini"):
        first = evaluate(path, "gemini", agents=AGENTS, budget_usd=budget)
        first_spent, first_calls = value(path, spent), len(server.log.entries)
        second = evaluate(path, "gemini", agents=AGENTS, budget_usd=10 * whole)
    assert (first.type.value, first.name) == ("COMPLETED", "Partial")
    assert f"The budget of ${budget:,.2f} is used up" in first.message
    assert 0 < first_spent <= budget
    assert 0 < first_calls < len(server.log.entries)
    assert second.name == "Completed", second.message
    assert server.log.n_bought_again == 0
    assert value(path, spent) > budget
    assert verdicts(path) == verdicts(calm["gemini"].path)


def test_a_pinned_judge_takes_no_other_version(calm: dict[str, Calm], path: Path) -> None:
    server = GeminiServer(answers_as="other")
    with at_hand(server, "gemini"):
        state = evaluate(path, "hasty", agents=AGENTS)
    assert (state.type.value, state.name) == ("COMPLETED", "Partial")
    assert f"{MODEL} answered as 'other', but the judge hasty is pinned to '{MODEL}'" in (
        state.message
    )
    assert verdicts(path) == {}
    assert value(path, "SELECT count(*) FROM calls") == len(server.log.entries)
    assert len(server.log.entries) < len(calm["gemini"].server.log.entries), "it stops at once"


def test_the_first_version_ever_seen_pins_a_judge_whose_configuration_names_none(
    path: Path,
) -> None:
    server = GeminiServer()
    with at_hand(server, "gemini"):
        before = evaluate(path, "gemini", protocols=["wiki_fact"], agents=AGENTS)
        assert before.name == "Completed", before.message
        known = verdicts(path)
        server.answers_as = "other"
        state = evaluate(path, "gemini", protocols=["wiki_fact"])
    assert (state.type.value, state.name) == ("COMPLETED", "Partial")
    assert f"{MODEL} answered as 'other', but the judge gemini is pinned to '{MODEL}'" in (
        state.message
    )
    assert verdicts(path) == known
    assert value(path, "SELECT count(*) FROM calls WHERE model_version = 'other'") > 0
