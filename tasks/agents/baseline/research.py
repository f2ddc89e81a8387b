"""The baseline's research: queries, the pages they lead to, and which statements say most.

Nothing is understood here: what many pages on the subject say in rare words counts as important.
Deterministic: ties go to what stands earlier in the archive.
"""

import heapq
import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum

from tasks.agents.baseline.index import Sources
from tasks.extraction.banned import read_banned
from tasks.judges.text import numbers, stop_words, terms
from tasks.warehouse.traces import SearchStep

HITS = 1000
"""Statements that a query looks at."""
HITS_OF_A_PAGE = 25
"""Those of a page that count, the best: a long page is not better for being long."""
FIRST_PAGES = 14
FOLLOW_UPS = 8
PAGES_EACH = 3
"""New pages that a follow-up query may open."""
LEAST_OF_BEST = 0.3
"""A page whose score is below this share of the best page's is not opened."""
LEAST_NAMED = 0.6
"""Share of the title's words, weighted by rarity, that a page on the subject names."""
LEAST_OF_QUERY = 0.3
"""The same of a query, in which most words are no names."""
MOST_WORDS_IN_A_ROW = 4
AGREEMENT = 1.4
"""Power of the number of pages that a word stands on."""
ON_SUBJECT = 1.3
"""How much more a statement is worth that names the subject itself."""
MOST_OF_ONE_PAGE = 1 / 3
"""Share of an article's words that one page may give where there are others."""
FADING = 0.35
"""What a word is still worth when it has been said once more."""
SHORTNESS = 0.7
"""Power of the length that a statement's worth is divided by; 1 would favour the shortest."""

_NAME = re.compile(
    r"[A-Z][\w'’-]+(?:\s+(?:(?:of|the|and|de|van|von|da|del|for)\s+){0,2}[A-Z][\w'’-]+){0,3}"
)
_REFERS_BACK = re.compile(
    r"\(|(?:He|She|It|They|This|That|These|Those|His|Her|Its|Their|But|And|So|However|Then|There)\b"
)
_MONTHS_AND_DAYS = frozenset((*month_name, *month_abbr, *day_name, *day_abbr))
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)\s*\Z")


@dataclass(frozen=True)
class Statement:
    """A statement of a page that was opened."""

    number: int
    """In the archive."""
    page: int
    text: str
    n_terms: int
    words: frozenset[str]
    """Its terms, each once."""


@dataclass(frozen=True)
class Found:
    """What the research brought."""

    statements: tuple[Statement, ...]
    """Of all pages opened, page by page, the best page first."""
    weights: dict[str, float]
    """What a word is worth: how rare it is, and on how many of the pages it stands."""
    pages: tuple[int, ...]
    """The best first."""
    subject: dict[str, float]
    """The title's words, and how rare they are."""
    names: tuple[str, ...]
    """Of what the subject has to do with, the weightiest first."""
    trace: tuple[SearchStep, ...]


def research(
    archive: Sources, title: str, banned: Sequence[str], least_named: float = LEAST_NAMED
) -> Found:
    """Search for a title (or query), then for the names that its pages hold.

    least_named: share of its words that a page must name to be opened.

    Raises:
        UnreadableBan: what is banned cannot be read.
    """
    scores = _page_scores(archive, title, banned)
    subject = _weighted(archive, title)  # what is rare is known once pages are
    opened = _best(archive, scores, subject, FIRST_PAGES, least_named)
    trace = [_step(archive, title, opened, None)]
    names = _names(archive, opened, title)
    for name in names:
        query = f"{title} {name}"
        further = _page_scores(archive, query, banned, opened)
        new = _best(archive, further, subject, PAGES_EACH, least_named)
        trace.append(_step(archive, query, new, 0))
        opened += new
    statements = tuple(_read(archive, opened))
    return Found(
        statements=statements,
        weights=_weights(archive, statements),
        pages=tuple(opened),
        subject=subject,
        names=tuple(names),
        trace=tuple(trace),
    )


def choose(found: Found, n_words: int) -> list[Statement]:
    """The statements that together say most in so many words, in the order of being chosen.

    Greedy: each is worth its words that have not been said yet, those said fading, per length.
    """
    said: Counter[str] = Counter()
    waiting = [
        (-_worth(statement, found, said), place, 0)
        for place, statement in enumerate(found.statements)
    ]
    heapq.heapify(waiting)
    chosen: list[Statement] = []
    left = n_words
    share = MOST_OF_ONE_PAGE * n_words if len(found.pages) > 1 else n_words
    taken: Counter[int] = Counter()
    while waiting and left > 0:
        # A statement is worth no more than before: only the best needs to be weighed again.
        _, place, at = heapq.heappop(waiting)
        statement = found.statements[place]
        if at < len(chosen):
            worth = _worth(statement, found, said)
            heapq.heappush(waiting, (-worth, place, len(chosen)))
            continue
        if taken[statement.page] >= share or _repeats(statement, chosen):
            continue
        chosen.append(statement)
        said.update(statement.words)
        n = len(statement.text.split())
        taken[statement.page] += n
        left -= n
    return chosen


