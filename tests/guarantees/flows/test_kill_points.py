"""Killed before or after any commit, a run goes on: equal tables, and nothing is bought twice but
what was sent and not yet stored."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from tasks.jobs.resolve import set_remote_id
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.store import open_warehouse
from tests.flows.asked_runs import KINDS as AGENTS
from tests.flows.asked_runs import ask, askable, serving_agent
from tests.flows.fetched_runs import FURNITURE, PageServer, citing, fetch, page, serving_pages
from tests.flows.kill_points import chosen, kill_points, tables_of
from tests.flows.llm_runs import at_hand, evaluate, rows, value
from tests.servers.base import ModelServer
from tests.servers.batches import BatchScript
from tests.servers.gemini import GeminiServer
from tests.servers.http import Request, Response
from tests.servers.jobs import JobScript, JobServer
from tests.servers.openai import OpenAiServer
from tests.tasks.annotated import ARTICLE, sample_warehouse
from tests.tasks.models.batching import QUICK

pytestmark = pytest.mark.file_only
CALLS = "SELECT count(*) FROM calls"
STATE = "SELECT state FROM jobs"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of the warehouse alone."""
    made = tmp_path / "run"
    made.mkdir()
    return made


def complete(state: Any, name: str = "undisturbed") -> None:
    assert state.name in ("Completed", "Cached"), f"{name}: {state.message}"


def n_requests(server: ModelServer) -> int:
    return len(server.log.entries)


def test_judging_goes_on_after_any_commit_and_asks_for_what_the_ledger_lacks(
    judges: Path, folder: Path, tmp_path: Path
) -> None:
    """Claims are extracted, key points made, and two reports judged."""
    path = sample_warehouse(folder)
    judge = partial(
        evaluate, judge_name="gemini", protocols=["research_gym"], budget_usd=100.0,
        agents=["sample_sketch", "sample_blogger"], assignments=[ARTICLE],
    )  # fmt: skip
    server = GeminiServer()
    with at_hand(server, "gemini"), kill_points(path, server, tmp_path / "points") as points:
        complete(judge(path))
    whole, n_calls = tables_of(path), value(path, CALLS)
    assert n_requests(server) == n_calls
    for point in chosen(points, 1):
        for name, copy, provider in point.resumptions(tmp_path / "again", n_requests):
            kept, asked = value(copy, CALLS), n_requests(provider)
            with at_hand(provider, "gemini"):
                complete(judge(copy), name)
            assert n_requests(provider) - asked == n_calls - kept, name
            assert tables_of(copy) == whole, name


