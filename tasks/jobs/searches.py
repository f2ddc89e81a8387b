"""What jobs do with our search server: the token of each, and what it was used for."""

import os
from collections.abc import Callable
from datetime import timedelta

import httpx
from pydantic import TypeAdapter, ValidationError

from tasks.agents.agent import JobRequest, SandboxAccess
from tasks.agents.command.settings import CommandAsk
from tasks.agents.kind import Ask
from tasks.agents.kinds.http import HttpAsk
from tasks.models.errors import Misconfigured
from tasks.sandbox.source import sandbox_folder
from tasks.sandbox.tokens import Asked, ReaderToken, SandboxToken, find_token_key, issue_token
from tasks.warehouse.location import LocationLike
from tasks.warehouse.store import Warehouse
from tasks.warehouse.traces import SearchStep, SearchTrace, make_search_trace
from tasks.warehouse.writer import Change

URL_VARIABLE = "EVERGREEN_SANDBOX"
EXTRA_TIME = timedelta(minutes=10)
"""How much longer than its job a token is valid: the job's clock starts a little later."""
READING_TIME = timedelta(minutes=5)
ANSWER_SECONDS = 30
ASKED = TypeAdapter(list[Asked])
UNREAD = """
SELECT j.assignment, j.job
FROM jobs AS j
JOIN reports AS r USING (edition, agent, assignment)
LEFT JOIN search_traces AS t USING (edition, agent, assignment)
WHERE j.edition = $1 AND j.agent = $2 AND j.state = 'done' AND r.source_path = 'job ' || j.job
  AND t.source IS DISTINCT FROM 'sandbox'
  AND (json_extract_string(j.parameters, 'sandbox') = 'true'
    OR json_extract_string(j.parameters, 'network') = 'sandbox')
ORDER BY j.assignment
"""
"""Reports whose jobs could search the sandbox, but whose searches were not read from it yet."""


def may_search(ask: Ask) -> bool:
    """Whether an agent's jobs get a way to our search server."""
    if isinstance(ask, CommandAsk):
        return ask.network == "sandbox"
    return isinstance(ask, HttpAsk) and ask.sandbox


def find_sandbox_url(agent: str) -> str:
    """Return the search server's URL.

    Raises:
        Misconfigured: it is not set.
    """
    url = os.environ.get(URL_VARIABLE, "").rstrip("/")
    if not url:
        raise Misconfigured(
            f"{agent} searches our sandbox, but {URL_VARIABLE} is not set. Set it to the address "
            "that `evergreen sandbox` prints."
        )
    return url


def grant_access(warehouse: LocationLike, agent: str, ask: Ask, request: JobRequest) -> JobRequest:
    """Add the search server and a token of its own to an agent's request, if it may search.

    Raises:
        Misconfigured: the server's URL is not set.
        ConfigurationError: the key for tokens cannot be used.
    """
    if not may_search(ask):
        return request
    claims = SandboxToken(
        edition=request.edition, assignment=request.assignment, agent=agent, job=request.job
    )
    lifetime = timedelta(minutes=ask.limits.deadline_minutes) + EXTRA_TIME
    token = issue_token(find_token_key(sandbox_folder(warehouse)), claims, lifetime)
    access = SandboxAccess(url=find_sandbox_url(agent), token=token)
    return request.model_copy(update={"sandbox": access})


async def collect_searches(
    warehouse: Warehouse,
    edition: str,
    agent: str,
    ask: Ask,
    on_message: Callable[[str], None],
) -> None:
    """Keep what an agent's jobs asked the search server for, as their search traces.

    They replace what the agent says itself, even if it asked for nothing. Reports whose searches
    cannot be read now are tried again by the next run.
    """
    if not may_search(ask):
        return
    unread = warehouse.frame(UNREAD, [edition, agent]).to_dicts()
    if not unread:
        return
    url, key = find_sandbox_url(agent), find_token_key(sandbox_folder(warehouse.location))
    async with httpx.AsyncClient(timeout=ANSWER_SECONDS, trust_env=False) as client:
        for row in unread:
            token = issue_token(key, ReaderToken(reads=row["job"]), READING_TIME)
            try:
                answer = await client.get(
                    f"{url}/asked", headers={"Authorization": f"Bearer {token}"}
                )
                asked = ASKED.validate_json(answer.raise_for_status().content)
            except (httpx.HTTPError, httpx.InvalidURL, ValidationError) as error:
                on_message(
                    f"What {agent} searched cannot be read from {url} ({error}); {len(unread)} "
                    f"reports are tried again when {agent} is asked the next time."
                )
                return
            trace = make_search_trace(
                edition, agent, row["assignment"], map(_make_step, asked), "sandbox"
            )
            await warehouse.write_async(Change(SearchTrace, [trace]))


def _make_step(asked: Asked) -> SearchStep:
    if asked.call == "search":
        return SearchStep(query=asked.argument)
    if asked.outcome == "served":
        return SearchStep(opened=(asked.argument,))
    return SearchStep(refused=(asked.argument,), reason=asked.outcome)
