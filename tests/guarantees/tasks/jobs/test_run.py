"""One report: nothing bought twice, nothing lost, whatever happens on the way."""

import asyncio
from typing import Any

import pytest

from tasks.agents.agent import JobStatus
from tasks.agents.kind import TokenRates
from tasks.jobs.resolve import InvalidJobState, ask_again, set_remote_id
from tasks.jobs.run import NoReport
from tasks.models.errors import (
    BudgetExhausted,
    Misconfigured,
    QuotaExhausted,
    RequestRejected,
    TransientError,
    Unreachable,
)
from tasks.models.prices import Budget
from tasks.warehouse.rows import Report
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.asked_agents import (
    PRICE,
    QUICK,
    REPLY,
    ScriptedAgent,
    asker_of,
    body,
    ended,
    jobs,
    missing,
    only,
    report,
    running,
    warehouse,
    with_assignments,
)

__all__ = ["warehouse"]
QUESTION = "Could you clarify which tern you mean? Please confirm."
LATER = TransientError("HTTP 429: later", "rate_limit", hint_seconds=0.001)
LOST = TransientError("reset", "connection", maybe_billed=True)


async def killed() -> JobStatus:
    raise KeyboardInterrupt


def text(warehouse: Warehouse) -> str:
    (row,) = warehouse.rows(Report, "true")
    return row.text


def test_a_report_comes_with_its_job_its_answer_and_what_it_took(warehouse: Warehouse) -> None:
    report(warehouse, ScriptedAgent([running()], [running("thinking"), ended()]))
    job = only(warehouse)
    assert (job.state, job.remote_id, job.polls, job.remote_word) == ("done", "r1", 2, "completed")
    assert job.answer == body()
    assert (job.input_tokens, job.output_tokens, job.model_version) == (1000, 500, "m-1")
    assert job.finished_at is not None
    (row,) = warehouse.rows(Report, "true")
    assert row.text.startswith("# Tern")
    assert (row.status, row.source_path) == ("ok", f"job {job.job}")
    assert missing(warehouse) == []


def test_the_intention_is_kept_before_the_request_and_the_id_before_the_first_look(
    warehouse: Warehouse,
) -> None:
    states: list[tuple[str, str | None]] = []

    async def noting(seen: JobStatus) -> JobStatus:
        job = only(warehouse)
        states.append((job.state, job.remote_id))
        return seen

    report(
        warehouse,
        ScriptedAgent([lambda: noting(running())], [lambda: noting(ended())]),
    )
    assert states == [("sending", None), ("running", "r1")]


def test_what_surely_started_nothing_is_asked_again(warehouse: Warehouse) -> None:
    no_connection = TransientError("refused", "connection")
    client = ScriptedAgent([LATER, no_connection, running()], [ended()])
    report(warehouse, client)
    assert len(client.asked) == 3
    assert len({question.job for question in client.asked}) == 1
    assert only(warehouse).state == "done"


def test_when_every_try_is_put_off_the_next_run_asks(warehouse: Warehouse) -> None:
    with pytest.raises(NoReport, match="not sent; the next run sends it again"):
        report(warehouse, ScriptedAgent([LATER, LATER, LATER]))
    assert only(warehouse).state == "refused"
    assert missing(warehouse)[0].next_step == "ask"
    report(warehouse, ScriptedAgent([running()], [ended()]))
    assert only(warehouse).state == "done"


def test_answers_that_cannot_be_read_are_not_asked_for_without_end(warehouse: Warehouse) -> None:
    garbled = TransientError("no JSON", "garbled", maybe_billed=True)
    patient = QUICK.model_copy(update={"start_tries": 8})
    client = ScriptedAgent([garbled, LATER, garbled, garbled, garbled, running()])
    with pytest.raises(NoReport, match=r"cannot be read: no JSON. It may have been paid for"):
        report(warehouse, client, limits=patient, repeatable=True)
    assert len(client.asked) == 5, "three in a row"
    assert only(warehouse).state == "lost"


