"""What an assignment must not use: encyclopedias, its article wherever it is copied, and what its
ground truth bans."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tasks.base import Frozen
from tasks.extraction.banned import read_banned
from tasks.warehouse.rows import content_sha

_WORD = re.compile(r"[^\W_]+")


class Ban(Frozen):
    """What one assignment must not use, beside the encyclopedias that none may use."""

    articles: tuple[str, ...] = ()
    """Pages that hold much of these articles are copies of them."""
    pages: tuple[str, ...] = ()
    """Keys of pages."""
    hosts: tuple[str, ...] = ()
    """With all below them."""


def ban_of(article: str, banned: Iterable[str]) -> Ban:
    """The ban of an assignment on an article.

    banned: addresses of pages, and hosts, as a ground truth names them.

    Raises:
        UnreadableBan: one of them is neither.
    """
    named = read_banned(banned)
    articles = (article,) if article else ()
    return Ban(articles=articles, pages=named.pages, hosts=named.hosts)


def united(bans: Iterable[Ban]) -> Ban:
    """What any of them bans."""
    listed = list(bans)
    return Ban(
        articles=tuple(sorted({name for ban in listed for name in ban.articles})),
        pages=tuple(sorted({page for ban in listed for page in ban.pages})),
        hosts=tuple(sorted({host for ban in listed for host in ban.hosts})),
    )


class Copies:
    """Recognises pages that are largely one of some articles, or hold one largely.

    By the runs of words that both have; the bounds are those of `configs/inversion.yaml`.
    """

    def __init__(self, articles: Mapping[str, str], n_words: int, share: float) -> None:
        """articles: name to text. n_words: of a run. share: of either one's runs, 0-1."""
        self._n = n_words
        self._share = share
        self._sizes: dict[str, int] = {}
        self._articles: dict[int, list[str]] = {}
        for name in sorted(articles):
            runs = self._runs(articles[name])
            self._sizes[name] = len(runs)
            for run in runs:
                self._articles.setdefault(run, []).append(name)
        self.sha = content_sha(
            str(n_words), str(share), *(part for pair in sorted(articles.items()) for part in pair)
        )

    def of(self, text: str) -> list[str]:
        """The articles that a text is a copy of, by name."""
        if not self._articles:
            return []
        runs = self._runs(text)
        common = Counter(
            name for run in runs & self._articles.keys() for name in self._articles[run]
        )
        return sorted(
            name
            for name, n in common.items()
            if n >= self._share * min(len(runs), self._sizes[name])
        )

    def _runs(self, text: str) -> set[int]:
        words: Sequence[str] = _WORD.findall(text.lower())
        return {hash(run) for run in zip(*(words[i:] for i in range(self._n)), strict=False)}
