"""The baseline's research: queries, the pages they find, and the most informative statements.

It understands nothing: rare words that many pages on the subject use count as important. It is
deterministic: ties go to what comes first in the archive.
"""

import heapq
import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum

from tasks.agents.baseline.index import StatementSearch
from tasks.extraction.bans import parse_bans
from tasks.judges.text import extract_numbers, extract_terms, load_stop_words
from tasks.warehouse.traces import SearchStep

HITS = 1000
"""Statements considered for a query."""
HITS_PER_PAGE = 25
"""How many of a page's best statements count, so that length alone does not help a page."""
FIRST_PAGES = 14
FOLLOW_UPS = 8
FOLLOW_UP_PAGES = 3
"""The most new pages that a follow-up query opens."""
MIN_SHARE_OF_BEST = 0.3
"""A page is only opened if its score is at least this share of the best page's."""
MIN_NAMED = 0.6
"""Share of the title's words, weighted by rarity, that a page must contain."""
MIN_NAMED_QUERY = 0.3
"""The same for a query, in which most words are not names."""
MOST_WORDS_IN_A_ROW = 4
AGREEMENT_POWER = 1.4
"""The exponent of the number of pages that contain a word."""
SUBJECT_BONUS = 1.3
"""The factor for a statement that names the subject."""
MAX_PAGE_SHARE = 1 / 3
"""The largest share of an article's words that comes from one of several pages."""
FADING = 0.35
"""The factor on a word's weight for each time that it has been used."""
LENGTH_POWER = 0.7
"""The exponent of the length by which a score is divided; 1 would favour the shortest."""

_NAME = re.compile(
    r"[A-Z][\w'’-]+(?:\s+(?:(?:of|the|and|de|van|von|da|del|for)\s+){0,2}[A-Z][\w'’-]+){0,3}"
)
_REFERS_BACK = re.compile(
    r"\(|(?:He|She|It|They|This|That|These|Those|His|Her|Its|Their|But|And|So|However|Then|There)\b"
)
_MONTHS_AND_DAYS = frozenset((*month_name, *month_abbr, *day_name, *day_abbr))
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)\s*\Z")


@dataclass(frozen=True)
class PageStatement:
    """A statement of an opened page."""

    number: int
    """Its number in the archive."""
    page: int
    text: str
    n_terms: int
    words: frozenset[str]
    """Its distinct terms."""


@dataclass(frozen=True)
class ResearchResult:
    """The result of the research."""

    statements: tuple[PageStatement, ...]
    """The statements of all opened pages, page by page, the best page first."""
    weights: dict[str, float]
    """Word weights, from a word's rarity and the number of pages that contain it."""
    pages: tuple[int, ...]
    """The opened pages, the best first."""
    subject: dict[str, float]
    """The title's words and their rarity."""
    names: tuple[str, ...]
    """Names related to the subject, the most important first."""
    trace: tuple[SearchStep, ...]


def research(
    archive: StatementSearch, title: str, banned: Sequence[str], min_named: float = MIN_NAMED
) -> ResearchResult:
    """Search for a title (or query), then for the names on the pages found.

    min_named: share of its words that a page must contain to be opened.

    Raises:
        InvalidBan: `banned` holds neither a URL nor a host.
    """
    scores = _score_pages(archive, title, banned)
    subject = _weigh_terms(archive, title)  # the search may have added pages
    opened = _choose_pages(archive, scores, subject, FIRST_PAGES, min_named)
    trace = [_search_step(archive, title, opened, None)]
    names = _choose_names(archive, opened, title)
    for name in names:
        query = f"{title} {name}"
        further = _score_pages(archive, query, banned, opened)
        new = _choose_pages(archive, further, subject, FOLLOW_UP_PAGES, min_named)
        trace.append(_search_step(archive, query, new, 0))
        opened += new
    statements = tuple(_read_statements(archive, opened))
    return ResearchResult(
        statements=statements,
        weights=_weigh_words(archive, statements),
        pages=tuple(opened),
        subject=subject,
        names=tuple(names),
        trace=tuple(trace),
    )


def choose_statements(found: ResearchResult, n_words: int) -> list[PageStatement]:
    """Greedily choose the most informative statements, up to `n_words` words, in order of choice.

    A statement's score is the weight of its words, which fades with each use, per length.
    """
    used: Counter[str] = Counter()
    waiting = [
        (-_score_statement(statement, found, used), place, 0)
        for place, statement in enumerate(found.statements)
    ]
    heapq.heapify(waiting)
    chosen: list[PageStatement] = []
    left = n_words
    share = MAX_PAGE_SHARE * n_words if len(found.pages) > 1 else n_words
    taken: Counter[int] = Counter()
    while waiting and left > 0:
        # Scores never rise, so only the best statement needs a new score.
        _, place, at = heapq.heappop(waiting)
        statement = found.statements[place]
        if at < len(chosen):
            score = _score_statement(statement, found, used)
            heapq.heappush(waiting, (-score, place, len(chosen)))
            continue
        if taken[statement.page] >= share or _is_repetition(statement, chosen):
            continue
        chosen.append(statement)
        used.update(statement.words)
        n = len(statement.text.split())
        taken[statement.page] += n
        left -= n
    return chosen


def names_subject(found: ResearchResult, words: Container[str]) -> bool:
    """Whether the words of a statement contain most of the title."""
    return _is_named(found.subject, words)


