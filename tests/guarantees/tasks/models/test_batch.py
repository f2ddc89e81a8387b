"""Batches: nothing is bought twice, and every result finds who asked for it."""

import asyncio
import logging
from typing import Any, Literal

import pytest

from tasks.models.batch_client import request_key
from tasks.models.batch_sender import BatchSender
from tasks.models.errors import Misconfigured
from tasks.models.gateway import Gateway
from tasks.warehouse.rows import Status
from tests.servers.batches import BatchScript
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.servers.prompts_for_tests import verify_claims
from tests.tasks.models.batching import (
    KEY,
    REQUESTS,
    Desk,
    Server,
    desk,
    killed_when,
    made,
    struck,
    until,
    whole,
)
from tests.tasks.models.test_prices import BATCH, price

__all__ = ["desk"]


@pytest.fixture(params=(GeminiServer, OpenAiServer))
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_results_that_come_in_another_order_find_their_requests(
    desk: Desk, kind: type[Server]
) -> None:
    class Echo:
        def answer(self, system: str, user: str, schema: object) -> str:
            return user

    server = made(kind, BatchScript(polls=2), model=Echo())
    outcomes = desk.ask(server)
    assert [outcome.status for outcome in outcomes] == [Status.OK] * 4
    for request, outcome in zip(REQUESTS, outcomes, strict=True):
        assert outcome.call
        assert outcome.call.prompt == request.prompt
        assert outcome.value == request.messages[0].text
    calls = desk.calls()
    assert {call.delivery for call in calls} <= {"batch", "batch json_schema"}
    [job] = desk.jobs()
    assert (job.state, job.n_requests, job.error) == ("done", 4, None)
    assert len(desk.said) == 2


def test_one_item_that_failed_is_open_and_spoils_no_other(desk: Desk, kind: type[Server]) -> None:
    server = made(kind, faults=struck("server_500", REQUESTS[1], times=1))
    outcomes = desk.ask(server)
    assert [o.status for o in outcomes] == [
        Status.OK, Status.JUDGE_ERROR, Status.OK, Status.OK,
    ]  # fmt: skip
    assert desk.ask(server)[1].status is Status.OK
    assert [job.n_requests for job in desk.jobs()] == [4, 1]
    assert server.log.n_bought_again == 0


@pytest.mark.parametrize("fault", ["max_tokens", "safety"], ids=["cut", "blocked"])
def test_an_answer_that_cannot_be_used_is_asked_for_again_in_another_job(
    desk: Desk, kind: type[Server], fault: str
) -> None:
    """What was blocked is asked again in the same words, and gets an answer of its own."""
    server = made(kind, faults=struck(fault, REQUESTS[0], times=1))
    assert [o.status for o in desk.ask(server)] == [Status.OK] * 4
    assert [job.n_requests for job in desk.jobs()] == [4, 1]
    assert sorted(call.attempt for call in desk.calls()) == [1, 1, 1, 1, 2]


@pytest.mark.parametrize("end", ["expired", "failed", "cancelled"])
def test_a_job_that_came_to_nothing_leaves_its_items_open_for_a_later_run(
    desk: Desk, kind: type[Server], end: Literal["expired", "failed", "cancelled"]
) -> None:
    server = made(kind, BatchScript(ends=end))
    statuses = {outcome.status for outcome in desk.ask(server)}
    assert Status.JUDGE_ERROR in statuses
    assert statuses <= {Status.JUDGE_ERROR, Status.OK}  # OpenAI's expired job did half
    assert desk.jobs()[0].state == "failed"
    assert end in (desk.jobs()[0].error or "").lower()
    server.desk.script = BatchScript()
    assert {outcome.status for outcome in desk.ask(server)} == {Status.OK}
    assert server.log.n_bought_again == 0


def test_a_job_whose_reply_was_lost_is_found_by_its_name_and_not_made_again(
    desk: Desk, kind: type[Server]
) -> None:
    server = made(kind, BatchScript(polls=2, lost_replies=1))
    assert {outcome.status for outcome in desk.ask(server)} == {Status.OK}
    assert server.desk.n_made == 1
    assert server.log.n_bought_again == 0
    [job] = desk.jobs()
    assert (job.state, job.remote_id) == ("done", next(iter(server.batches)))


def test_a_run_that_goes_on_after_a_kill_makes_no_second_job(
    desk: Desk, kind: type[Server]
) -> None:
    server = made(kind, BatchScript(polls=10**6))
    desk.run(server, killed_when(lambda: desk.said), crash=True)
    [job] = desk.jobs()
    assert job.state == "running"
    server.desk.script = BatchScript(polls=1)

    async def sent_before(gateway: Gateway, sender: BatchSender) -> bool:
        reply = await sender.send(REQUESTS[0])
        return reply.sent_at == job.created_at

    assert desk.run(server, sent_before)
    assert {outcome.status for outcome in desk.ask(server)} == {Status.OK}
    assert server.desk.n_made == 1
    assert server.log.n_bought_again == 0
    assert [job.state for job in desk.jobs()] == ["done"]


def test_a_kill_between_creation_and_its_answer_is_found_by_name(
    desk: Desk, kind: type[Server]
) -> None:
    server = made(kind)
    desk.run(server, killed_when(lambda: server.batches), crash=True, deaf=True)
    [job] = desk.jobs()
    assert job.remote_id is None
    assert {outcome.status for outcome in desk.ask(server)} == {Status.OK}
    assert server.desk.n_made == 1
    assert desk.jobs()[0].state == "done"


