"""An edition whose article has facts and references, and what drafts from it."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tasks.drafts import NoDraft, draft_article, find_pending_drafts
from tasks.warehouse.pages import Page, PageStatus
from tasks.warehouse.rows import Article, Assignment, Edition, Fact, content_sha
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.wiki_editions import ArticleLink
from tasks.warehouse.writer import Change
from tests.servers.fences import Parsed
from tests.servers.oracle import Answer, Oracle
from tests.servers.oracle_drafting import drafted
from tests.tasks.answering import JUDGE
from tests.tasks.runs import open_judge

TITLE = "Red Lighthouse"
FACTS = tuple(
    f"Keeper Rosalind Marlow{n:02d} polished the {word} lantern of granite in {1800 + n}."
    for n, word in enumerate(
        ("northern", "southern", "eastern", "western", "central", "upper", "lower", "inner",
         "outer", "second", "famous", "wooden", "copper", "silver", "golden", "broken", "narrow",
         "hidden", "marble", "yellow")
    )
)  # fmt: skip
LINKS: tuple[tuple[str, PageStatus | None], ...] = (
    ("https://dead.example.org/a", "unfetchable"),
    ("https://unknown.example.org/b", None),
    ("https://alive.example.org/c", "ok"),
)


class Model(Oracle):
    """The oracle; cannot answer steps that hold one of the `broken` blocks, and knows by heart."""

    def __init__(self, *broken: str, memory: Sequence[str] = ()) -> None:
        super().__init__()
        self.broken = {*broken}
        self.memory = memory

    def decide(self, prompt: Parsed, schema: dict[str, Any] | None) -> Answer:
        if self.broken & {block.name for block in prompt.blocks}:
            return {"nothing": "of use"}
        answer = drafted(prompt, self.memory)
        return super().decide(prompt, schema) if answer is None else answer


@contextmanager
def edition(
    folder: Path, facts: Sequence[str] = FACTS, assignment: str = "Red_Lighthouse"
) -> Iterator[Warehouse]:
    key = {"edition": "e", "article": "Red_Lighthouse"}
    text = "\n".join(facts)
    with open_warehouse(folder / "warehouse.duckdb") as warehouse:
        warehouse.write(
            Change(Edition, [Edition(edition="e", source="wikipedia")]),
            Change(Article, [Article(**key, title=TITLE, url="https://en.wikipedia.org/wiki/R",
                                     text=text, text_sha=content_sha(text), category="Geography")]),
            Change(Assignment, [Assignment(**key, assignment=assignment)]),
            Change(Fact, [Fact(**key, number=n, text=fact, source="offline")
                          for n, fact in enumerate(facts)]),
            Change(ArticleLink, [ArticleLink(**key, number=n, url=url, raw_url=url)
                                 for n, (url, _) in enumerate(LINKS)]),
            Change(Page, [Page(edition="e", url=url, status=status, text="A page.")
                          for url, status in LINKS if status]),
        )  # fmt: skip
        yield warehouse


def work(warehouse: Warehouse, folder: Path) -> list[str]:
    """Draft what is pending; what is said of what stays."""

    async def all_of() -> list[str]:
        said = []
        async with open_judge(warehouse, JUDGE) as session:
            for pending in find_pending_drafts(warehouse, "e", folder):
                try:
                    await draft_article(warehouse, session, pending)
                except NoDraft as error:
                    said.append(str(error))
        return said

    return asyncio.run(all_of())
