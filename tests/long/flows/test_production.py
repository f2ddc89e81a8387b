"""Production as docker-compose.yml has it, without Docker: Prefect on Postgres, flows served."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from tests import patient
from tests.flows.llm_runs import KEY, URL, write_configs
from tests.lakes import NEEDS_POSTGRES
from tests.long.flows.production import (
    PASSWORD,
    Production,
    Running,
    production,
    started,
)
from tests.rigs.month_places import month_pages
from tests.rigs.month_world import AGENTS, World, world
from tests.rigs.paper_wiki import paper_wiki
from tests.rigs.postgres import RunningPostgres, running
from tests.sample_edition import PART
from tests.servers.gemini import GeminiServer
from tests.servers.serving import serving
from tests.waiting import until

pytestmark = NEEDS_POSTGRES
AWAY_SECONDS = 8
"""How long the server is gone at least, beside what it takes to start."""
SLOW_SECONDS = 4.0
"""For an answer: so long that everything else can happen within a run's some 30 questions."""
TEMPERATURES = (number / 100 for number in count())
"""The judge's, another one for each test: its questions were not asked by a test before."""
ARTICLES = 2
DONE = ("Completed", "sample is evaluated.")


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPostgres]:
    with running(tmp_path_factory.mktemp("postgres"), password=PASSWORD) as server:
        yield server


@pytest.fixture(scope="module")
def prod(
    postgres: RunningPostgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Production]:
    """A server, and the sample edition in a lake."""
    with production(tmp_path_factory.mktemp("production"), postgres) as made:
        made.evergreen("import", "wlc", str(PART))
        yield made


@contextmanager
def judged_slowly(
    prod: Production, folder: Path, *names: str
) -> Iterator[tuple[GeminiServer, list[Running]]]:
    """A judge that takes its time, until it is told otherwise, and workers that know it and do one
    run at a time."""
    configs = write_configs(
        folder, timeout_seconds=60, limits={"concurrency": 2},
        temperature=next(TEMPERATURES),
    )  # fmt: skip
    judge = GeminiServer(delay_seconds=SLOW_SECONDS)
    with ExitStack() as stack:
        given = {URL: stack.enter_context(serving(judge)), KEY: "test-key"}
        given |= {"EVERGREEN_CONFIGS": str(configs)}
        workers = [prod.worker(name, "--at-once", "1", **given) for name in names]
        for worker in workers:
            stack.enter_context(started(worker))
        yield judge, workers


def test_a_run_is_done_and_leaves_its_tables(prod: Production) -> None:
    with started(prod.worker()) as worker:
        run = prod.run("evaluate", edition="sample", protocols=["wiki_fact"])
        assert prod.ended(run) == DONE
        assert {"leaderboard", "failures", "cost"} <= set(prod.artifacts(run))
        # The server goes and comes back while nothing runs: the worker asks it again.
        prod.server.kill()
        time.sleep(AWAY_SECONDS)
        prod.server.start()
        again = prod.run("evaluate", edition="sample", protocols=["wiki_fact"])
        assert prod.ended(again) == ("Cached", DONE[1])
        assert worker.stop() == 0


def test_who_does_not_know_the_password_is_told_nothing(prod: Production) -> None:
    asked = f"{prod.api}/flow_runs/filter"
    assert patient.post(asked, json={}, trust_env=False).status_code == 401
    assert prod.post("/flow_runs/filter") is not None


def test_a_run_outlives_the_server_that_is_killed_in_the_middle(
    prod: Production, tmp_path: Path
) -> None:
    with judged_slowly(prod, tmp_path, "worker") as (judge, _):
        run = prod.run(
            "evaluate", edition="sample", judge="gemini", protocols=["wiki_fact"],
            budget_usd="unlimited",
        )  # fmt: skip
        until("question to the judge", lambda: judge.log.entries)
        asked = len(judge.log.entries)
        prod.server.kill()
        judge.delay_seconds = 0
        time.sleep(AWAY_SECONDS)
        assert len(judge.log.entries) > asked, "the run stands still without its server"
        prod.server.start()
        assert prod.ended(run) == DONE
        assert {"leaderboard", "failures", "cost"} <= set(prod.artifacts(run))


