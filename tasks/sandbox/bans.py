"""What nobody may use: encyclopedias, copies of an edition's articles, and what its ground truths
ban."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from tasks.extraction.bans import BanList
from tasks.warehouse.rows import content_sha

_WORD = re.compile(r"[^\W_]+")


class Ban(BanList):
    """What the assignments of an edition ban, in addition to encyclopedias."""

    articles: tuple[str, ...] = ()
    """Articles whose copies are banned."""


class CopyDetector:
    """A detector of pages that consist largely of one of the articles, or contain most of one.

    It compares word n-grams, with the bounds in `configs/inversion.yaml`.
    """

    def __init__(self, articles: Mapping[str, str], n_words: int, share: float) -> None:
        """articles: name to text. n_words: the n of the n-grams. share: the minimum share of
        common n-grams in the smaller of the two texts, 0-1."""
        self._n = n_words
        self._share = share
        self._sizes: dict[str, int] = {}
        self._articles: dict[int, list[str]] = {}
        for name in sorted(articles):
            ngrams = self._ngrams(articles[name])
            self._sizes[name] = len(ngrams)
            for ngram in ngrams:
                self._articles.setdefault(ngram, []).append(name)
        self.sha = content_sha(
            str(n_words), str(share), *(part for pair in sorted(articles.items()) for part in pair)
        )

    def find_articles(self, text: str) -> list[str]:
        """Return the sorted names of the articles that a text copies."""
        if not self._articles:
            return []
        ngrams = self._ngrams(text)
        common = Counter(
            name for ngram in ngrams & self._articles.keys() for name in self._articles[ngram]
        )
        return sorted(
            name
            for name, n in common.items()
            if n >= self._share * min(len(ngrams), self._sizes[name])
        )

    def _ngrams(self, text: str) -> set[int]:
        words: Sequence[str] = _WORD.findall(text.lower())
        return {hash(ngram) for ngram in zip(*(words[i:] for i in range(self._n)), strict=False)}
