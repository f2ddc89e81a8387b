"""Pages too long for a judge, cut to what matters to the statements it is asked about.

A page is taken apart into passages. Its beginning is always shown (title, date, lead), then the
passages whose words are closest to the statements, in turn for each of these, then what follows
the beginning, until no more may be shown. They keep the order of the page, with a mark wherever
something is left out; the judge is told so, and every verdict says which share it rests on.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, zip_longest
from pathlib import Path

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS
from tasks.configuration.templates import StrictTemplate, read_text
from tasks.judges.offline.retrieval import Bm25
from tasks.models.attachments import Attachment
from tasks.warehouse.rows import content_sha

VERSION = 1
"""Raise it when the same page would be cut otherwise: what rests on an excerpt is judged anew."""
PASSAGE_CHARACTERS = 1_000
"""At most; about half of it at least, where paragraphs allow."""
LEAD_PASSAGES = 2
MOST_CHARACTERS = 2_000_000
"""What is looked at of a page; the rest is left out, and counted as such."""
_HALF = PASSAGE_CHARACTERS // 2
_SENTENCE_END = re.compile(r"[.!?…][\"')\]”’»]{0,3}\s+|[。！？]\s*")
_FILE = re.compile(r"# System\n(?P<system>.*?)\n# Gap\n(?P<gap>.*)", re.S)


@dataclass(frozen=True)
class Excerpt:
    """What is shown of a page."""

    text: str
    shown_share: float
    """Of the page's characters, 0-1."""


class Notice:
    """`configs/excerpts/page.md`: what a judge is told that sees an excerpt, and the mark that
    stands where something is left out. It is apart from the prompts, so that questions about
    whole pages stay what they were."""

    files: tuple[Attachment, ...] = ()

    def __init__(self, path: Path) -> None:
        text = read_text(path)
        found = _FILE.fullmatch(text)
        if not found:
            raise ConfigurationError(f"{path}: expected `# System`, then `# Gap`.")
        self.sha = content_sha(text)
        self.system = found["system"].strip()
        self._gap = StrictTemplate(path, found["gap"])

    def gap(self, n_characters: int) -> str:
        """The mark, on a line of its own.

        Raises:
            ConfigurationError: the template names something else than `characters`.
        """
        return f"\n{self._gap.render(characters=f'{n_characters:,}')}\n"


@lru_cache
def load_notice(configs: Path = CONFIGS) -> Notice:
    """How a judge is told that it sees an excerpt of a page.

    Raises:
        ConfigurationError: no such file, or it is of another form.
    """
    return Notice(configs / "excerpts" / "page.md")


class LongPage:
    """A page, not empty, ready to be cut for one group of statements after another."""

    def __init__(self, page: str, notice: Notice) -> None:
        self._notice = notice
        self._length = len(page)
        self._passages = passages(page[:MOST_CHARACTERS])
        self._sizes = [n_bytes(passage) for passage in self._passages]
        self._mark = n_bytes(notice.gap(self._length))
        self._index = Bm25(self._passages)

    def excerpt(self, statements: Sequence[str], most_bytes: int) -> Excerpt:
        """What is shown of the page for these statements.

        most_bytes: of UTF-8, marks included. Some 5,000 at least: with less not even a passage may
            fit.
        """
        chosen = self._chosen(statements, most_bytes)
        shown = sum(len(self._passages[place]) for place in chosen)
        return Excerpt(self._written(chosen), shown / self._length)

    def _chosen(self, statements: Sequence[str], most_bytes: int) -> list[int]:
        """Places of the passages to show, in page order."""
        shown = {-1}  # what is shown, and the page's edges, next to which no mark is needed
        if self._length <= MOST_CHARACTERS:
            shown.add(len(self._passages))
        chosen: list[int] = []
        room = most_bytes - self._mark
        for place in self._by_worth(statements):
            neighbours = (place - 1 in shown) + (place + 1 in shown)
            needed = self._sizes[place] + self._mark * (1 - neighbours)
            if place not in shown and needed <= room:
                shown.add(place)
                chosen.append(place)
                room -= needed
        return sorted(chosen)

    def _by_worth(self, statements: Sequence[str]) -> Iterator[int]:
        """Every place at least once, the best first."""
        places = range(len(self._passages))
        yield from places[:LEAD_PASSAGES]
        ranked = self._index.top_many(statements, len(places))
        for one_of_each in zip_longest(*ranked):
            yield from (place for place in one_of_each if place is not None)
        yield from places

    def _written(self, chosen: Sequence[int]) -> str:
        starts = [*accumulate(map(len, self._passages), initial=0)]
        parts = []
        end = 0
        for place in chosen:
            if starts[place] > end:
                parts.append(self._notice.gap(starts[place] - end))
            parts.append(self._passages[place])
            end = starts[place + 1]
        if self._length > end:
            parts.append(self._notice.gap(self._length - end))
        return "".join(parts)


def n_bytes(text: str) -> int:
    """As long as a text is in a request."""
    return len(text.encode("utf-8", "surrogatepass"))


def passages(page: str) -> tuple[str, ...]:
    """The page in pieces of at most PASSAGE_CHARACTERS; joined they are the page.

    They end where a paragraph does or a heading follows; else at the end of a line, a sentence or
    a word; and in the middle of one only where there is nothing else.
    """
    found: list[str] = []
    current: list[str] = []
    size = 0
    blank = False
    for line in page.splitlines(keepends=True):
        was_blank, blank = blank, line.isspace()
        opens = line.startswith("#") or (was_blank and not blank)
        for piece in _pieces(line):
            full = size + len(piece) > PASSAGE_CHARACTERS
            if current and (full or (opens and size >= _HALF)):
                found.append("".join(current))
                current, size = [], 0
            current.append(piece)
            size += len(piece)
    if current:
        found.append("".join(current))
    return tuple(found)


def _pieces(line: str) -> Iterator[str]:
    """A line whole, or cut at the last end of a sentence or word in each piece's second half."""
    start = 0
    while len(line) - start > PASSAGE_CHARACTERS:
        half, limit = start + _HALF, start + PASSAGE_CHARACTERS
        ends = [f.end() for f in _SENTENCE_END.finditer(line, half, limit)]
        spaces = line.rfind(" ", half, limit) + 1
        end = ends[-1] if ends else spaces or limit
        yield line[start:end]
        start = end
    yield line[start:]
