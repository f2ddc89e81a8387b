"""Fetching from the tests' own servers, with bounds that suit them."""

import asyncio
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tasks.configuration.web import (
    AllowedAddresses,
    JinaReader,
    PageLimits,
    RequestPolicy,
    WaybackMachine,
    WebSettings,
)
from tasks.warehouse.contents import PageStore
from tasks.warehouse.pages import FetchSource
from tasks.web.fetcher import open_fetcher
from tasks.web.page import FetchResult, PageRequest
from tests.servers.web_pages import KEEP, answer, serving_pages

LOOPBACK = "127.0.0.1"
MANNERS = RequestPolicy(
    at_once=8, per_host=4, seconds_between=0, tries=2, first_wait_seconds=0.01,
    longest_wait_seconds=2,
)  # fmt: skip
BOUNDS = PageLimits(
    connect_seconds=20, read_seconds=20, total_seconds=40, most_bytes=300_000, most_redirects=4
)


def web_settings(
    hosts: Iterable[str] = (),
    *,
    manners: Mapping[str, Any] | None = None,
    bounds: Mapping[str, Any] | None = None,
    allowed: Mapping[str, Any] | None = None,
    **more: Any,
) -> WebSettings:
    """Settings for a test: `hosts` may be asked, though they are on loopback."""
    return WebSettings(
        operator_env="EVERGREEN_OPERATOR",
        manners=MANNERS.model_copy(update=dict(manners or {})),
        bounds=BOUNDS.model_copy(update=dict(bounds or {})),
        allowed=AllowedAddresses(hosts=tuple(hosts), **(allowed or {})),
        **{
            "jina": JinaReader(url="https://jina.example.org/"),
            "wayback": WaybackMachine(url="https://wayback.example.org/available"),
            **more,
        },
    )


async def loopback(host: str, port: int) -> list[str]:
    """Every name leads to this machine."""
    return [LOOPBACK]


@dataclass
class Outcome:
    """What came of a run."""

    store: PageStore
    folder: Path
    fetched: dict[str, FetchResult] = field(default_factory=dict)
    error: BaseException | None = None

    def content(self, url: str) -> bytes:
        sha = self.fetched[url].sha
        assert sha is not None
        return self.store.get(sha)

    def files(self) -> list[Path]:
        """All that lies in the folder of pages."""
        return sorted(path for path in self.folder.rglob("*") if path.is_file())


def fetch_beside_an_answer(
    pages: Iterable[PageRequest | str], settings: WebSettings, **more: Any
) -> Outcome:
    """Fetch pages while another host is known to answer: the network is up."""
    with serving_pages(lambda asked: [answer(b"up"), KEEP]) as site:
        allowed = settings.allowed.model_copy(
            update={"hosts": (*settings.allowed.hosts, site.place)}
        )
        settings = settings.model_copy(update={"allowed": allowed})
        return fetch(pages, settings, answered_before=[site.url()], **more)


def fetch(
    pages: Iterable[PageRequest | str],
    settings: WebSettings,
    *,
    source: FetchSource = "direct",
    lookup: Any = loopback,
    answered_before: Sequence[str] = (),
    most_seconds: float = 30.0,
) -> Outcome:
    """Fetch all pages; an address stands for a page that is cited by it. What the run raises is
    in the outcome."""
    folder = Path(tempfile.mkdtemp())
    outcome = Outcome(PageStore(folder), folder)
    weakref.finalize(outcome, shutil.rmtree, folder, True)
    wanted = [
        page if isinstance(page, PageRequest) else PageRequest(url=page, addresses=(page,))
        for page in pages
    ]

    async def keep(page: PageRequest, fetched: FetchResult) -> None:
        assert page.url not in outcome.fetched, "handed on twice"
        outcome.fetched[page.url] = fetched

    async def run() -> None:
        async with (
            asyncio.timeout(most_seconds),
            open_fetcher(settings, outcome.store, source, lookup) as fetcher,
        ):
            await fetcher.fetch_all(wanted, keep, answered_before)

    try:
        asyncio.run(run())
    except TimeoutError:
        raise
    except Exception as error:
        outcome.error = error
    return outcome
