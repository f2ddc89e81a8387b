"""Servers as tests ask them: on two busy cores an answer may take longer than httpx waits."""

import os
from collections.abc import Iterator
from functools import partial

import httpx

SECONDS = 30
"""As long as our own code waits for a Prefect server (`flows.runtime.server.ANSWER_SECONDS`)."""


class PrefectPassword(httpx.Auth):
    """What Prefect's own client sends: the password that is known when a request is sent."""

    def auth_flow(self, request: httpx.Request) -> Iterator[httpx.Request]:  # type: ignore[override]
        if known := os.environ.get("PREFECT_API_AUTH_STRING"):
            yield from httpx.BasicAuth(*known.split(":", 1)).auth_flow(request)
        else:
            yield request


PASSWORD = PrefectPassword()
Client = partial(httpx.Client, timeout=SECONDS, auth=PASSWORD)
AsyncClient = partial(httpx.AsyncClient, timeout=SECONDS, auth=PASSWORD)
get = partial(httpx.get, timeout=SECONDS, auth=PASSWORD)
post = partial(httpx.post, timeout=SECONDS, auth=PASSWORD)
