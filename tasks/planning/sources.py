"""Agents that are given the articles' sources: what a month needs before it asks them."""

from collections.abc import Sequence

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.web import load_web
from tasks.jobs.sessions import load_ask_entry
from tasks.pending.pages import find_pending_pages, list_fetch_sources
from tasks.pending.seeds import has_seed_pages
from tasks.warehouse.store import Readable

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
