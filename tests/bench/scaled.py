"""Editions of any size by one agent, of seeded words: what `bench_judges` runs on.

What is said matters as far as time does: each article has words of its own, claims repeat facts or
bend their numbers, pages hold some of what is cited from them. So retrieval finds something, and
every kind of verdict occurs. One report in 500 is empty, as in published editions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random

from tasks.warehouse.pages import Page
from tasks.warehouse.rows import (
    Agent,
    Article,
    Assignment,
    Citation,
    Claim,
    Edition,
    Extraction,
    Fact,
    Report,
    Row,
    content_sha,
)
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change

EDITION, AGENT = "scaled", "agent_01"
WORDS, OWN_WORDS = 9_000, 400
"""Of the language, and those that an article is about."""
COMMON = 8
"""Of the words of a sentence, those that any text could hold; the others are the article's own."""
CATEGORIES, QUARTERS = 15, 4
"""As in the published edition: 15 categories, articles created within a year."""
EMPTY, UNCITED = 0.002, 0.02
"""Shares of the reports: empty ones, and those without a citation."""
COVERED, HELD = 0.1, 0.3
"""Shares of the claims: those that repeat a fact, and those that a page holds."""
SEED = 1
ROWS_AT_ONCE = 20_000
SENTENCE, CHARS_OF_WORD = 17, 7
"""Words of a sentence, letters of a word with the space after it."""


@dataclass(frozen=True)
class Size:
    """Of one article, report or page."""

    facts: int
    claims: int
    pages: int
    """That a report cites; each claim cites one, every seventh a second one."""
    chars_of_article: int
    chars_of_report: int
    chars_of_page: int


class Language:
    """Words, the frequent ones first, and sentences of them."""

    def __init__(self, seed: int) -> None:
        lot = Random(seed)
        letters = "etaoinshrdlucmfwypvbgk"
        self.words = ["".join(lot.choices(letters, k=lot.randint(3, 9))) for _ in range(WORDS)]
        self._frequent = list(accumulate(1 / (place + 3) for place in range(WORDS)))

    def own(self, lot: Random) -> list[str]:
        """The words that an article is about."""
        return lot.sample(self.words, OWN_WORDS)

    def sentence(self, lot: Random, own: Sequence[str]) -> str:
        """About 118 characters, every third with a number."""
        words = lot.choices(self.words, cum_weights=self._frequent, k=COMMON)
        words += lot.choices(own, k=lot.randint(7, 11))
        lot.shuffle(words)
        if lot.random() < 1 / 3:
            words.append(str(lot.randint(2, 2_000)))
        return " ".join(words).capitalize() + "."

    def text(self, lot: Random, own: Sequence[str], chars: int, holding: Sequence[str] = ()) -> str:
        """Paragraphs under headings, about `chars` long; what it is to hold stands among them."""
        n_words = max(0, chars - sum(map(len, holding))) // CHARS_OF_WORD
        common = lot.choices(self.words, cum_weights=self._frequent, k=n_words // 2)
        theirs = lot.choices(own, k=len(common))
        mixed = [word for two in zip(common, theirs, strict=True) for word in two]
        found = [
            " ".join(mixed[n : n + SENTENCE]).capitalize() + "."
            for n in range(0, len(mixed), SENTENCE)
        ]
        found += holding
        lot.shuffle(found)
        paragraphs = [" ".join(found[n : n + 6]) for n in range(0, len(found), 6)]
        return "\n\n".join(
            f"## {paragraph[:12].strip()}\n\n{paragraph}" if n % 4 == 3 else paragraph
            for n, paragraph in enumerate(paragraphs)
        )


@dataclass(frozen=True)
class Subject:
    """An article before anybody has written about it."""

    name: str
    number: int
    own: list[str]
    facts: list[str]


def generate(path: Path, n_articles: int, size: Size) -> None:
    """Write a warehouse with an edition: its articles, then a report on each."""
    language = Language(SEED)
    with open_warehouse(path) as warehouse:
        warehouse.write(
            Change(Edition, [Edition(edition=EDITION, source="wikipedia")]),
            Change(Agent, [Agent(edition=EDITION, agent=AGENT, name=AGENT)]),
        )
        for describe in (_article, _report):
            subjects = (_subject(n, language, size) for n in range(n_articles))
            _write(warehouse, (row for one in subjects for row in describe(one, language, size)))


def _write(warehouse: Warehouse, rows: Iterator[Row]) -> None:
    waiting: dict[type[Row], list[Row]] = {}
    for row in rows:
        waiting.setdefault(type(row), []).append(row)
        if sum(map(len, waiting.values())) >= ROWS_AT_ONCE:
            warehouse.write(*(Change(m, r, appending=True) for m, r in waiting.items()))
            waiting = {}
    warehouse.write(*(Change(m, r, appending=True) for m, r in waiting.items()))


def _subject(number: int, language: Language, size: Size) -> Subject:
    lot = Random(f"{SEED} {number}")
    own = language.own(lot)
    facts = [language.sentence(lot, own) for _ in range(size.facts)]
    # The first letters differ, as those of titles do: column statistics know eight of them.
    return Subject(f"{own[0].capitalize()}_{own[1]}_{number:05}", number, own, facts)


def _article(subject: Subject, language: Language, size: Size) -> Iterator[Row]:
    name = subject.name
    lot = Random(f"{SEED} {subject.number} article")
    text = language.text(lot, subject.own, size.chars_of_article, subject.facts)
    created = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=lot.randrange(91 * QUARTERS))
    yield Article(
        edition=EDITION, article=name, title=name.replace("_", " "), text=text,
        url=f"https://en.wikipedia.org/wiki/{name}", text_sha=content_sha(text),
        created_at=created, category=f"Category {lot.randrange(CATEGORIES):02}",
        views=lot.randrange(100_000), bytes=len(text), external_links=lot.randrange(100),
    )  # fmt: skip
    yield Assignment(edition=EDITION, assignment=name, article=name)
    for n, fact in enumerate(subject.facts):
        yield Fact(edition=EDITION, article=name, number=n, text=fact, source="published",
                   section=f"Part {n // 20}", position=text.find(fact))  # fmt: skip
    yield _extraction("", name, content_sha(text), len(subject.facts), 0)


