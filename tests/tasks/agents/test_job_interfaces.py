"""Jobs at the three interfaces that have some: looked at, gone, continued."""

import json
import re
from typing import Any

import pytest

from tasks.agents.agent import AgentClient, Gone, JobStatus
from tasks.agents.registry import read_answer
from tasks.models.errors import Misconfigured, ModelError, QuotaExhausted, TransientError
from tests.servers.http import json_response
from tests.servers.jobs import FAULTS, MADE, JobScript
from tests.tasks.agents.conversations import KEY, PROMPT, question
from tests.tasks.agents.job_clients import (
    GEMINI,
    KINDS,
    OPENAI,
    PERPLEXITY,
    Kind,
    answer_of,
    finished,
    reply_to,
    with_client,
)

EVERY = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])


@EVERY
def test_a_job_is_looked_at_until_its_end_whatever_it_is_called_on_the_way(kind: Kind) -> None:
    script = JobScript(polls=3, on_the_way=("requires_continuation", "", "dreaming"))

    async def use(client: AgentClient) -> list[JobStatus]:
        seen = [await client.start(question())]
        while not seen[-1].ended:
            seen.append(await client.poll(seen[0].remote_id or ""))
        return seen

    seen = with_client(kind, kind.server(script), use)
    assert [s.remote_state for s in seen[:3]] == ["requires_continuation", "", "dreaming"]
    assert [s.raw is None for s in seen] == [True, True, True, False]
    assert {s.remote_id for s in seen} == {seen[0].remote_id}


@EVERY
def test_a_job_may_have_ended_in_the_answer_that_names_it(kind: Kind) -> None:
    server = kind.server(JobScript(polls=0))
    seen = with_client(kind, server, lambda client: client.start(question()))
    assert seen.ended
    assert read_answer(kind.name, seen.raw or "").outcome == "report"
    assert server.n_looks == 0


@EVERY
def test_a_look_that_fails_is_no_end_of_the_job(kind: Kind) -> None:
    # aiohttp itself asks twice after a reset: then the fault after it is seen first.
    faults = [*sorted(FAULTS - set(MADE) - {"reset"}), "reset", "reset"]

    async def use(client: AgentClient) -> tuple[list[ModelError], JobStatus]:
        name = (await client.start(question())).remote_id or ""
        errors: list[ModelError] = []
        while True:
            try:
                return errors, await client.poll(name)
            except ModelError as error:
                errors.append(error)

    script = JobScript(looks=tuple(faults))
    errors, seen = with_client(kind, kind.server(script), use)
    assert seen.ended
    assert len(errors) in (len(faults), len(faults) - 1)
    for fault, error in zip(faults, errors, strict=False):
        if fault == "not_found_404":
            assert isinstance(error, Gone)
        elif fault in ("forbidden_403", "redirect_307"):
            assert isinstance(error, Misconfigured)
        elif fault not in ("quota_per_day", "spend_cap"):
            assert isinstance(error, TransientError), (fault, error)
            assert KEY not in str(error)


@pytest.mark.parametrize("kind", [OPENAI, PERPLEXITY], ids=lambda kind: kind.name)
@pytest.mark.parametrize(
    ("error", "meaning", "maybe_billed"),
    [
        ({"message": "Slow down.", "code": 429}, TransientError, False),
        ({"message": "Insufficient credits", "code": 402}, QuotaExhausted, False),
        ({"message": "It broke.", "code": 502}, TransientError, True),
        ({"message": "Who knows?"}, TransientError, True),
    ],
)
def test_an_error_in_the_place_of_a_job_means_what_its_status_would(
    kind: Kind, error: dict[str, Any], meaning: type[ModelError], maybe_billed: bool
) -> None:
    async def use(client: AgentClient) -> None:
        with pytest.raises(meaning) as caught:
            await client.start(question())
        assert getattr(caught.value, "maybe_billed", False) == maybe_billed
        assert maybe_billed or error["message"] in str(caught.value)

    with_client(kind, lambda request: json_response({"error": error}), use)


@EVERY
def test_a_job_that_has_expired_is_gone(kind: Kind) -> None:
    async def use(client: AgentClient) -> None:
        name = (await client.start(question())).remote_id or ""
        await client.poll(name)
        with pytest.raises(Gone):
            await client.poll(name)
        with pytest.raises(Gone):
            await client.poll("../../v1/models/x?y#z")

    with_client(kind, kind.server(JobScript(gone_after=1)), use)


@EVERY
def test_a_second_turn_goes_on_with_the_first(kind: Kind) -> None:
    server = kind.server(JobScript(asks_first="Which island do you mean?"))

    async def use(client: AgentClient) -> list[JobStatus]:
        first = await finished(client)
        return [first, await finished(client, reply_to(first, "Which island do you mean?"))]

    first, second = with_client(kind, server, use)
    assert read_answer(kind.name, first.raw or "").text == "Which island do you mean?"
    assert "36 listed houses" in read_answer(kind.name, second.raw or "").text
    assert [job.conversation for job in server.jobs.values()] == [
        (PROMPT,),
        (PROMPT, "Decide yourself."),
    ]
    assert server.n_bought_again == 0


@EVERY
def test_parameters_go_over_what_is_sent_by_itself(kind: Kind) -> None:
    server = kind.server()
    extra = {"model": "m2", "agent": "deep-research-2", "max_tool_calls": 3}
    with_client(kind, server, finished, parameters=extra)
    (job,) = server.jobs.values()
    assert extra.items() <= job.body.items()


@pytest.mark.parametrize(
    ("kind", "ends", "error"),
    [
        (OPENAI, "failed", r"failed: server_error: The model gave up\."),
        (OPENAI, "cancelled", "cancelled"),
        (OPENAI, "incomplete", "incomplete: max_output_tokens"),
        *((GEMINI, end, rf"{end}.*The agent gave up\.") for end in ("failed", "budget_exceeded")),
        *((GEMINI, end, f"{end}((?!gave up).)*") for end in ("cancelled", "incomplete")),
        (PERPLEXITY, "failed", r"failed: internal: The agent gave up\."),
        *((PERPLEXITY, end, end) for end in ("cancelled", "incomplete")),
    ],
    ids=lambda of: getattr(of, "name", None),
)
def test_every_bad_end_is_a_failure_that_keeps_what_there_is_of_the_text(
    kind: Kind, ends: str, error: str
) -> None:
    answer = answer_of(kind, JobScript(ends=ends))
    assert answer.outcome == "failed"
    assert re.fullmatch(error, answer.error or "")
    assert answer.text.startswith("# Bericht")
    assert kind is not OPENAI or not answer.silent
    assert answer.cost_usd == (0.415 if kind is PERPLEXITY else None)


@pytest.mark.parametrize(("kind", "parts"), [(GEMINI, "steps"), (PERPLEXITY, "output")])
def test_what_requires_action_is_a_question_where_it_says_anything(kind: Kind, parts: str) -> None:
    asked = answer_of(kind, JobScript(asks_first="Which one?", asks_with="requires_action"))
    assert (asked.outcome, asked.text, asked.error) == ("question", "Which one?", None)
    silent = read_answer(kind.name, json.dumps({"status": "requires_action", parts: []}))
    assert (silent.outcome, silent.error) == ("failed", "requires_action")
