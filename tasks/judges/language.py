"""Which language a text is in, as py3langid tells it."""

from collections import Counter
from functools import cache
from typing import Any

MAX_CHARS = 10_000
"""Characters read of a text: some 4 ms."""
MIN_LETTERS = 100
"""Shorter texts are not told: a few names decide them."""
MIN_PROBABILITY = 0.9
NO_LANGUAGE = "zxx"
"""The code of texts that are no language, such as tables of numbers."""
SAME_WRITTEN_LANGUAGE = {"wuu": "zh", "yue": "zh", "gan": "zh", "lzh": "zh"}
"""Codes that stand for the same written language."""


def identify_language(text: str) -> str | None:
    """Return the ISO 639 code of a text's language; None if it is too short or not certain."""
    beginning = text[:MAX_CHARS]
    if sum(map(str.isalpha, beginning)) < MIN_LETTERS:
        return None
    shares: Counter[str] = Counter()
    for code, probability in _load_identifier().rank(beginning):
        shares[SAME_WRITTEN_LANGUAGE.get(code, code)] += probability
    [(language, share)] = shares.most_common(1)
    return language if share >= MIN_PROBABILITY and language != NO_LANGUAGE else None


@cache
def _load_identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # a second to load

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
