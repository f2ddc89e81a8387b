"""Excerpts of long pages: the relevant sentences, with their neighbours."""

from collections.abc import Sequence

from tasks.annotation.sheet import SheetText

SHOWN_CHARACTERS = 4_000
"""Length up to which a page is shown whole, and approximate length of excerpts."""
NEIGHBOURS = 2
"""Sentences before and after each relevant one."""
GAP = "[…]"


def cut_passage(heading: str, sentences: Sequence[str], relevant: Sequence[int]) -> SheetText:
    """Cut a page to the sentences around those at `relevant` (best first), or to its beginning.

    A note says how much of the page is shown, if not all.
    """
    whole = sum(map(len, sentences))
    if whole <= SHOWN_CHARACTERS:
        return SheetText(heading, "\n\n".join(sentences))
    kept = _select_around(relevant, sentences) if relevant else _select_beginning(sentences)
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
    which = "around the sentences closest to the statement" if relevant else (
        "its beginning, because no sentence shares a word with the statement"
    )  # fmt: skip
    note = f"Cut: {shown:,} of {whole:,} characters are shown, {which}."
    return SheetText(heading, "\n\n".join(lines), note)


def _select_around(relevant: Sequence[int], sentences: Sequence[str]) -> list[int]:
    """Return the indexes of relevant sentences and their neighbours, up to the limit."""
    kept: set[int] = set()
    for index in relevant:
        first, last = max(0, index - NEIGHBOURS), min(len(sentences) - 1, index + NEIGHBOURS)
        more = kept | set(range(first, last + 1))
        if kept and sum(len(sentences[place]) for place in more) > SHOWN_CHARACTERS:
            break
        kept = more
    return sorted(kept)


def _select_beginning(sentences: Sequence[str]) -> list[int]:
    kept: list[int] = []
    length = 0
    for index, sentence in enumerate(sentences):
        length += len(sentence)
        if kept and length > SHOWN_CHARACTERS:
            break
        kept.append(index)
    return kept
