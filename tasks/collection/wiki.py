"""Connect to the wiki that an edition is collected from, once for each run."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tasks.configuration.wikipedia import WikipediaSettings
from tasks.wikipedia.client import MediaWiki, PageViews
from tasks.wikipedia.http import Clock, PoliteClient


@dataclass(frozen=True)
class Wiki:
    """A wiki and its pageviews service, with the settings of the run."""

    api: MediaWiki
    views: PageViews | None
    settings: WikipediaSettings
    client: PoliteClient
    """For addresses other than the wiki's."""


@asynccontextmanager
async def connect_wiki(
    settings: WikipediaSettings,
    api_url: str,
    *,
    clock: Clock | None = None,
    on_message: Callable[[str], None] = lambda text: None,
) -> AsyncIterator[Wiki]:
    """Connect to a wiki until the block ends.

    Raises:
        ConfigurationError: no operator is configured.
    """
    operator = settings.get_operator()
    requests = settings.requests
    client = PoliteClient(requests, operator, clock=clock, on_message=on_message)
    # A separate client: this service has limits of its own.
    counting = PoliteClient(
        requests, operator, clock=clock, name="page views", on_message=on_message
    )
    views = None
    # The service counts the views of the configured wiki only.
    if settings.pageviews_url and api_url == settings.api_url:
        views = PageViews(settings.pageviews_url, settings.pageviews_project, counting)
    api = MediaWiki(api_url, client, requests.maxlag_seconds)
    try:
        yield Wiki(api, views, settings, counting)
    finally:
        await client.close()
        await counting.close()
