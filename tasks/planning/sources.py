"""Agents that are given the articles' sources: what a month needs before it asks them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from tasks.archive.pending import find_pending_pages, list_fetch_sources
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.inversion import load_inversion
from tasks.configuration.web import load_web
from tasks.extraction.bans import is_on_host
from tasks.jobs.sessions import load_ask_entry
from tasks.warehouse.pages import SeedPage
from tasks.warehouse.store import Readable

LINKS = """
SELECT article, url, raw_url FROM article_links WHERE edition = $1 ORDER BY article, number
"""
CHOSEN = "SELECT count(*) > 0 FROM seed_pages WHERE edition = $1 AND agent = $2"
ARCHIVED = """
SELECT count(*) > 0 FROM seed_pages AS s JOIN pages AS p USING (edition, url)
WHERE s.edition = $1 AND s.agent = $2 AND p.status = 'ok'
"""


def is_given_sources(agent: str) -> bool:
    """Whether the agent is given the pages that the articles' references link to."""
    return getattr(load_ask_entry(agent), "archive", False) == "references"


def find_missing_sources(source: Readable, edition: str, agent: str) -> str | None:
    """Say why an agent that is given the sources cannot be asked yet; None if it can."""
    if any(find_pending_pages(source, edition, one, [agent]) for one in list_fetch_sources()):
        return "Some of the articles' sources are still to be fetched; run again."
    if not source.frame(ARCHIVED, [edition, agent]).item():
        return "None of the pages that the articles' references link to is archived."
    return None


def check_page_operator(source: Readable, edition: str, agents: Sequence[str]) -> None:
    """Check that there is a contact for fetching articles' sources, which no report has cited.

    Raises:
        ConfigurationError: pages are to be fetched, and no operator is set.
    """
    for agent in filter(is_given_sources, agents):
        pending = not has_seed_pages(source, edition, agent) or find_pending_pages(
            source, edition, "direct", [agent]
        )
        if pending and load_web().get_operator() is None:
            raise ConfigurationError(
                f"configs/web.yaml: `operator` is empty. {agent} is given the pages that the "
                "articles' references link to; their sites must know whom to contact. Set an "
                f"e-mail address or URL there or in the variable {load_web().operator_env}."
            )


def choose_seed_pages(source: Readable, edition: str, agent: str, most: int) -> list[SeedPage]:
    """Choose at most `most` pages for an agent that has none yet: the first of each article, then
    the second of each, and so on. Encyclopedias and their mirrors are left out.

    Returns:
        No page if pages were chosen before: an edition's stay the same.
    """
    if has_seed_pages(source, edition, agent):
        return []
    found: dict[str, SeedPage] = {}
    for page in _list_by_turns(source, edition, agent):
        if len(found) == most:
            break
        found.setdefault(page.url, page)
    return list(found.values())


def has_seed_pages(source: Readable, edition: str, agent: str) -> bool:
    """Whether pages were chosen for the agent."""
    return bool(source.frame(CHOSEN, [edition, agent]).item())


def _list_by_turns(source: Readable, edition: str, agent: str) -> Iterator[SeedPage]:
    hosts = load_inversion().mirror_hosts
    links: dict[str, list[SeedPage]] = defaultdict(list)
    for article, url, raw_url in source.frame(LINKS, [edition]).iter_rows():
        if not is_on_host(url, hosts):
            page = SeedPage(edition=edition, agent=agent, url=url, raw_url=raw_url)
            links[article].append(page)
    for turn in zip_longest(*links.values()):
        yield from filter(None, turn)