def test_a_batch_is_never_made_twice(
    judges: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.models.batch_sender.BatchTiming", lambda: QUICK)
    path = sample_warehouse(folder)
    judge = partial(
        evaluate, judge_name="openai", protocols=["wiki_fact"], extractor="offline", batch=True,
        agents=["sample_sketch"], assignments=[ARTICLE],
    )  # fmt: skip
    server = OpenAiServer(batches=BatchScript(polls=2))

    def bought(server: OpenAiServer) -> tuple[int, int]:
        return sum(len(job.items) for job in server.batches.values()), n_requests(server)

    with at_hand(server, "openai"), kill_points(path, server, tmp_path / "points") as points:
        complete(judge(path))
    whole, n_calls = tables_of(path, "batch_jobs"), value(path, CALLS)
    assert bought(server) == (n_calls, n_calls)
    for point in chosen(points, 1):
        for name, copy, provider in point.resumptions(tmp_path / "again", bought):
            with at_hand(provider, "openai"):
                complete(judge(copy), name)
            assert bought(provider) == (n_calls, n_calls), name
            assert tables_of(copy, "batch_jobs") == whole, name


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_no_report_is_bought_twice_or_lost(
    sample: Path, agent_configs: Path, folder: Path, tmp_path: Path, agent: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("tasks.jobs.rows.uuid4", lambda: UUID(int=1))  # in reports and answers
    path = askable(sample, folder)
    server = AGENTS[agent][1](JobScript(polls=2))
    incidental = ("jobs.polls", "jobs.polled_at", "jobs.created_at", "jobs.remote_word")

    def account(server: JobServer) -> tuple[int, int]:
        return server.n_made, server.n_looks

    with serving_agent(server, agent) as address:
        port = urlsplit(address).port or 0
        with kill_points(path, server, tmp_path / "points") as points:
            assert ask(path, agent, assignments=[ARTICLE]).name == "Completed"
    whole = tables_of(path, *incidental)
    seen = Counter[str]()
    for point in chosen(points, 3):
        for name, copy, provider in point.resumptions(tmp_path / "again", account):
            state, made, looked = rows(copy, STATE), provider.n_made, provider.n_looks
            with serving_agent(provider, agent, port):
                ended = ask(copy, agent, assignments=[ARTICLE])
                if state == [("sending",)]:  # what nobody can see: whether it was sent
                    assert not looked, f"{name}: its id was not kept before the first look"
                    assert (ended.name, provider.n_made) == ("Partial", made), name
                    assert rows(copy, STATE) == [("lost",)], name
                    if made:  # a person finds it, and it is not lost
                        (job,) = provider.jobs.values()
                        ours = value(copy, "SELECT job FROM jobs")
                        with open_warehouse(copy) as warehouse:
                            set_remote_id(warehouse, ours, job.job_id)
                        ended = ask(copy, agent, assignments=[ARTICLE])
                    seen["lost" if made else "never sent"] += 1
                if provider.n_made or state != [("sending",)]:
                    assert ended.name in ("Completed", "Cached"), name
                    assert provider.n_made == 1, name
                    assert tables_of(copy, *incidental) == whole, name
                    seen["got"] += 1
    assert (seen["lost"], seen["never sent"]) == (1, 1)
    assert seen["got"] > 5


class Pages(PageServer):
    """A site that has every page."""

    def _page(self, request: Request) -> Response:
        return page(request.path, f"<p>{FURNITURE} {request.path}</p>")


def test_no_page_is_asked_for_again_once_it_was_kept_and_none_is_half_there(
    sample: Path, folder: Path, tmp_path: Path
) -> None:
    server = Pages()

    def asked(server: Pages) -> Counter[str]:
        return server.asked

    with serving_pages(tmp_path, server) as address:
        port = urlsplit(address).port or 0
        path = citing(
            sample, folder, *((f"The tower of {n} was lit.", f"{address}/{n}") for n in range(4))
        )
        with kill_points(path, server, tmp_path / "points") as points:
            complete(fetch(path))
    whole, files = tables_of(path, "fetches.seconds"), page_files(path)
    assert (server.asked.total(), len(files)) == (4, 4)
    for point in chosen(points, 2):
        for name, copy, provider in point.resumptions(tmp_path / "again", asked):
            kept = kept_pages(copy, address)
            before = Counter(provider.asked)
            with serving_pages(tmp_path, provider, port):
                complete(fetch(copy), name)
            again = provider.asked - before
            assert again == Counter(server.asked.keys() - kept), name
            assert tables_of(copy, "fetches.seconds") == whole, name
            assert page_files(copy) == files, name


def kept_pages(path: Path, address: str) -> set[str]:
    """What of this server needs no fetching any more."""
    found = rows(path, f"SELECT asked_url FROM fetches WHERE asked_url LIKE '{address}%'")
    return {urlsplit(url).path for (url,) in found}


def page_files(path: Path) -> dict[str, bytes]:
    """By sha, what is archived; every file is one of a page."""
    store = PageStore(pages_folder(path))
    found = [file for file in pages_folder(path).rglob("*") if file.is_file()]
    shas = [sha for (sha,) in rows(path, "SELECT DISTINCT sha FROM fetches WHERE sha IS NOT NULL")]
    assert sorted(found) == sorted(store.path(sha) for sha in shas)
    return {sha: store.get(sha) for sha in shas}
