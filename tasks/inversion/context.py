"""The context of one article's inversion: the article, its surrounding pages, and the judge."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tasks.configuration.inversion import InversionSettings
from tasks.inversion.checks import SourceArticle
from tasks.inversion.mirrors import is_article_url, is_copy
from tasks.inversion.naming import split_words
from tasks.judges.inversion import ClaimMatcher, Inverter
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.text import extract_terms


@dataclass(frozen=True)
class ArchivedPage:
    """A page that might answer a question."""

    url: str
    text: str
    words: tuple[str, ...]
    """The text's words in a normalised spelling."""


@dataclass(frozen=True)
class Surroundings:
    """The archived pages around one article."""

    pages: tuple[ArchivedPage, ...]
    """Pages that the article or a report on it cites, without the article and its copies."""
    ranking: Bm25
    """Index over the texts of these pages."""
    references: tuple[str, ...]
    """Normalised addresses of all the article's references; empty if unknown."""


@dataclass(frozen=True)
class InversionContext:
    """All that the steps need to turn one article into questions."""

    source: SourceArticle
    surroundings: Surroundings
    inverter: Inverter
    matcher: ClaimMatcher
    settings: InversionSettings


def build_surroundings(
    source: SourceArticle,
    archived: Iterable[tuple[str, str]],
    references: Sequence[str],
    settings: InversionSettings,
) -> Surroundings:
    """Build the surroundings of an article, without the article itself and its copies.

    Args:
        archived: (address, text) of each page.
    """
    article = split_words(source.text)
    pages = []
    for url, text in archived:
        if is_article_url(url, source.url, source.title, settings.mirror_hosts):
            continue
        page = ArchivedPage(url, text, split_words(text))
        if not is_copy(page.words, article, settings):
            pages.append(page)
    ranking = Bm25([page.text for page in pages])
    extract_terms.cache_clear()  # the cache is meant for sentences, not for whole pages
    return Surroundings(tuple(pages), ranking, tuple(dict.fromkeys(references)))
