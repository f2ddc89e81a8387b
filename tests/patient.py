"""Servers as tests ask them: on two busy cores an answer may take longer than httpx waits."""

from functools import partial

import httpx

SECONDS = 30
"""As long as our own code waits for a Prefect server (`flows.runtime.server.ANSWER_SECONDS`)."""
Client = partial(httpx.Client, timeout=SECONDS)
AsyncClient = partial(httpx.AsyncClient, timeout=SECONDS)
get = partial(httpx.get, timeout=SECONDS)
post = partial(httpx.post, timeout=SECONDS)
