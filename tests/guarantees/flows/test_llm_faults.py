"""LLM judges whose endpoints fail in every way: what is decided in the end, and what it costs."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tasks.warehouse.store import open_warehouse
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
from tests.rigs.research_editions import PROTOCOLS, write_research_editions
from tests.servers.base import ModelServer
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer

PASSING = (
    "rate_limit", "rate_limit_retry_after", "rate_limit_retry_info", "server_500", "html_502",
    "reset_before", "reset_mid_body", "bad_gzip", "cut_gzip", "unknown_encoding", "bad_charset",
    "bad_reason", "bad_cookie", "truncated_json", "empty_200", "safety", "wrong_enum",
    "missing_item", "slow",
)  # fmt: skip
LASTING = ("wrong_enum", "server_500", "safety")
HEALED = ("wrong_enum", "server_500")
OPEN = "status IN ('unparsable', 'judge_error')"
SPENT = "SELECT coalesce(sum(cost_usd), 0) FROM calls"
WIKI = {"agents": ["sample_scholar"], "assignments": ["Eddystone_Lighthouse"]}
"""Of one report: it has every kind of decision in it."""
ONE = {"agents": ["thorough"], "extractor": "offline"}
PLACES: list[tuple[str, dict[str, Any]]] = [
    ("wiki", WIKI),
    *(
        (name, {"edition": edition, "protocols": [name]} | ONE)
        for edition, name in PROTOCOLS.items()
    ),
    *((name, {"protocols": [name]}) for name in ("race", "reader")),
    ("fact", {"protocols": ["fact"], "agents": ["sample_scholar"]}),
]
"""Each protocol with an edition that it judges; both of articles by default."""
Verdicts = dict[tuple[str, ...], tuple[Any, ...]]


class Calm(NamedTuple):
    """A run without faults."""

    path: Path
    server: ModelServer
    verdicts: Verdicts


@pytest.fixture(params=["wiki", "rubric_bench", "race"])
def name(request: pytest.FixtureRequest) -> str:
    """Protocols of articles, one that grades what a report has, and one that compares it."""
    return str(request.param)


@pytest.fixture
def chosen(name: str) -> dict[str, Any]:
    return dict(PLACES)[name]


@pytest.fixture(scope="module")
def prepared(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The sample edition and those of research queries, with the judges of `llm_runs`."""
    folder = tmp_path_factory.mktemp("llm")
    path = Path(shutil.copy(sample, folder / "prepared.duckdb"))
    with open_warehouse(path) as warehouse:
        write_research_editions(warehouse)
    with configured(write_configs(folder)):
        yield path


@pytest.fixture
def path(prepared: Path, tmp_path: Path) -> Path:
    """A warehouse of its own, ready for a judge."""
    return Path(shutil.copy(prepared, tmp_path / "warehouse.duckdb"))


@pytest.fixture(scope="module")
def calm(prepared: Path) -> Callable[[str], Calm]:
    """A protocol's run without faults, in which all is decided and nothing bought twice."""

    @cache
    def of(name: str) -> Calm:
        path = Path(shutil.copy(prepared, prepared.with_name(f"calm_{name}.duckdb")))
        server, chosen = GeminiServer(), dict(PLACES)[name]
        with at_hand(server, "gemini"):
            state = evaluate(path, "gemini", **chosen)
            totals = server.log.summary()
            again = evaluate(path, "gemini", **chosen)
        assert (state.name, again.name) == ("Completed", "Cached"), state.message
        assert totals == server.log.summary(), "a finished evaluation calls nothing"
        assert totals["requests"] == totals["answered"] == value(path, "SELECT count(*) FROM calls")
        assert totals["requests"] > 3
        assert totals["bought_again"] == 0
        assert value(path, f"SELECT count(*) FROM verdicts WHERE {OPEN}") == 0
        found = verdicts(path)
        assert {label for label, *_ in found.values()} != {None}
        return Calm(path, server, found)

    return of


