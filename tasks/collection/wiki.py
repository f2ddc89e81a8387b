"""The wiki an edition is collected from, reachable: opened once for a run, paced as one."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tasks.configuration.wikipedia import WikipediaSettings
from tasks.warehouse.store import Warehouse
from tasks.wikipedia.client import MediaWiki
from tasks.wikipedia.clock import Clock
from tasks.wikipedia.http import PoliteClient
from tasks.wikipedia.pageviews import PageViews


@dataclass(frozen=True)
class Wiki:
    """A wiki and the service that counts its readers, with the settings of the run."""

    api: MediaWiki
    views: PageViews | None
    settings: WikipediaSettings
    client: PoliteClient


_wikis: dict[Warehouse, Wiki] = {}


@asynccontextmanager
async def connected(
    warehouse: Warehouse,
    settings: WikipediaSettings,
    api_url: str,
    *,
    clock: Clock | None = None,
    on_message: Callable[[str], None] = lambda text: None,
) -> AsyncIterator[Wiki]:
    """While open, `wiki_of` gives this wiki.

    Raises:
        ConfigurationError: nobody is named as the operator.
    """
    operator = settings.named_operator()
    asked = settings.requests
    client = PoliteClient(asked, operator, clock=clock, on_message=on_message)
    # Another service, with limits of its own.
    counting = PoliteClient(asked, operator, clock=clock, name="page views", on_message=on_message)
    views = None
    # The service counts the readers of the configured wiki, not those of another one.
    if settings.pageviews_url and api_url == settings.api_url:
        views = PageViews(settings.pageviews_url, settings.pageviews_project, counting)
    api = MediaWiki(api_url, client, asked.maxlag_seconds)
    _wikis[warehouse] = Wiki(api, views, settings, client)
    try:
        yield _wikis[warehouse]
    finally:
        del _wikis[warehouse]
        await client.close()
        await counting.close()


def wiki_of(warehouse: Warehouse) -> Wiki:
    """The wiki that is open: how a task reaches it by key."""
    return _wikis[warehouse]
