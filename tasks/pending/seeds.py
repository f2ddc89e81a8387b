"""Choose the pages for an agent that is given the articles' sources."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import zip_longest

from tasks.configuration.inversion import load_inversion
from tasks.extraction.bans import is_on_host
from tasks.warehouse.pages import SeedPage
from tasks.warehouse.store import Readable

LINKS = """
SELECT article, url, raw_url FROM article_links WHERE edition = $1 ORDER BY article, number
"""
CHOSEN = "SELECT count(*) > 0 FROM seed_pages WHERE edition = $1 AND agent = $2"


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