def names_subject(found: Found, words: Container[str]) -> bool:
    """Whether a statement names most of the title."""
    return _named(found.subject, words)


def refers_back(sentence: str) -> bool:
    """Whether a sentence needs the one before it to be understood."""
    return _REFERS_BACK.match(sentence) is not None


def _worth(statement: Statement, found: Found, said: Counter[str]) -> float:
    # math.fsum: the same in every process, in whatever order a set gives its members.
    worth = fsum(found.weights[word] * FADING ** said[word] for word in statement.words)
    if refers_back(statement.text):
        worth *= 0.8
    if names_subject(found, statement.words):
        worth *= ON_SUBJECT
    return float(worth / max(8, statement.n_terms) ** SHORTNESS)


def _repeats(statement: Statement, chosen: Sequence[Statement]) -> bool:
    words = statement.words
    return any(
        len(words & other.words) >= 0.75 * min(len(words), len(other.words)) for other in chosen
    )


def _weighted(archive: Sources, title: str) -> dict[str, float]:
    plain = _IN_BRACKETS.sub("", title)
    return {term: archive.rarity(term) for term in terms(plain) or terms(title)}


def _page_scores(
    archive: Sources, query: str, banned: Sequence[str], opened: Sequence[int] = ()
) -> dict[int, float]:
    """A page is worth its best statements: 1, 1/2, 1/3 ... of each, in order.

    opened: pages that do not count, as those that are banned.
    """
    hits = archive.search(query, HITS)
    urls = {page: archive.pages[page].url for page in {hit.page for hit in hits}}
    named = read_banned(banned)
    left_out = {page for page, url in urls.items() if page in opened or named.names(url)}
    scores: dict[int, float] = {}
    rank: Counter[int] = Counter()
    for hit in hits:
        if hit.page not in left_out and rank[hit.page] < HITS_OF_A_PAGE:
            rank[hit.page] += 1
            scores[hit.page] = scores.get(hit.page, 0.0) + hit.score / rank[hit.page]
    return scores


def _best(
    archive: Sources,
    scores: dict[int, float],
    subject: dict[str, float],
    k: int,
    least_named: float,
) -> list[int]:
    ordered = sorted(scores, key=lambda page: (-scores[page], page))
    least = LEAST_OF_BEST * scores[ordered[0]] if ordered else 0.0
    chosen: list[int] = []
    for page in ordered:
        if len(chosen) == k or scores[page] < least:
            break
        if _names_subject(archive, page, subject, least_named):
            chosen.append(page)
    return chosen


def _names_subject(
    archive: Sources, page: int, subject: dict[str, float], least_named: float
) -> bool:
    there = set(terms(archive.pages[page].title))
    for number in range(archive.pages[page].first, archive.pages[page].end):
        there.update(terms(archive.text(number)))
    return _named(subject, there, least_named)


def _named(subject: dict[str, float], there: Container[str], least: float = LEAST_NAMED) -> bool:
    named = sum(weight for term, weight in subject.items() if term in there)
    return named >= least * sum(subject.values())


def _read(archive: Sources, opened: Iterable[int]) -> Iterator[Statement]:
    for page in opened:
        for number in range(archive.pages[page].first, archive.pages[page].end):
            text = archive.text(number)
            found = terms(text)
            yield Statement(number, page, text, len(found), frozenset(found))


def _weights(archive: Sources, statements: Sequence[Statement]) -> dict[str, float]:
    pages: dict[str, set[int]] = {}
    for statement in statements:
        for term in statement.words:
            pages.setdefault(term, set()).add(statement.page)
    return {term: archive.rarity(term) * len(on) ** AGREEMENT for term, on in pages.items()}


def _names(archive: Sources, opened: Sequence[int], title: str) -> list[str]:
    """Names on the pages opened, by on how many of them they stand and how rare they are."""
    known = set(terms(title))
    pages: dict[str, set[int]] = {}
    times: Counter[str] = Counter()
    for statement in _read(archive, opened):
        for name in names_in(statement.text):
            if not known.issuperset(terms(name)) and not numbers(name):
                pages.setdefault(name, set()).add(statement.page)
                times[name] += 1
    ordered = sorted(
        pages,
        key=lambda name: (
            -len(pages[name]) * sum(archive.rarity(t) for t in terms(name)) ** 0.5,
            -times[name],
            name,
        ),
    )
    chosen: list[str] = []
    for name in ordered:
        if len(chosen) == FOLLOW_UPS:
            break
        if times[name] >= 2 and not any(set(terms(name)) & set(terms(c)) for c in chosen):
            chosen.append(name)
    return chosen


def names_in(sentence: str) -> Iterator[str]:
    """Runs of capitalised words; not the one word that has its capital from beginning it."""
    for match in _NAME.finditer(sentence):
        name = match.group()
        if match.start() == 0:
            first, _, rest = name.partition(" ")
            name = rest if first.lower() in stop_words() or not rest else name
        if name and name not in _MONTHS_AND_DAYS:
            yield name


def _step(archive: Sources, query: str, opened: Sequence[int], parent: int | None) -> SearchStep:
    return SearchStep(
        query=query, opened=tuple(archive.pages[page].url for page in opened), parent=parent
    )
