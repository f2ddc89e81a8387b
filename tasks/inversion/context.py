"""The context of one article's inversion: the article, its surrounding pages, and the judge."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from tasks.configuration.inversion import InversionSettings
from tasks.extraction.bans import is_on_host
from tasks.extraction.urls import is_same_page, look_through, normalise_url
from tasks.inversion.checks import SourceArticle, shared_share
from tasks.inversion.naming import split_words
from tasks.judges.decisions import JudgeAnswer, StepJudge
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.questions.match_claims import MatchClaims
from tasks.judges.text import extract_terms


class ClaimMatcher(Protocol):
    """A judge that matches answers with true claims."""

    async def decide(self, request: MatchClaims) -> Sequence[JudgeAnswer]:
        """Return one answer per answered claim, in order."""


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
    inverter: StepJudge
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


def is_article_url(url: str, article_url: str, title: str, hosts: Sequence[str]) -> bool:
    """Whether an address is the article's, at its source or on a host that copies it.

    Args:
        hosts: Hosts of encyclopedias and mirrors, including their subdomains (languages).
    """
    if is_same_page(url, article_url):
        return True
    keys = filter(None, map(normalise_url, look_through(url)))
    return any(is_on_host(key, hosts) and _has_title(key, title) for key in keys)


def _has_title(key: str, title: str) -> bool:
    place = urlsplit(key)
    segments = unquote(place.path).split("/")
    # A title may contain slashes.
    named = ["/".join(segments[start:]) for start in range(len(segments))]
    named += [value for _, value in parse_qsl(place.query)]
    wanted = split_words(title)
    return any(split_words(name.replace("_", " ")) == wanted for name in named)


def is_copy(page: Sequence[str], article: Sequence[str], settings: InversionSettings) -> bool:
    """Whether a page largely consists of the article's words, or the article of the page's."""
    n = settings.mirror_ngram_words
    shares = (shared_share(page, article, n), shared_share(article, page, n))
    return any(share is not None and share >= settings.mirror_share for share in shares)