@pytest.mark.parametrize(
    ("asked", "repeatable", "error", "said", "left"),
    [
        ([LOST], False, NoReport, "--remote-id", ("lost", "manual")),
        ([LOST] * 3, True, NoReport, "sent, without an answer; the next run sends it again",
         ("refused", "ask")),
        ([TransientError("HTTP 429", "rate_limit", hint_seconds=7200)], False, QuotaExhausted,
         "7,200 seconds", ("refused", "ask")),
        ([RequestRejected("HTTP 400: too long", 400)], False, NoReport,
         "refused, nothing was bought", ("refused", "ask")),
        ([Misconfigured("the key is not accepted")], False, Misconfigured, "not accepted",
         ("refused", "ask")),
    ],
    ids=["a lost answer is left to a person, and never asked again",
         "an answer that never came, of an agent that costs nothing, is asked for again",
         "a hint of hours stops the agent", "a refused question buys nothing",
         "a wrong key stops the agent and leaves nothing lost"],
)  # fmt: skip
def test_what_a_request_that_failed_leaves_to_whom(
    warehouse: Warehouse, asked: list[Any], repeatable: bool, error: type[Exception], said: str,
    left: tuple[str, str],
) -> None:  # fmt: skip
    with pytest.raises(error, match=said):
        report(warehouse, ScriptedAgent(asked), repeatable=repeatable)
    assert (only(warehouse).state, missing(warehouse)[0].next_step) == left


def test_an_agent_that_was_never_reached_stops_soon_and_says_each_try(
    warehouse: Warehouse,
) -> None:
    down = TransientError("cannot connect", "connection")
    said: list[str] = []
    client = ScriptedAgent([down] * 8)
    patient = QUICK.model_copy(update={"start_tries": 8})
    asked = asker_of(warehouse, client, limits=patient)
    asked.run.warn = said.append
    with pytest.raises(Unreachable, match="evergreen agents check scripted"):
        asyncio.run(asked.get_report(missing(warehouse)[0]))
    assert (len(client.asked), len(said)) == (3, 2)
    assert "again in 0 s" in said[0]
    assert missing(warehouse)[0].next_step == "ask"


def test_a_run_that_ended_while_sending_leaves_a_lost_job(warehouse: Warehouse) -> None:
    with pytest.raises(KeyboardInterrupt):
        report(warehouse, ScriptedAgent([killed]))
    assert only(warehouse).state == "sending"
    never = ScriptedAgent([])
    with pytest.raises(NoReport, match="lost"):
        report(warehouse, never)
    assert never.asked == []
    assert only(warehouse).state == "lost"


def test_a_person_who_finds_a_lost_job_has_it_looked_at(warehouse: Warehouse) -> None:
    with pytest.raises(NoReport):
        report(warehouse, ScriptedAgent([LOST]))
    set_remote_id(warehouse, only(warehouse).job, "found-1")
    client = ScriptedAgent([], [ended()])
    report(warehouse, client)
    assert client.asked == []
    assert only(warehouse).state == "done"


def test_a_person_who_gives_a_lost_job_up_has_it_bought_anew(warehouse: Warehouse) -> None:
    with pytest.raises(NoReport):
        report(warehouse, ScriptedAgent([LOST]))
    ask_again(warehouse, [only(warehouse).job[-8:]])
    report(warehouse, ScriptedAgent([running()], [ended()]))
    first, second = jobs(warehouse)
    assert (first.state, first.attempt) == ("abandoned", 1)
    assert (second.state, second.attempt) == ("done", 2)
    with pytest.raises(InvalidJobState, match="it has its report"):
        ask_again(warehouse, [second.job])


def test_an_agent_that_costs_nothing_is_simply_asked_again(warehouse: Warehouse) -> None:
    client = ScriptedAgent([LOST, running()], [ended()])
    report(warehouse, client, repeatable=True)
    assert len(client.asked) == 2
    assert only(warehouse).state == "done"


def test_unknown_states_are_waited_for_until_the_deadline_and_then_looked_at_once_a_run(
    warehouse: Warehouse,
) -> None:
    hasty = QUICK.model_copy(update={"deadline_minutes": 0.001})
    with pytest.raises(NoReport, match="not ended in time"):
        report(warehouse, ScriptedAgent([running()], [running("pondering")]), limits=hasty)
    job = only(warehouse)
    assert (job.state, job.remote_word) == ("overdue", "pondering")
    again = ScriptedAgent([], [running("pondering")])
    with pytest.raises(NoReport, match="not ended in time"):
        report(warehouse, again, limits=hasty)
    assert again.n_looks == 1
    report(warehouse, ScriptedAgent([], [ended()]), limits=hasty)
    assert only(warehouse).state == "done"


def test_looks_that_fail_are_made_again(warehouse: Warehouse) -> None:
    down = TransientError("HTTP 502", "server", code=502)
    report(warehouse, ScriptedAgent([running()], [down, down, LATER, ended()]))
    assert (only(warehouse).polls, only(warehouse).error) == (4, None)


def test_a_job_that_failed_keeps_its_words_and_its_cost(warehouse: Warehouse) -> None:
    tokens = TokenRates(input=2, output=10)
    priced = PRICE.model_copy(update={"tokens": tokens})
    failed = ended(status="failed", error={"code": "server_error", "message": "overloaded"})
    with pytest.raises(NoReport, match="overloaded"):
        report(warehouse, ScriptedAgent([running()], [failed]), price=priced)
    job = only(warehouse)
    assert job.state == "failed"
    assert job.cost_usd == pytest.approx((1000 * 2 + 500 * 10) / 1e6)
    assert warehouse.rows(Report, "true") == []