def test_a_job_that_never_arrived_is_made_anew_by_the_next_run(
    desk: Desk, kind: type[Server]
) -> None:
    server = made(kind)
    desk.run(server, killed_when(lambda: server.batches), crash=True, deaf=True)
    server.batches.clear()
    assert {outcome.status for outcome in desk.ask(server)} == {Status.OK}
    jobs = desk.jobs()
    assert [(job.state, job.error) for job in jobs] == [("failed", "never arrived"), ("done", None)]


def test_a_kill_after_the_answers_came_hands_them_over_again_without_a_purchase(
    desk: Desk, kind: type[Server]
) -> None:
    # The first was blocked and is in the ledger: the next run asks for another answer to it.
    server = made(kind, faults=struck("safety", REQUESTS[0], times=1))

    async def some(gateway: Gateway, sender: BatchSender) -> Any:
        tasks = [asyncio.create_task(sender.send(r)) for r in REQUESTS[1:]]
        tasks.append(asyncio.create_task(gateway.ask(REQUESTS[0], whole)))  # type: ignore[arg-type]
        await until(lambda: sum("submitted" in said for said in desk.said) == 2)
        return tasks

    desk.run(server, some, crash=True)
    assert {outcome.status for outcome in desk.ask(server)} == {Status.OK}
    assert sum(server.log.answered().values()) == 5  # the safety block, its repeat, three others
    assert {job.state for job in desk.jobs()} == {"done"}


def test_answers_nobody_asks_for_keep_their_job_open(desk: Desk, kind: type[Server]) -> None:
    server = made(kind, BatchScript(polls=10**6))
    desk.run(server, killed_when(lambda: desk.said), crash=True)
    server.desk.script = BatchScript(polls=1)
    assert desk.ask(server, REQUESTS[:2])[0].status is Status.OK
    assert [job.state for job in desk.jobs()] == ["running"]
    assert {outcome.status for outcome in desk.ask(server)} == {Status.OK}
    assert [job.state for job in desk.jobs()] == ["done"]
    assert server.desk.n_made == 1


def test_a_job_the_provider_has_forgotten_is_asked_for_anew(desk: Desk, kind: type[Server]) -> None:
    server = made(kind, BatchScript(polls=10**6))
    desk.run(server, killed_when(lambda: desk.said), crash=True)
    server.batches.clear()
    server.desk.script = BatchScript()
    assert {outcome.status for outcome in desk.ask(server)} == {Status.OK}
    assert [job.state for job in desk.jobs()] == ["failed", "done"]


def test_many_requests_become_several_jobs(desk: Desk, kind: type[Server]) -> None:
    server = made(kind)

    async def work(gateway: Gateway, sender: BatchSender) -> Any:
        return await asyncio.gather(*(gateway.ask(r, whole) for r in REQUESTS))

    desk.run(server, work, max_requests=2)
    assert [job.n_requests for job in desk.jobs()] == [2, 2]


def test_a_budget_reckons_with_the_price_of_batches(desk: Desk, kind: type[Server]) -> None:
    server = made(kind)
    at_most = sum(price(batch=BATCH).max_cost(r, batch=True) for r in REQUESTS)

    async def work(gateway: Gateway, sender: BatchSender) -> float:
        await asyncio.gather(*(gateway.ask(r, whole) for r in REQUESTS))
        return gateway.spent

    spent = desk.run(server, work, usd=at_most * 1.01)
    calls = desk.calls()
    expected = sum(
        ((c.prompt_tokens or 0) * BATCH.input + (c.output_tokens or 0) * BATCH.output) / 1e6
        for c in calls
    )
    assert spent == pytest.approx(expected)
    assert [job.n_requests for job in desk.jobs()] == [4]


def test_whoever_leaves_waits_for_no_job_and_keeps_it(desk: Desk, kind: type[Server]) -> None:
    server = made(kind, BatchScript(polls=10**6))

    async def work(gateway: Gateway, sender: BatchSender) -> Any:
        asking = [asyncio.create_task(gateway.ask(r, whole)) for r in REQUESTS]
        await until(lambda: desk.said)
        sender.cancel_waiting()
        return await asyncio.gather(*asking, return_exceptions=True)

    found = desk.run(server, work)
    assert all(isinstance(error, asyncio.CancelledError) for error in found)
    assert desk.jobs()[0].state == "running"
    assert desk.calls() == []


def test_a_wrong_key_stops_the_stage_and_is_not_shown(
    desk: Desk, kind: type[Server], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = kind(key="another")
    with pytest.raises(Misconfigured) as caught:
        desk.ask(server)
    [job] = desk.jobs()
    assert job.state == "failed"
    for text in (str(caught.value), str(job.error), caplog.text, *desk.said):
        assert KEY not in text


def test_a_key_that_an_item_s_error_repeats_is_not_shown(desk: Desk, kind: type[Server]) -> None:
    outcomes = desk.ask(made(kind, faults=struck("key_echoed", REQUESTS[0])))
    assert "[key]" in (outcomes[0].reason or "")
    assert KEY not in repr(desk.calls()) + repr(desk.jobs()) + repr(outcomes)


def test_a_repair_has_another_key_than_its_question() -> None:
    question = verify_claims()
    assert request_key(question) == question.request_id
    assert request_key(question.with_correction("no", "wrong")) != question.request_id
