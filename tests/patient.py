"""Servers as tests ask them: on a busy machine an answer may take longer than httpx waits."""

from functools import partial

import httpx

SECONDS = 60
get = partial(httpx.get, timeout=SECONDS)
post = partial(httpx.post, timeout=SECONDS)
Client = partial(httpx.Client, timeout=SECONDS)
AsyncClient = partial(httpx.AsyncClient, timeout=SECONDS)
