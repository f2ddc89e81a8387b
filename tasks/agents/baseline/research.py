"""The baseline's research: queries, the pages they find, and the most informative statements.

It understands nothing: words that many pages on the subject use, and few of their statements,
count as important. It is deterministic: ties go to what was found first.
"""

import heapq
import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum, log

from tasks.agents.baseline.index import PageSearch, ReadablePage
from tasks.judges.text import extract_numbers, extract_terms, load_stop_words
from tasks.warehouse.traces import SearchStep

FIRST_PAGES = 14
FOLLOW_UPS = 8
FOLLOW_UP_PAGES = 3
"""The most new pages that a follow-up query opens."""
MIN_NAMED = 0.7
"""Share of the title's words that a page must contain."""
MIN_NAMED_QUERY = 0.3
"""The same for a query, in which most words are not names."""
MAX_PAGE_SHARE = 1 / 3
"""The largest share of an article's words that comes from one of several pages."""
FADING = 0.35
"""The factor on a word's weight for each time that it has been used."""
SUBJECT_BONUS = 1.3
"""The factor for a statement that names the subject."""
BACK_REFERENCE_FACTOR = 0.8
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

    page: ReadablePage
    text: str
    n_terms: int
    words: frozenset[str]
    """Its distinct terms."""


@dataclass(frozen=True)
class ResearchResult:
    """The result of the research."""

    statements: tuple[PageStatement, ...]
    """The statements of all opened pages, page by page, the best page first."""
    subject: frozenset[str]
    """The title's words."""
    trace: tuple[SearchStep, ...]


def research(search: PageSearch, title: str, min_named: float = MIN_NAMED) -> ResearchResult:
    """Search for a title (or query), then for the names on the pages found.

    min_named: share of its words that a page must contain to be opened.
    """
    plain = _IN_BRACKETS.sub("", title)
    subject = frozenset(extract_terms(plain) or extract_terms(title))
    opened: dict[str, tuple[PageStatement, ...]] = {}
    trace: list[SearchStep] = []

    def open_pages(query: str, most: int, parent: int | None) -> None:
        new: list[str] = []
        for page in search.search(query):
            if len(new) == most:
                break
            if page.url in opened:
                continue
            statements = read_statements(page)
            words = frozenset(extract_terms(page.title)).union(*(s.words for s in statements))
            if share_named(subject, words) >= min_named:
                opened[page.url] = statements
                new.append(page.url)
        trace.append(SearchStep(query=query, opened=tuple(new), parent=parent))

    open_pages(title, FIRST_PAGES, None)
    found = [statement for statements in opened.values() for statement in statements]
    for name in _choose_names(found, subject):
        open_pages(f"{title} {name}", FOLLOW_UP_PAGES, 0)
    all_statements = tuple(one for statements in opened.values() for one in statements)
    return ResearchResult(all_statements, subject, tuple(trace))


def choose_statements(found: ResearchResult, n_words: int) -> list[PageStatement]:
    """Greedily choose the most informative statements, up to `n_words` words, in order of choice.

    A statement's score is the weight of its words, which fades with each use, per length.
    """
    weights = weigh_words(found.statements)
    n_pages = len({statement.page.url for statement in found.statements})
    share = MAX_PAGE_SHARE * n_words if n_pages > 1 else n_words

    def score(statement: PageStatement) -> float:
        # math.fsum: the result must not depend on the order of a set.
        weight = fsum(weights[word] for word in statement.words)
        named = share_named(found.subject, statement.words) >= MIN_NAMED
        bonus = SUBJECT_BONUS if named else 1.0
        back = BACK_REFERENCE_FACTOR if refers_back(statement.text) else 1.0
        return weight * float(bonus * back / max(8, statement.n_terms) ** LENGTH_POWER)

    waiting = [(-score(statement), place) for place, statement in enumerate(found.statements)]
    heapq.heapify(waiting)
    taken: Counter[str] = Counter()
    chosen: list[PageStatement] = []
    while waiting and taken.total() < n_words:
        before, place = heapq.heappop(waiting)
        statement = found.statements[place]
        if taken[statement.page.url] >= share:
            continue
        now = -score(statement)
        if now > before:  # scores only fall: a statement whose score is as it was is the best
            heapq.heappush(waiting, (now, place))
            continue
        chosen.append(statement)
        taken[statement.page.url] += len(statement.text.split())
        for word in statement.words:
            weights[word] *= FADING
    return chosen


def weigh_words(statements: Sequence[PageStatement]) -> dict[str, float]:
    """Weigh words by their rarity among the statements and the number of pages that use them."""
    times = Counter(word for statement in statements for word in statement.words)
    pages = Counter(
        word for _, word in {(s.page.url, word) for s in statements for word in s.words}
    )
    return {w: log((len(statements) + 1) / (n + 0.5)) * pages[w] for w, n in times.items()}


@lru_cache(maxsize=1_000)
def read_statements(page: ReadablePage) -> tuple[PageStatement, ...]:
    read = ((text, extract_terms(text)) for text in page.statements)
    return tuple(PageStatement(page, text, len(terms), frozenset(terms)) for text, terms in read)


def share_named(subject: Collection[str], words: Collection[str]) -> float:
    """Return the share of the subject's words that are among these."""
    return sum(word in words for word in subject) / max(1, len(subject))


def refers_back(sentence: str) -> bool:
    """Whether a sentence needs the one before it to be understood."""
    return _REFERS_BACK.match(sentence) is not None


def _choose_names(statements: Sequence[PageStatement], subject: frozenset[str]) -> list[str]:
    """Choose the names that most pages hold, and none that shares a word with a better one."""
    found = [(name, s.page.url) for s in statements for name in find_names(s.text, subject)]
    times = Counter(name for name, _ in found)
    pages = Counter(name for name, _ in set(found))
    chosen: list[str] = []
    for name in sorted(times, key=lambda name: (-pages[name], -times[name], name)):
        if len(chosen) == FOLLOW_UPS or times[name] < 2:
            break
        if not set(extract_terms(name)) & set(extract_terms(" ".join(chosen))):
            chosen.append(name)
    return chosen


def find_names(sentence: str, subject: Collection[str] = ()) -> Iterator[str]:
    """Yield runs of capitalised words, except a word that is only capitalised as the first.

    subject: terms of which none may occur in a name.
    """
    for match in _NAME.finditer(sentence):
        name = match.group()
        if match.start() == 0:
            first, _, rest = name.partition(" ")
            name = rest if first.lower() in load_stop_words() or not rest else name
        terms = extract_terms(name)
        is_name = terms and name not in _MONTHS_AND_DAYS and not extract_numbers(name)
        if is_name and not any(term in subject for term in terms):
            yield name
