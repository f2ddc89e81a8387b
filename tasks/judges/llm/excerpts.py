"""Excerpts of pages too long for a judge, chosen for the statements to verify.

A page is split into passages. An excerpt always has the beginning (title, date, lead), then the
passages closest to the statements, in turn for each of them, then what follows the beginning,
up to the limit. Passages keep the page's order, and marks show what is left out. The prompt
explains this to the judge, and each verdict records the share shown.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, zip_longest
from pathlib import Path

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import find_file
from tasks.configuration.loading import read_text
from tasks.configuration.templates import StrictTemplate
from tasks.judges.offline.retrieval import Bm25
from tasks.models.attachments import Attachment
from tasks.warehouse.rows import content_sha

EXCERPT_VERSION = 1
"""Raise it when the same page would be cut differently: verdicts on excerpts are then redone."""
PASSAGE_CHARACTERS = 1_000
"""Longest passage; passages have about half of it at least, if paragraphs allow."""
LEAD_PASSAGES = 2
MAX_CHARACTERS = 2_000_000
"""Characters considered of a page; the rest is left out, and counted as such."""
_HALF = PASSAGE_CHARACTERS // 2
_SENTENCE_END = re.compile(r"[.!?…][\"')\]”’»]{0,3}\s+|[。！？]\s*")
_FILE = re.compile(r"# System\n(?P<system>.*?)\n# Gap\n(?P<gap>.*)", re.S)


@dataclass(frozen=True)
class Excerpt:
    """The part of a page that is shown."""

    text: str
    shown_share: float
    """The share 0-1 of the page's characters."""


class ExcerptNotice:
    """`configs/excerpts/page.md`: explains excerpts to a judge, and defines the mark for gaps.

    It is separate from the prompts, so that requests with whole pages keep their ids.
    """

    files: tuple[Attachment, ...] = ()

    def __init__(self, path: Path) -> None:
        text = read_text(path)
        found = _FILE.fullmatch(text)
        if not found:
            raise ConfigurationError(f"{path}: expected `# System`, then `# Gap`.")
        self.sha = content_sha(text)
        self.system = found["system"].strip()
        self._gap = StrictTemplate(path, found["gap"])

    def render_gap(self, n_characters: int) -> str:
        """Render the mark, on a line of its own.

        Raises:
            ConfigurationError: the template uses a variable other than `characters`.
        """
        return f"\n{self._gap.render(characters=f'{n_characters:,}')}\n"


@lru_cache
def load_notice() -> ExcerptNotice:
    """Load the notice on excerpts.

    Raises:
        ConfigurationError: the file is missing or malformed.
    """
    return ExcerptNotice(find_file("excerpts/page.md"))


class LongPage:
    """A page, not empty, prepared for excerpts for several groups of statements."""

    def __init__(self, page: str, notice: ExcerptNotice) -> None:
        self._notice = notice
        self._length = len(page)
        self._passages = split_passages(page[:MAX_CHARACTERS])
        self._sizes = [count_bytes(passage) for passage in self._passages]
        self._mark = count_bytes(notice.render_gap(self._length))
        self._index = Bm25(self._passages)

    def make_excerpt(self, statements: Sequence[str], max_bytes: int) -> Excerpt:
        """Make the excerpt for these statements.

        max_bytes: UTF-8 bytes, marks included; at least some 5,000, else no passage may fit.
        """
        chosen = self._choose(statements, max_bytes)
        shown = sum(len(self._passages[place]) for place in chosen)
        return Excerpt(self._render(chosen), shown / self._length)

    def _choose(self, statements: Sequence[str], max_bytes: int) -> list[int]:
        """Return the indices of the passages to show, in page order."""
        shown = {-1}  # and the page's edges, next to which no mark is needed
        if self._length <= MAX_CHARACTERS:
            shown.add(len(self._passages))
        chosen: list[int] = []
        room = max_bytes - self._mark
        for place in self._rank(statements):
            neighbours = (place - 1 in shown) + (place + 1 in shown)
            needed = self._sizes[place] + self._mark * (1 - neighbours)
            if place not in shown and needed <= room:
                shown.add(place)
                chosen.append(place)
                room -= needed
        return sorted(chosen)

    def _rank(self, statements: Sequence[str]) -> Iterator[int]:
        """Yield every index at least once, the best first."""
        places = range(len(self._passages))
        yield from places[:LEAD_PASSAGES]
        ranked = self._index.top_many(statements, len(places))
        for one_of_each in zip_longest(*ranked):
            yield from (place for place in one_of_each if place is not None)
        yield from places

    def _render(self, chosen: Sequence[int]) -> str:
        starts = [*accumulate(map(len, self._passages), initial=0)]
        parts = []
        end = 0
        for place in chosen:
            if starts[place] > end:
                parts.append(self._notice.render_gap(starts[place] - end))
            parts.append(self._passages[place])
            end = starts[place + 1]
        if self._length > end:
            parts.append(self._notice.render_gap(self._length - end))
        return "".join(parts)


def count_bytes(text: str) -> int:
    """Return the size of a text in a request."""
    return len(text.encode("utf-8", "surrogatepass"))


def split_passages(page: str) -> tuple[str, ...]:
    """Split a page into passages of at most PASSAGE_CHARACTERS; joined they are the page.

    Passages end at paragraphs or before headings, else at the end of a line, sentence or word;
    within a word only if there is no other place.
    """
    found: list[str] = []
    current: list[str] = []
    size = 0
    blank = False
    for line in page.splitlines(keepends=True):
        was_blank, blank = blank, line.isspace()
        opens = line.startswith("#") or (was_blank and not blank)
        for piece in _cut_line(line):
            full = size + len(piece) > PASSAGE_CHARACTERS
            if current and (full or (opens and size >= _HALF)):
                found.append("".join(current))
                current, size = [], 0
            current.append(piece)
            size += len(piece)
    if current:
        found.append("".join(current))
    return tuple(found)


def _cut_line(line: str) -> Iterator[str]:
    """Yield the line, cut at the last end of a sentence or word in each piece's second half."""
    start = 0
    while len(line) - start > PASSAGE_CHARACTERS:
        half, limit = start + _HALF, start + PASSAGE_CHARACTERS
        ends = [f.end() for f in _SENTENCE_END.finditer(line, half, limit)]
        spaces = line.rfind(" ", half, limit) + 1
        end = ends[-1] if ends else spaces or limit
        yield line[start:end]
        start = end
    yield line[start:]
