"""An edition of any size, made of seeded words: what the load benchmarks run on."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

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
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change

EDITION, AGENT = "generated", "writer"
FACTS, CLAIMS, PAGES = 149, 100, 11
"""Of one report: with the three writing calls 263 calls, as in the published edition."""
WORDS = 9_000
CHARS_OF_ARTICLE, CHARS_OF_PAGE = 30_000, 900


def generate(path: Path, n_reports: int, seed: int = 1) -> None:
    """Write a warehouse with one agent's reports on `n_reports` articles, claims and pages."""
    lot = random.Random(seed)
    words = ["".join(lot.choices("abcdefghijklmnopqrstuvwxyz", k=lot.randint(3, 10)))
             for _ in range(WORDS)]  # fmt: skip
    with open_warehouse(path) as warehouse:
        warehouse.write(
            Change(Edition, [Edition(edition=EDITION, source="generated")]),
            Change(Agent, [Agent(edition=EDITION, agent=AGENT, name=AGENT)]),
        )
        for number in range(n_reports):
            rows: dict[type[Row], list[Row]] = {}
            for row in _article(number, lot, words):
                rows.setdefault(type(row), []).append(row)
            warehouse.write(*(Change(model, of_model, appending=True)
                              for model, of_model in rows.items()))  # fmt: skip


def _article(number: int, lot: random.Random, words: Sequence[str]) -> Iterator[Row]:
    name = f"Article_{number:05}"
    own = lot.sample(words, 1_500)  # an article's own vocabulary, so that retrieval has work

    def sentence() -> str:
        return " ".join(lot.choices(own, k=lot.randint(9, 18))).capitalize() + "."

    def text(chars: int) -> str:
        found: list[str] = []
        while sum(map(len, found)) < chars:
            found.append(sentence())
        return "\n\n".join(" ".join(found[i : i + 6]) for i in range(0, len(found), 6))

    article, report = text(CHARS_OF_ARTICLE), text(CHARS_OF_ARTICLE)
    key = {"edition": EDITION, "agent": AGENT, "assignment": name}
    url = f"https://example.org/{name}"
    yield Article(edition=EDITION, article=name, title=name, url=url, text=article,
                  text_sha=content_sha(article))  # fmt: skip
    yield Assignment(edition=EDITION, assignment=name, article=name)
    yield Report(**key, text=report, text_sha=content_sha(report), source_path="generated")
    for n in range(FACTS):
        yield Fact(edition=EDITION, article=name, number=n, text=sentence(), source="published")
    for n in range(CLAIMS):
        yield Claim(**key, number=n, text=sentence(), source="published")
        page = f"https://example.com/{number}/{n % PAGES}"
        yield Citation(**key, number=n, url=page, raw_url=page, kind="published")
    for n in range(PAGES):
        page = text(CHARS_OF_PAGE)
        yield Page(edition=EDITION, url=f"https://example.com/{number}/{n}", status="ok",
                   text=page, text_sha=content_sha(page))  # fmt: skip
    yield _extraction("", name, content_sha(article), FACTS)
    yield _extraction(AGENT, name, content_sha(report), CLAIMS)


def _extraction(agent: str, name: str, input_sha: str, n_items: int) -> Extraction:
    return Extraction(edition=EDITION, agent=agent, assignment=name, source="published",
                      extractor_version="generated", input_sha=input_sha,
                      output_sha=content_sha(agent, name), n_items=n_items)  # fmt: skip