def test_both_kinds_of_judge_decide_alike(
    name: str, chosen: dict[str, Any], path: Path, calm: Callable[[str], Calm]
) -> None:
    with at_hand(OpenAiServer(), "openai"):
        assert evaluate(path, "openai", **chosen).name == "Completed"
    assert verdicts(path) == calm(name).verdicts


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_faults_that_pass_leave_every_verdict_as_it_was(
    name: str, chosen: dict[str, Any], path: Path, calm: Callable[[str], Calm], kind: str
) -> None:
    # Every prompt goes wrong at first; `slow` is too slow for the client.
    faults = (*PASSING, "prompt_block" if kind == "gemini" else "refusal")
    plan = FaultPlan(faults, in_turn=True, hint_seconds=0.1, slow_seconds=4)
    server = KINDS[kind][1](faults=plan)
    with at_hand(server, kind):
        state = evaluate(path, kind, **chosen)
    assert state.name == "Completed", state.message
    assert verdicts(path) == calm(name).verdicts
    struck = server.log.summary()["faults"]
    asked = calm(name).server.log.summary()["questions"]
    assert set(struck) == set(faults[:asked])
    assert value(path, "SELECT count(*) FROM calls WHERE status = 'failed'") == 0
    assert value(path, "SELECT max(tries) FROM calls") > 1
    # What was blocked is asked for once more, in the same words; nothing else is.
    blocked = value(path, "SELECT count(*) FROM calls WHERE status IN ('blocked', 'refused')")
    assert blocked == sum(struck.get(fault, 0) for fault in ("safety", "prompt_block", "refusal"))
    assert server.log.n_bought_again == blocked


def test_faults_that_last_spoil_no_other_item_and_healing_buys_only_what_was_open(
    name: str, chosen: dict[str, Any], path: Path, calm: Callable[[str], Calm]
) -> None:
    plan = FaultPlan(LASTING, share=0.3 if name == "wiki" else 0.9, times=None, salt="lasting")
    server = GeminiServer(faults=plan)
    with at_hand(server, "gemini"):
        broken_state = evaluate(path, "hasty", **chosen)
        broken = verdicts(path)
        prompts = {entry.prompt_id for entry in server.log.entries}
        before = len(server.log.entries)
        server.faults = FaultPlan()
        healed_state = evaluate(path, "hasty", **chosen)
    assert (broken_state.type.value, broken_state.name) == ("FAILED", "Partial")
    whole = calm(name).verdicts
    # Only what is found out about answers (whether their evidence stands there) may be missing.
    assert {step for *_, step, _ in whole.keys() - broken.keys()} <= {"evidence"}
    assert broken.keys() <= whole.keys()
    differing = {key: said for key, said in broken.items() if said != whole[key]}
    assert {label for label, *_ in differing.values()} == {None}
    assert all(reason for _, _, reason in differing.values())
    assert {status for _, status, _ in differing.values()} <= {
        "unparsable", "judge_error", "blocked", "skipped", "not_assessed",
    }  # fmt: skip
    assert healed_state.name == "Completed", healed_state.message
    healed = {key: said for key, said in verdicts(path).items() if said != whole[key]}
    assert {status for _, status, _ in healed.values()} <= {"blocked"}
    bought = Counter(entry.prompt_id for entry in server.log.entries[before:])
    open_ones = {prompt for prompt in prompts if plan.fault_of(prompt) in HEALED}
    assert open_ones <= bought.keys()
    assert set(bought.values()) == {1}
    of = "SELECT count(*) FROM scores WHERE judge = 'hasty' AND n_open > 0"
    assert rows(path, of) == [(0,)]


COUNTS = f"""
SELECT s.metric,
    count(*) FILTER (v.status = 'ok' OR (v.step = 'citation' AND v.status = 'unfetchable')),
    any_value(s.n_items),
    count(*) FILTER (v.status = 'blocked'), count(*) FILTER ({OPEN}), any_value(s.n_open)
FROM scores AS s JOIN verdicts AS v USING (edition, protocol, agent, assignment, judge)
WHERE judge <> 'offline' AND (s.metric, v.step) IN (
    ('coverage_wiki', 'coverage'), ('wiki_conflict', 'conflict'), ('ref_acc', 'citation'))
GROUP BY s.metric, agent, assignment ORDER BY ALL
"""
"""By report and metric: metric, decided, n_items, blocked, open, n_open."""


