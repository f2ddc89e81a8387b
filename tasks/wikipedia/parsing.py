"""Fetch a revision as the wiki renders it."""

from dataclasses import dataclass

from tasks.wikipedia.client import MediaWiki


@dataclass(frozen=True)
class RenderedPage:
    html: str
    external_links: int
    """Number of the page's links to other sites."""


async def fetch_rendered_page(wiki: MediaWiki, revision_id: int) -> RenderedPage:
    """Fetch the HTML of one revision, without edit links and parser comments.

    Raises:
        WikiRefused: `nosuchrevid` or `permissiondenied` if the revision is gone.
    """
    answer = await wiki.ask(
        action="parse",
        oldid=revision_id,
        prop="text|externallinks",
        disablelimitreport=1,
        disableeditsection=1,
        disabletoc=1,
    )
    page = answer["parse"]
    return RenderedPage(page["text"], len(page.get("externallinks", [])))
