"""What of a long page is shown: the sentences that matter, with their neighbours."""

from collections.abc import Sequence

from tasks.annotation.sheet import Text

SHOWN_CHARACTERS = 4_000
"""A page this short is shown whole; of a longer one about as much."""
NEIGHBOURS = 2
"""Sentences shown before and after each that matters."""
GAP = "[…]"


def passage(heading: str, sentences: Sequence[str], matter: Sequence[int]) -> Text:
    """A page's sentences around those at `matter` (best first), or its beginning without any.

    The note says what share of the page is shown, if it is not all.
    """
    whole = sum(map(len, sentences))
    if whole <= SHOWN_CHARACTERS:
        return Text(heading, "\n\n".join(sentences))
    kept = _around(matter, sentences) if matter else _beginning(sentences)
    lines: list[str] = []
    last = -1
    for index in kept:
        if index != last + 1:
            lines.append(GAP)
        lines.append(sentences[index])
        last = index
    if last != len(sentences) - 1:
        lines.append(GAP)
    shown = sum(len(sentences[index]) for index in kept)
    which = "around the sentences closest to the statement" if matter else (
        "its beginning, because no sentence shares a word with the statement"
    )  # fmt: skip
    note = f"Cut: {shown:,} of {whole:,} characters are shown, {which}."
    return Text(heading, "\n\n".join(lines), note)


def _around(matter: Sequence[int], sentences: Sequence[str]) -> list[int]:
    """Places of the sentences that matter (best first) and their neighbours, as far as fits."""
    kept: set[int] = set()
    for index in matter:
        first, last = max(0, index - NEIGHBOURS), min(len(sentences) - 1, index + NEIGHBOURS)
        more = kept | set(range(first, last + 1))
        if kept and sum(len(sentences[place]) for place in more) > SHOWN_CHARACTERS:
            break
        kept = more
    return sorted(kept)


def _beginning(sentences: Sequence[str]) -> list[int]:
    kept: list[int] = []
    length = 0
    for index, sentence in enumerate(sentences):
        length += len(sentence)
        if kept and length > SHOWN_CHARACTERS:
            break
        kept.append(index)
    return kept