def refers_back(sentence: str) -> bool:
    """Whether a sentence needs the one before it to be understood."""
    return _REFERS_BACK.match(sentence) is not None


def _score_statement(statement: PageStatement, found: ResearchResult, used: Counter[str]) -> float:
    # math.fsum: the result must not depend on the order of a set.
    score = fsum(found.weights[word] * FADING ** used[word] for word in statement.words)
    if refers_back(statement.text):
        score *= 0.8
    if names_subject(found, statement.words):
        score *= SUBJECT_BONUS
    return float(score / max(8, statement.n_terms) ** LENGTH_POWER)


def _is_repetition(statement: PageStatement, chosen: Sequence[PageStatement]) -> bool:
    words = statement.words
    return any(
        len(words & other.words) >= 0.75 * min(len(words), len(other.words)) for other in chosen
    )


def _weigh_terms(archive: StatementSearch, title: str) -> dict[str, float]:
    plain = _IN_BRACKETS.sub("", title)
    return {term: archive.rarity(term) for term in extract_terms(plain) or extract_terms(title)}


def _score_pages(
    archive: StatementSearch, query: str, banned: Sequence[str], opened: Sequence[int] = ()
) -> dict[int, float]:
    """Score pages by their best statements, with weights 1, 1/2, 1/3 ... in order.

    opened: pages to leave out, like banned ones.
    """
    hits = archive.search(query, HITS)
    urls = {page: archive.pages[page].url for page in {hit.page for hit in hits}}
    named = parse_bans(banned)
    left_out = {page for page, url in urls.items() if page in opened or named.matches(url)}
    scores: dict[int, float] = {}
    rank: Counter[int] = Counter()
    for hit in hits:
        if hit.page not in left_out and rank[hit.page] < HITS_PER_PAGE:
            rank[hit.page] += 1
            scores[hit.page] = scores.get(hit.page, 0.0) + hit.score / rank[hit.page]
    return scores


def _choose_pages(
    archive: StatementSearch,
    scores: dict[int, float],
    subject: dict[str, float],
    k: int,
    min_named: float,
) -> list[int]:
    ordered = sorted(scores, key=lambda page: (-scores[page], page))
    min_score = MIN_SHARE_OF_BEST * scores[ordered[0]] if ordered else 0.0
    chosen: list[int] = []
    for page in ordered:
        if len(chosen) == k or scores[page] < min_score:
            break
        if _page_names_subject(archive, page, subject, min_named):
            chosen.append(page)
    return chosen


def _page_names_subject(
    archive: StatementSearch, page: int, subject: dict[str, float], min_named: float
) -> bool:
    there = set(extract_terms(archive.pages[page].title))
    for number in range(archive.pages[page].first, archive.pages[page].end):
        there.update(extract_terms(archive.text(number)))
    return _is_named(subject, there, min_named)


def _is_named(
    subject: dict[str, float], there: Container[str], min_share: float = MIN_NAMED
) -> bool:
    named = sum(weight for term, weight in subject.items() if term in there)
    return named >= min_share * sum(subject.values())


def _read_statements(archive: StatementSearch, opened: Iterable[int]) -> Iterator[PageStatement]:
    for page in opened:
        for number in range(archive.pages[page].first, archive.pages[page].end):
            text = archive.text(number)
            found = extract_terms(text)
            yield PageStatement(number, page, text, len(found), frozenset(found))


def _weigh_words(archive: StatementSearch, statements: Sequence[PageStatement]) -> dict[str, float]:
    pages: dict[str, set[int]] = {}
    for statement in statements:
        for term in statement.words:
            pages.setdefault(term, set()).add(statement.page)
    return {term: archive.rarity(term) * len(on) ** AGREEMENT_POWER for term, on in pages.items()}


def _choose_names(archive: StatementSearch, opened: Sequence[int], title: str) -> list[str]:
    """Choose names on the opened pages by the number of pages and by rarity."""
    known = set(extract_terms(title))
    pages: dict[str, set[int]] = {}
    times: Counter[str] = Counter()
    for statement in _read_statements(archive, opened):
        for name in find_names(statement.text):
            if not known.issuperset(extract_terms(name)) and not extract_numbers(name):
                pages.setdefault(name, set()).add(statement.page)
                times[name] += 1
    ordered = sorted(
        pages,
        key=lambda name: (
            -len(pages[name]) * sum(archive.rarity(t) for t in extract_terms(name)) ** 0.5,
            -times[name],
            name,
        ),
    )
    chosen: list[str] = []
    for name in ordered:
        if len(chosen) == FOLLOW_UPS:
            break
        if times[name] >= 2 and not any(
            set(extract_terms(name)) & set(extract_terms(c)) for c in chosen
        ):
            chosen.append(name)
    return chosen


def find_names(sentence: str) -> Iterator[str]:
    """Yield runs of capitalised words, except a word that is only capitalised as the first."""
    for match in _NAME.finditer(sentence):
        name = match.group()
        if match.start() == 0:
            first, _, rest = name.partition(" ")
            name = rest if first.lower() in load_stop_words() or not rest else name
        if name and name not in _MONTHS_AND_DAYS:
            yield name


def _search_step(
    archive: StatementSearch, query: str, opened: Sequence[int], parent: int | None
) -> SearchStep:
    return SearchStep(
        query=query, opened=tuple(archive.pages[page].url for page in opened), parent=parent
    )
