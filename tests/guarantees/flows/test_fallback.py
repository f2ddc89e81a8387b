"""A judge with a fallback: what one model refuses is asked of another, once, at its own price."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.changed_configs import change
from tests.flows.conftest import Evergreen
from tests.flows.kill_points import chosen, kill_points, tables_of
from tests.flows.llm_runs import (
    KEY,
    MODEL,
    URL,
    configured,
    evaluate,
    rows,
    value,
    verdicts,
    write_configs,
)
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.servers.serving import serving
from tests.tasks.annotated import ARTICLE

OTHER_URL, OTHER_KEY = "EVERGREEN_TEST_OTHER_URL", "EVERGREEN_TEST_OTHER_KEY"
REFUSING = FaultPlan(("safety",), share=0.4, times=None)
WIKI = {"agents": ["sample_scholar"], "assignments": [ARTICLE], "protocols": ["wiki_fact"]}
WRITING = WIKI | {"protocols": ["wiki_writing"]}
BOUGHT = "SELECT judge, provider, count(*) FROM calls GROUP BY ALL ORDER BY ALL"
NOT_BY_FALLBACK = "judge = 'first' AND decided_by IS NULL"


@pytest.fixture(scope="module")
def configs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """`first` has the fallback `second`; `openai` is the same model as `second`."""
    made = write_configs(tmp_path_factory.mktemp("fallbacks"), batch_api=True)

    def add(settings: dict[str, Any]) -> None:
        judges = settings["judges"]
        second = judges["openai"] | {"base_url_env": OTHER_URL, "key_env": OTHER_KEY}
        judges |= {"first": judges["gemini"] | {"fallback": "second"}, "second": second}

    change(made / "judges.yaml", add)
    with configured(made):
        yield made


@contextmanager
def both(first: GeminiServer, second: OpenAiServer) -> Iterator[None]:
    with (
        serving(first) as address,
        serving(second) as other,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, text in {URL: address, KEY: "test-key", OTHER_URL: f"{other}/v1",
                           OTHER_KEY: "test-key"}.items():  # fmt: skip
            patch.setenv(name, text)
        yield


def set_fallback(configs: Path, name: str | None) -> None:
    change(configs / "judges.yaml", lambda s: s["judges"]["first"].update(fallback=name))


@pytest.fixture
def path(sample: Path, tmp_path: Path, configs: Path) -> Path:
    set_fallback(configs, "second")  # whatever a test has left
    folder = tmp_path / "run"
    folder.mkdir()
    return Path(shutil.copy(sample, folder / "warehouse.duckdb"))


def judge(path: Path, chosen: dict[str, Any] = WIKI, **more: Any) -> Any:
    return evaluate(path, "first", **chosen, **more)


def test_blocked_items_alone_are_asked_of_the_fallback_whose_verdicts_name_it(path: Path) -> None:
    first, second = GeminiServer(faults=REFUSING), OpenAiServer()
    with both(first, second):
        state = judge(path)
        asked = len(second.log.entries)
        assert judge(path).message == state.message
        assert len(second.log.entries) == asked > 0
    assert state.name == "Completed", state.message
    calls = {name: n for name, _, n in rows(path, BOUGHT)}
    n_refused = value(path, "SELECT count(DISTINCT request_id) FROM calls WHERE status <> 'ok'")
    assert calls["second"] == n_refused == asked
    assert {status for _, status, _ in verdicts(path).values()} <= {"ok", "unfetchable", "skipped"}
    joined = (
        "SELECT DISTINCT v.judge, v.decided_by, v.model_version, own.judge, refused.judge, "
        "refused.status FROM verdicts AS v JOIN calls AS own USING (call_id) "
        "JOIN calls AS refused ON refused.call_id = v.refused_call"
    )
    assert rows(path, joined) == [("first", "second", MODEL, "second", "first", "blocked")]


def test_the_fallback_decides_as_it_would_have_as_the_judge(path: Path, tmp_path: Path) -> None:
    alone = Path(shutil.copy(path, tmp_path / "alone.duckdb"))
    with both(GeminiServer(faults=REFUSING), OpenAiServer()):
        judge(path)
        evaluate(alone, "second", **WIKI)
    assert verdicts(path) == verdicts(alone)


def test_whoever_reads_a_verdict_is_told_who_decided_it(path: Path, evergreen: Evergreen) -> None:
    with both(GeminiServer(faults=FaultPlan(("safety",), times=None)), OpenAiServer()):
        judge(path)
    _, said, _ = evergreen(
        "explain",
        f"sample_scholar/{ARTICLE}",
        "--warehouse",
        path,
        "--judge",
        "first",
        "--fact",
        "0",
    )
    assert "second, the fallback, since first refused" in " ".join(said.split()), said


def test_an_estimate_says_that_it_leaves_the_fallback_out(path: Path, evergreen: Evergreen) -> None:
    given = ("--edition", "sample", "--warehouse", path, "--judge", "first", "--estimate")
    with both(GeminiServer(), OpenAiServer()):
        _, _, said = evergreen("evaluate", *given, "--extractor", "offline")
    assert (
        "What first refuses is asked of second, live, at $1 and $10 per million tokens; the "
        "estimate does not include it."
    ) in " ".join(said.split())


def test_both_are_priced_and_the_costs_of_judging_hold_both(path: Path) -> None:
    with both(GeminiServer(faults=REFUSING), OpenAiServer()):
        judge(path, budget_usd=100.0)
    unpriced = "SELECT count(*) FROM calls WHERE cost_usd IS NULL"
    assert value(path, unpriced) == 0
    spent = value(path, "SELECT sum(cost_usd) FROM calls WHERE protocol = 'wiki_fact'")
    costs = rows(path, "SELECT judge, sum(calls)::INT, sum(cost_usd) FROM judging_costs GROUP BY 1")
    assert costs == [("first", value(path, "SELECT count(*) FROM calls"), pytest.approx(spent))]


def test_the_budget_covers_the_fallback_and_a_run_that_it_stops_goes_on(path: Path) -> None:
    first, second = GeminiServer(faults=REFUSING), OpenAiServer()
    with both(first, second):
        assert judge(path, budget_usd=0.02).name == "Partial"
        assert value(path, "SELECT sum(cost_usd) FROM calls") <= 0.02
        assert judge(path, budget_usd=100.0).name == "Completed"
    assert first.log.n_bought_again == value(
        path, "SELECT count(*) FROM calls WHERE status = 'blocked' AND attempt = 2"
    )
    assert second.log.n_bought_again == 0


def test_killed_between_the_two_judges_nothing_is_bought_twice(path: Path, tmp_path: Path) -> None:
    first, second = GeminiServer(faults=FaultPlan(("safety",), times=None)), OpenAiServer()
    with both(first, second), kill_points(path, first, tmp_path / "points") as points:
        assert judge(path, WRITING).name == "Completed"
    whole, bought = tables_of(path, "calls"), len(first.log.entries)
    for point in chosen(points, 1):
        for name, copy, provider in point.resumptions(
            tmp_path / "again", lambda s: len(s.log.entries)
        ):
            kept = {name: n for name, _, n in rows(copy, BOUGHT)}
            before, fresh = len(provider.log.entries), OpenAiServer()
            with both(provider, fresh):
                assert judge(copy, WRITING).name in ("Completed", "Cached"), name
            assert len(provider.log.entries) - before == bought - kept.get("first", 0), name
            assert len(fresh.log.entries) == len(second.log.entries) - kept.get("second", 0), name
            assert tables_of(copy, "calls") == whole, name


def test_verdicts_made_without_a_fallback_stay_and_only_what_was_blocked_is_asked(
    path: Path, configs: Path
) -> None:
    first, second = GeminiServer(faults=REFUSING), OpenAiServer()
    scores = (
        "SELECT metric, n_blocked, value, bound_low, bound_high FROM scores "
        "WHERE judge = 'first' AND state = 'done'"
    )
    of = "SELECT cell_id, step, item, label, call_id FROM verdicts WHERE status = 'ok' AND "
    with both(first, second):
        set_fallback(configs, None)
        judge(path)
        before = rows(path, of + NOT_BY_FALLBACK + " ORDER BY ALL")
        figures = rows(path, "SELECT metric, value FROM scores WHERE judge = 'first' ORDER BY ALL")
        assert value(path, "SELECT count(*) FROM verdicts WHERE status = 'blocked'") > 0
        bounds = {metric: said for metric, *said in rows(path, scores)}
        assert sum(n for n, *_ in bounds.values()) > 0
        asked = len(first.log.entries)
        set_fallback(configs, "second")
        judge(path, WIKI | {"assignments": ["another"]})
        assert figures == rows(
            path, "SELECT metric, value FROM scores WHERE judge = 'first' ORDER BY ALL"
        ), "figures stand until the fallback is asked"
        assert judge(path).name == "Completed"
    for metric, n_blocked, value_now, *none in rows(path, scores):
        _, _, low, high = bounds[metric]
        assert low is None or low <= value_now <= high, metric
        assert (n_blocked, none) == (0, [None, None])
    assert len(first.log.entries) == asked
    assert rows(path, of + NOT_BY_FALLBACK + " ORDER BY ALL") == before
    assert value(path, "SELECT count(*) FROM verdicts WHERE status = 'blocked'") == 0


def test_what_both_refuse_stays_blocked_with_both_reasons_and_is_not_asked_again(
    path: Path,
) -> None:
    first = GeminiServer(faults=FaultPlan(("safety",), times=None))
    second = OpenAiServer(faults=FaultPlan(("refusal",), times=None))
    with both(first, second):
        assert judge(path, WRITING).name == "Completed"
        asked = len(first.log.entries), len(second.log.entries)
        judge(path, WRITING)
    assert (len(first.log.entries), len(second.log.entries)) == asked
    said = rows(
        path, "SELECT DISTINCT status, decided_by, reason FROM verdicts WHERE judge='first'"
    )
    assert {(status, by) for status, by, _ in said} == {("blocked", "second")}
    assert all("blocked (attempt 2)" in why and "; second: refused" in why for *_, why in said)


def test_a_failure_of_the_fallback_leaves_items_open_and_the_next_run_asks_it_again(
    path: Path,
) -> None:
    first = GeminiServer(faults=FaultPlan(("safety",), times=None))
    second = OpenAiServer(faults=FaultPlan(("wrong_enum",), times=None))
    with both(first, second):
        assert judge(path, WRITING).name == "Partial"
        asked = len(first.log.entries)
        found = rows(path, "SELECT DISTINCT status FROM verdicts WHERE judge = 'first'")
        second.faults = FaultPlan()
        assert judge(path, WRITING).name == "Completed"
    assert found == [("unparsable",)]
    assert len(first.log.entries) == asked
    decided = "SELECT DISTINCT status, decided_by FROM verdicts WHERE judge = 'first'"
    assert rows(path, decided) == [("ok", "second")]


def test_in_batches_the_fallback_is_asked_live_afterwards(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.tasks.models.batching import QUICK

    monkeypatch.setattr("tasks.models.batch_sender.BatchTiming", lambda: QUICK)
    with both(GeminiServer(faults=REFUSING), OpenAiServer()):
        assert judge(path, batch=True).name == "Completed"
    deliveries = "SELECT DISTINCT judge, split_part(delivery, ' ', 1) FROM calls ORDER BY ALL"
    assert rows(path, deliveries) == [("first", "batch"), ("second", "live")]


def test_a_fallback_without_a_key_is_said_before_anything_is_bought(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = GeminiServer()
    with both(server, OpenAiServer()):
        monkeypatch.delenv(OTHER_KEY)
        with pytest.raises(
            Exception, match=f"judge second has no key: set the variable {OTHER_KEY}"
        ):
            evaluate(path, "first", **WIKI).result()
    assert not server.log.entries