def _report(subject: Subject, language: Language, size: Size) -> Iterator[Row]:
    lot = Random(f"{SEED} {AGENT} {subject.number}")
    key = {"edition": EDITION, "agent": AGENT, "assignment": subject.name}
    if lot.random() < EMPTY:
        yield Report(**key, text="", text_sha=content_sha(""), status="empty",
                     source_path="generated")  # fmt: skip
        return
    claims = _claims(subject, language, size.claims, lot)
    text = language.text(lot, subject.own, size.chars_of_report, claims)
    yield Report(**key, text=text, text_sha=content_sha(text), source_path="generated")
    addresses = [f"https://example.com/{AGENT}/{subject.number}/{n}" for n in range(size.pages)]
    pairs = [] if lot.random() < UNCITED else list(_pairs(len(claims), size.pages))
    for n, claim in enumerate(claims):
        yield Claim(**key, number=n, text=claim, source="published", position=text.find(claim))
    for n, page in pairs:
        url = addresses[page]
        yield Citation(**key, number=n, url=url, raw_url=url, marker=f"[{page}]", kind="published")
    for page in range(size.pages if pairs else 0):
        cited = [claims[n] for n, of_page in pairs if of_page == page]
        held = [claim for claim in cited if lot.random() < HELD]
        said = language.text(lot, subject.own, size.chars_of_page, held)
        yield Page(edition=EDITION, url=addresses[page], status="ok", text=said,
                   title=f"Page {page}", text_sha=content_sha(said), source="direct")  # fmt: skip
    yield _extraction(AGENT, subject.name, content_sha(text), len(claims), len(pairs))


def _claims(subject: Subject, language: Language, n_claims: int, lot: Random) -> list[str]:
    """Sentences; some of them repeat a fact, a tenth of those with another number."""
    found = []
    for _ in range(n_claims):
        if lot.random() >= COVERED:
            found.append(language.sentence(lot, subject.own))
            continue
        # No two claims say the same word for word: they would be one question, and one call.
        said = [
            *lot.choice(subject.facts).removesuffix(".").split()[:-1],
            lot.choice(language.words),
        ]
        if lot.random() < 0.1:
            said.append(str(lot.randint(3_000, 9_000)))
        found.append(" ".join(said) + ".")
    return found


def _pairs(n_claims: int, n_pages: int) -> Iterator[tuple[int, int]]:
    """(claim, page)."""
    for claim in range(n_claims):
        yield claim, claim % n_pages
        if claim % 7 == 6 and n_pages > 1:
            yield claim, (claim + 1) % n_pages


def _extraction(agent: str, name: str, sha: str, n_items: int, n_pairs: int) -> Extraction:
    return Extraction(edition=EDITION, agent=agent, assignment=name, source="published",
                      extractor_version="generated", input_sha=sha,
                      output_sha=content_sha(agent, name), n_items=n_items,
                      n_pairs=n_pairs)  # fmt: skip
