"""What the steps of one article work with: the article, the pages around it, and the judge."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tasks.configuration.inversion import InversionSettings
from tasks.inversion.checks import Source
from tasks.inversion.mirrors import is_copy, is_the_article
from tasks.inversion.naming import words
from tasks.judges.inversion import Inverter, Matcher
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.text import terms


@dataclass(frozen=True)
class ArchivedPage:
    """A page that could answer a question."""

    url: str
    text: str
    words: tuple[str, ...]
    """Of the text, in one spelling each."""


@dataclass(frozen=True)
class Surroundings:
    """The archive around one article."""

    pages: tuple[ArchivedPage, ...]
    """Pages that the article or a report on it cites, without the article and its copies."""
    ranking: Bm25
    """Over the texts of these pages."""
    references: tuple[str, ...]
    """Addresses of all the article's references, normalised; empty where they are not known."""


@dataclass(frozen=True)
class Bench:
    """One article, ready to be turned around."""

    source: Source
    around: Surroundings
    inverter: Inverter
    matcher: Matcher
    settings: InversionSettings


def surroundings(
    source: Source,
    archived: Iterable[tuple[str, str]],
    references: Sequence[str],
    settings: InversionSettings,
) -> Surroundings:
    """The pages that may answer: what is archived, without the article itself and its copies.

    archived: (address, text) of each page.
    """
    article = words(source.text)
    pages = []
    for url, text in archived:
        if is_the_article(url, source.url, source.title, settings.mirror_hosts):
            continue
        page = ArchivedPage(url, text, words(text))
        if not is_copy(page.words, article, settings):
            pages.append(page)
    ranking = Bm25([page.text for page in pages])
    terms.cache_clear()  # it is meant for sentences; whole pages would stay in memory
    return Surroundings(tuple(pages), ranking, tuple(dict.fromkeys(references)))
