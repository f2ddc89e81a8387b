"""One revision as the wiki renders it."""

from dataclasses import dataclass

from tasks.wikipedia.client import MediaWiki


@dataclass(frozen=True)
class Rendered:
    html: str
    external_links: int
    """Links of the page that lead outside the wiki."""


async def rendered(wiki: MediaWiki, revision_id: int) -> Rendered:
    """The HTML of one revision, without edit links and remarks about its making.

    Raises:
        WikiRefused: `nosuchrevid`, `permissiondenied`: it is gone.
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
    return Rendered(page["text"], len(page.get("externallinks", [])))
