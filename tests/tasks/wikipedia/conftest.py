"""A clock nobody waits for, and clients of servers that answer by script."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tasks.configuration.wikipedia import WikiRequests
from tasks.wikipedia.client import MediaWiki
from tasks.wikipedia.http import PoliteClient
from tests.rigs.mediawiki.pages import read_pages
from tests.rigs.mediawiki.running import missing, running
from tests.servers.http import Request, Response, json_response
from tests.servers.serving import serving

ResultT = TypeVar("ResultT")
REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "mediawiki_pages"
OPERATOR = "ops@example.org"


@dataclass
class SimulatedClock:
    """Sleeping takes no time; what was slept is counted."""

    time: float = 0.0
    slept: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


@dataclass
class Scripted:
    """Gives its answers one after the other, then `{}`; keeps what it was asked."""

    answers: Sequence[Response | Any]
    asked: list[Request] = field(default_factory=list)

    def __call__(self, request: Request) -> Response:
        number = len(self.asked)
        self.asked.append(request)
        answer = self.answers[number] if number < len(self.answers) else {}
        return answer if isinstance(answer, Response) else json_response(answer)


@pytest.fixture(scope="session")
def mediawiki(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The API of a real MediaWiki that holds the published edition's articles."""
    if reason := missing():
        pytest.skip(reason)
    with running(tmp_path_factory.mktemp("wiki"), read_pages(REAL)) as wiki:
        yield wiki.api


@contextmanager
def scripted(*answers: Response | Any) -> Iterator[tuple[Scripted, str]]:
    """A server that answers so, and the address of its API."""
    script = Scripted(answers)
    with serving(script) as address:
        yield script, f"{address}/w/api.php"


def with_wiki(
    api: str,
    use: Callable[[MediaWiki], Awaitable[ResultT]],
    clock: SimulatedClock | None = None,
    **settings: Any,
) -> ResultT:
    """What `use` gives, with a client of this API."""

    async def run() -> ResultT:
        client = PoliteClient(WikiRequests(**settings), OPERATOR, clock=clock or SimulatedClock())
        try:
            return await use(MediaWiki(api, client))
        finally:
            await client.close()

    return asyncio.run(run())