def test_what_lost_and_stopped_workers_were_at_goes_on(prod: Production, tmp_path: Path) -> None:
    with judged_slowly(prod, tmp_path, "lost", "stopped") as (judge, [lost, stopped]):
        runs = two_runs(prod, "hasty")
        lost.kill()
        assert stopped.stop() == 0
        judge.delay_seconds = 0
        with started(stopped):
            for run in runs:
                assert prod.ended(run, resumed=True) == DONE
                states = {*prod.states(run)}
                assert "AwaitingRetry" in states
                assert states & {"Crashed", "Cancelled"}  # as Prefect calls a stopped worker's
        # Two questions at a time: what was asked when a run was killed is asked again.
        assert judge.log.n_bought_again <= 2 * len(runs)


def two_runs(prod: Production, judge: str) -> list[str]:
    """Two that have different things to do, once both are at it."""
    runs = [
        prod.run(
            "evaluate", edition="sample", judge=judge, protocols=[protocol], budget_usd="unlimited"
        )
        for protocol in ("wiki_fact", "wiki_writing")
    ]
    until("run on each worker", lambda: all(is_running(prod, run) for run in runs))
    return runs


def test_a_month_that_its_schedule_begins_goes_on_after_its_host_is_lost(
    prod: Production, tmp_path: Path
) -> None:
    with (
        paper_wiki(month_pages(ARTICLES)) as wiki,
        world(
            tmp_path, wiki, judge="offline", articles=ARTICLES, slow=SLOW_SECONDS,
            publish={"to": "data/site"}, budget_usd="unlimited",
        ) as outside,
        started(prod.worker("scheduled", "--only", "refresh", **outside.environment)) as worker,
    ):  # fmt: skip
        run = begun_by_schedule(prod, worker, outside)
        until("page that is fetched", lambda: outside.counts()["pages"])
        worker.kill()
        outside.sources.slow = 0
        worker.start()
        name, message = prod.ended(run, resumed=True)
        assert name == "Completed", message
        assert {"Crashed", "AwaitingRetry"} <= set(prod.states(run))
        assert {outside.counts()[f"jobs {agent}"] for agent in AGENTS} == {ARTICLES}
        assert (worker.log.parent / "data" / "site" / "site.json").exists()


def begun_by_schedule(prod: Production, worker: Running, outside: World) -> str:
    """Have the month begin within minutes; the run, once it has begun."""
    for _ in range(3):
        moment = (datetime.now(UTC) + timedelta(minutes=2)).replace(second=0, microsecond=0)
        cron = f"{moment.minute} {moment.hour} * * *"
        outside.configure(schedule={"cron": cron})
        worker.stop()
        worker.start()
        until("schedule", partial(begins_at, prod, cron))
        if datetime.now(UTC) < moment - timedelta(seconds=10):
            break
    else:
        pytest.fail("It takes minutes to start a worker here.")
    refresh = {"id": {"any_": [prod.deployment("refresh")["id"]]}}
    at_work = {"state": {"type": {"any_": ["RUNNING"]}}}
    [run] = until(
        "run at its time",
        lambda: prod.post("/flow_runs/filter", deployments=refresh, flow_runs=at_work),
    )
    assert run["auto_scheduled"]
    return str(run["id"])


def begins_at(prod: Production, cron: str) -> bool:
    schedules = prod.deployment("refresh")["schedules"]
    return [each["schedule"]["cron"] for each in schedules] == [cron]


def is_running(prod: Production, run: str) -> bool:
    return bool(prod.flow_run(run)["state"]["type"] == "RUNNING")