def test_an_item_without_a_label_is_in_no_denominator_and_makes_the_leaderboard_provisional(
    calm: Callable[[str], Calm], path: Path
) -> None:
    server = GeminiServer(faults=FaultPlan(LASTING, share=0.3, times=None))
    with at_hand(server, "gemini"):
        state = evaluate(path, "hasty", **WIKI)
        broken, counts = verdicts(path), rows(path, COUNTS)
        board = "SELECT DISTINCT provisional FROM leaderboard WHERE metric = 'coverage_wiki'"
        assert rows(path, f"{board} AND judge = 'hasty'") == [(True,)]
        server.faults = FaultPlan()
        assert evaluate(path, "hasty", **WIKI).name == "Completed"
    for status in ("judge_error", "unparsable"):
        assert f" of wiki_fact: {status}" in state.message
    assert {said for _, said, _ in broken.values()} >= {"unparsable", "judge_error", "blocked"}
    # A report is scored when none of its items is open any more.
    assert all(n_items <= decided for _, decided, n_items, *_ in counts)
    assert sum(undecided for *_, undecided, _ in counts) > 0
    healed = rows(path, COUNTS)
    assert {row[0] for row in healed} == {"coverage_wiki", "wiki_conflict", "ref_acc"}
    assert all((n, left) == (decided, 0) for _, decided, n, _, _, left in healed)
    assert sum(blocked for *_, blocked, _, _ in healed) > 0
    whole = calm("wiki").verdicts
    blocked_then = {key for key, said in broken.items() if said[1] == "blocked"}
    assert {key for key, said in verdicts(path).items() if said != whole[key]} == blocked_then


def test_a_budget_is_never_exceeded_and_a_bigger_one_goes_on(
    calm: Callable[[str], Calm], path: Path
) -> None:
    whole = value(calm("wiki").path, SPENT)
    budget = round(whole * 0.6, 4)
    server = GeminiServer()
    with at_hand(server, "gemini"):
        first = evaluate(path, "gemini", **WIKI, budget_usd=budget)
        first_spent, first_calls = value(path, SPENT), len(server.log.entries)
        second = evaluate(path, "gemini", **WIKI, budget_usd=10 * whole)
    assert (first.type.value, first.name) == ("FAILED", "Partial")
    assert f"The budget of ${budget:,.2f} is used up" in first.message
    assert 0 < first_spent <= budget
    assert 0 < first_calls < len(server.log.entries)
    assert second.name == "Completed", second.message
    assert server.log.n_bought_again == 0
    assert value(path, SPENT) > budget
    assert verdicts(path) == calm("wiki").verdicts


def test_a_pinned_judge_takes_no_other_version(calm: Callable[[str], Calm], path: Path) -> None:
    server = GeminiServer(answers_as="other")
    with at_hand(server, "gemini"):
        state = evaluate(path, "hasty", **WIKI)
    assert (state.type.value, state.name) == ("FAILED", "Partial")
    assert f"{MODEL} answered as 'other', but the judge hasty is pinned to '{MODEL}'" in (
        state.message
    )
    assert verdicts(path) == {}
    asked = len(server.log.entries)
    assert value(path, "SELECT count(*) FROM calls") == asked
    assert asked < len(calm("wiki").server.log.entries), "it stops at once"


def test_the_first_version_ever_seen_pins_a_judge_whose_configuration_names_none(
    path: Path,
) -> None:
    server, fact = GeminiServer(), {"protocols": ["wiki_fact"]}
    with at_hand(server, "gemini"):
        before = evaluate(path, "gemini", **fact, **WIKI)
        assert before.name == "Completed", before.message
        known = verdicts(path)
        server.answers_as = "other"
        state = evaluate(path, "gemini", **fact)
    assert (state.type.value, state.name) == ("FAILED", "Partial")
    assert f"{MODEL} answered as 'other', but the judge gemini is pinned to '{MODEL}'" in (
        state.message
    )
    assert verdicts(path) == known
    assert value(path, "SELECT count(*) FROM calls WHERE model_version = 'other'") > 0