REFUSAL = [{"type": "message", "content": [{"type": "refusal", "refusal": "I will not."}]}]


@pytest.mark.parametrize("end", [ended("  "), ended(output=REFUSAL)])
def test_an_empty_answer_or_a_refusal_is_a_missing_report_until_it_is_asked_again(
    warehouse: Warehouse, end: JobStatus
) -> None:
    with pytest.raises(NoReport, match="it counts as a missing report"):
        report(warehouse, ScriptedAgent([running()], [end]))
    job = only(warehouse)
    assert job.state == "failed"
    [empty] = warehouse.rows(Report, "true")
    assert (empty.status, empty.text, empty.source_path) == ("empty", "", f"job {job.job}")
    assert missing(warehouse) == []  # nobody buys it again by themselves
    ask_again(warehouse, [job.job])
    assert warehouse.rows(Report, "true") == []
    report(warehouse, ScriptedAgent([running()], [ended()]))
    assert [made.status for made in warehouse.rows(Report, "true")] == ["ok"]


def test_what_was_cut_or_broke_is_open_and_no_missing_report(warehouse: Warehouse) -> None:
    cut = ended("", status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    with pytest.raises(NoReport, match="max_output_tokens") as told:
        report(warehouse, ScriptedAgent([running()], [cut]))
    assert "missing report" not in str(told.value)
    assert warehouse.rows(Report, "true") == []
    assert [each.next_step for each in missing(warehouse)] == ["manual"]


def test_an_answer_that_cannot_be_read_is_kept_and_read_again_without_asking(
    warehouse: Warehouse,
) -> None:
    garbage = JobStatus(remote_id="r1", remote_state="completed", ended=True, raw="[1, 2]")
    with pytest.raises(NoReport, match="cannot be read"):
        report(warehouse, ScriptedAgent([running()], [garbage]))
    job = only(warehouse)
    assert (job.state, job.answer) == ("answered", "[1, 2]")
    idle = ScriptedAgent([])
    with pytest.raises(NoReport, match="cannot be read"):
        report(warehouse, idle)
    assert (idle.asked, idle.n_looks) == ([], 0)


def test_a_question_back_gets_the_standard_reply_once(warehouse: Warehouse) -> None:
    client = ScriptedAgent([running(), running()], [ended(QUESTION), ended()])
    report(warehouse, client)
    assert [question.prompt for question in client.asked] == ["Write about Tern_0.", REPLY]
    assert client.asked[1].previous_remote_id == "r1"
    assert [turn.text for turn in client.asked[1].history] == ["Write about Tern_0.", QUESTION]
    first, second = jobs(warehouse)
    assert (first.turn, first.state, first.answer) == (1, "done", body(QUESTION))
    assert (first.input_tokens, second.input_tokens) == (1000, 1000)  # both turns were paid for
    assert (second.turn, second.state) == (2, "done")
    assert text(warehouse).startswith("# Tern")


def test_who_asks_back_twice_is_judged_as_it_stands(warehouse: Warehouse) -> None:
    client = ScriptedAgent([running(), running()], [ended(QUESTION), ended(QUESTION)])
    report(warehouse, client)
    (row,) = warehouse.rows(Report, "true")
    assert (row.status, row.text) == ("clarification", QUESTION)
    assert len(client.asked) == 2


@pytest.mark.parametrize(
    ("end", "kept"), [(ended(), "# Tern"), (ended(QUESTION), QUESTION)], ids=["ends", "asks again"]
)
def test_a_conversation_goes_on_where_it_was_and_no_second_question_is_answered(
    warehouse: Warehouse, end: JobStatus, kept: str
) -> None:
    with pytest.raises(KeyboardInterrupt):
        report(warehouse, ScriptedAgent([running(), running()], [ended(QUESTION), killed]))
    client = ScriptedAgent([], [end])
    report(warehouse, client)
    assert client.asked == []
    assert [job.state for job in jobs(warehouse)] == ["done", "done"]
    assert text(warehouse).startswith(kept)


def test_claims_in_json_are_no_question_back(warehouse: Warehouse) -> None:
    with_assignments(warehouse, kind="find_claims")
    answer = '{"claims": [{"value": "could you clarify"}]}'
    report(warehouse, ScriptedAgent([running()], [ended(answer)]))
    assert text(warehouse) == answer


def test_what_is_being_paid_for_is_not_given_up_when_the_run_is_interrupted(
    warehouse: Warehouse,
) -> None:
    async def slow() -> JobStatus:
        await asyncio.sleep(0.05)
        return running()

    async def interrupted() -> None:
        client = ScriptedAgent([slow], [ended()])
        async with asker_of(warehouse, client).closing() as asked:
            getting = asyncio.create_task(asked.get_report(missing(warehouse)[0]))
            await asyncio.sleep(0.02)
            getting.cancel()
            await asyncio.gather(getting, return_exceptions=True)

    asyncio.run(interrupted())
    assert (only(warehouse).state, only(warehouse).remote_id) == ("running", "r1")


def test_a_report_is_made_again_of_an_answer_that_is_there(warehouse: Warehouse) -> None:
    client = ScriptedAgent([running()], [ended()])
    report(warehouse, client)
    warehouse.write(Change(Report, [], replacing={"edition": "2026-11"}))
    report(warehouse, ScriptedAgent([]))
    assert text(warehouse).startswith("# Tern")


def test_a_budget_is_kept_before_anything_is_sent(warehouse: Warehouse) -> None:
    with_assignments(warehouse, 3)
    budget = Budget(11.0)
    client = ScriptedAgent([running(), running()], [ended()])
    asked = asker_of(warehouse, client, budget=budget)

    async def run() -> list[Any]:
        return await asyncio.gather(
            *(asked.get_report(item) for item in missing(warehouse)), return_exceptions=True
        )

    found = asyncio.run(run())
    assert sum(isinstance(error, BudgetExhausted) for error in found) == 1
    assert len(client.asked) == 2
    assert budget.maybe_spent == 10.0  # nobody said what they cost: the most counts


def test_what_the_interface_says_it_cost_takes_the_place_of_what_was_set_aside(
    warehouse: Warehouse,
) -> None:
    budget = Budget(5.0)
    tokens = TokenRates(input=2, output=10)
    priced = PRICE.model_copy(update={"tokens": tokens})
    report(warehouse, ScriptedAgent([running()], [ended()]), budget=budget, price=priced)
    assert budget.spent == pytest.approx(0.007)
    assert only(warehouse).cost_usd == pytest.approx(0.007)
    assert only(warehouse).cost_source == "prices"


def test_a_key_that_stops_working_while_jobs_are_waited_for_leaves_nobody_waiting_for_the_budget(
    warehouse: Warehouse,
) -> None:
    with_assignments(warehouse, 4)
    revoked = Misconfigured("the key is not accepted")
    client = ScriptedAgent([running(), running()], [revoked])
    asked = asker_of(warehouse, client, budget=Budget(11.0))

    async def run() -> list[Any]:
        work = (asked.get_report(item) for item in missing(warehouse))
        return await asyncio.wait_for(asyncio.gather(*work, return_exceptions=True), 30)

    found = asyncio.run(run())
    assert sorted(type(error).__name__ for error in found) == [
        "BudgetExhausted", "BudgetExhausted", "Misconfigured", "Misconfigured",
    ]  # fmt: skip
    assert [job.state for job in jobs(warehouse)] == ["running", "running"]


def test_a_job_is_read_as_what_it_was_asked_as_and_not_looked_at_as_another_kind(
    warehouse: Warehouse,
) -> None:
    with pytest.raises(KeyboardInterrupt):
        report(warehouse, ScriptedAgent([running()], [killed]))
    changed = asker_of(warehouse, ScriptedAgent([], [ended()]))
    changed.ask = changed.ask.model_copy(update={"kind": "perplexity"})
    with pytest.raises(NoReport, match="openai_responses"):
        asyncio.run(changed.get_report(missing(warehouse)[0]))
    assert only(warehouse).state == "running"


def test_a_job_that_is_asked_again_says_how_it_is_asked_now(warehouse: Warehouse) -> None:
    with pytest.raises(NoReport):
        report(warehouse, ScriptedAgent([LATER, LATER, LATER]))
    report(warehouse, ScriptedAgent([running()], [ended()]), model="another")
    assert only(warehouse).model == "another"
    assert '"model":"another"' in only(warehouse).parameters


def test_what_became_of_a_request_is_not_guessed_from_the_kind_an_agent_has_now(
    warehouse: Warehouse,
) -> None:
    with pytest.raises(KeyboardInterrupt):
        report(warehouse, ScriptedAgent([killed]))
    client = ScriptedAgent([running()], [ended()])
    changed = asker_of(warehouse, client)
    # Of "http" a second request would be the same job.
    changed.ask = changed.ask.model_copy(update={"kind": "http"})
    with pytest.raises(NoReport):
        asyncio.run(changed.get_report(missing(warehouse)[0]))
    assert (only(warehouse).state, client.asked) == ("lost", [])
