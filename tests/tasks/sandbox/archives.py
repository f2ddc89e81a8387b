"""Small archives, their indexes and their servers, for tests of the sandbox."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi import FastAPI

from tasks.configuration.sandbox import SandboxSettings
from tasks.extraction.bans import parse_bans
from tasks.sandbox.access import AccessRules, Sandbox
from tasks.sandbox.catalogue import Ban, CopyDetector
from tasks.sandbox.index import BuildResult, IndexBuilder
from tasks.sandbox.page import ServedPage, iterate_async
from tasks.sandbox.search import SearchIndex, open_index
from tasks.sandbox.service import LOOPBACK, create_app
from tasks.sandbox.tokens import AskedStore
from tasks.serving.gate import OwnNames
from tests.tasks.agents.archives import BREAD, KEEPERS, LIGHTHOUSE, WRECK

HOSTS = ("wikipedia.org", "wikiwand.com")
ARTICLE = (
    "Harrow Point Lighthouse is a lighthouse on Lake Ettrick. The architect of the northern "
    "harbours, Oskar Lindqvist, designed it after the loss of the Calliope, and Maren Dahl kept it "
    "until the light was made automatic in 1961, when the last ships left the lake for good."
)
TOWERS, WRECKS = "https://towers.example/harrow", "https://wrecks.example/calliope"
KEEPER, BAKERY = "https://keepers.example/dahl", "https://bread.example/tolmen"
WIKI = "https://en.wikipedia.org/wiki/Harrow_Point_Lighthouse"
COPY, MOVED = "https://copy.example/harrow", "https://short.example/h"


def page(url: str, text: str, title: str = "", **more: Any) -> ServedPage:
    return ServedPage(url=url, title=title, text=text, **more)


FETCHED = datetime(2025, 11, 2, 8, tzinfo=UTC)
PAGES = (
    page(TOWERS, LIGHTHOUSE, "Harrow Point Lighthouse | Towers", published_on=date(2025, 3, 1)),
    page(WRECKS, WRECK, "The wreck of the Calliope [1872]", fetched_at=FETCHED),
    page(KEEPER, KEEPERS, published_on=date(2025, 10, 1), language="en"),
    page(BAKERY, BREAD, "Bread of Tolmen"),
    page(WIKI, f"{ARTICLE} Encyclopedias call it magnificent.", "Harrow Point Lighthouse"),
    page(COPY, f"Welcome to our blog. {ARTICLE}", "A lighthouse we love"),
    page(MOVED, "An old address of the lighthouse at Harrow Point.", final_url=WIKI),
)


ALL = "lighthouse bread Calliope Dahl"
"""Words of every page."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an index that several tests open."""
    return tmp_path_factory.mktemp("index") / "i"


def make_ban(articles: Sequence[str], banned: Sequence[str]) -> Ban:
    """A ban of articles, and of pages and hosts as people write them."""
    named = parse_bans(banned)
    return Ban(articles=tuple(articles), pages=named.pages, hosts=named.hosts)


def settings(**changed: Any) -> SandboxSettings:
    return SandboxSettings.model_validate(changed)


async def build(
    folder: Path, pages: Iterable[ServedPage] = PAGES, how: SandboxSettings | None = None
) -> BuildResult:
    copies = CopyDetector({"harrow": ARTICLE}, 8, 0.3)
    return await IndexBuilder(folder, how or settings(), copies, HOSTS).build(
        iterate_async(pages), lambda: None
    )


async def opened(
    folder: Path, pages: Iterable[ServedPage] = PAGES, how: SandboxSettings | None = None
) -> SearchIndex:
    await build(folder, pages, how)
    return await open_index(folder, how or settings())


def served_from(
    folder: Path,
    served: AccessRules,
    how: SandboxSettings | None = None,
    log: Callable[[str], None] | None = None,
    pages: Sequence[ServedPage] = PAGES,
    names: OwnNames = LOOPBACK,
) -> Callable[[], Awaitable[FastAPI]]:
    """What makes the application over an archive, for `serving_application`."""

    async def make() -> FastAPI:
        index = await opened(folder, pages, how)
        store = AskedStore(folder.parent)
        return create_app(Sandbox(index, served, how or settings(), log, store), names)

    return make


def write_snapshot(
    folder: Path, pages: Sequence[ServedPage] = PAGES, banned: str = "bread.example"
) -> Path:
    """The files of an exported edition that the sandbox reads. banned: for its question `bread`."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [one.model_dump() | {"status": "ok"} for one in pages]
    lost = {"url": "https://gone.example/", "status": "unfetchable", "text": None, "title": None}
    pq.write_table(_table([*rows, dict.fromkeys(rows[0]) | lost]), folder / "pages.parquet")
    article = {"article": "harrow", "url": WIKI, "title": "Harrow Point Lighthouse",
               "text": ARTICLE}  # fmt: skip
    pq.write_table(_table([article]), folder / "articles.parquet")
    assignments = [{"assignment": "harrow", "article": "harrow"},
                   {"assignment": "bread", "article": ""}]  # fmt: skip
    pq.write_table(_table(assignments), folder / "assignments.parquet")
    truth = {"assignment": "bread", "settings": json.dumps({"banned": [banned]})}
    pq.write_table(_table([truth]), folder / "ground_truths.parquet")
    citation = {"agent": "a", "url": "https://gone.example/"}
    pq.write_table(_table([citation]), folder / "citations.parquet")
    return folder


def write_seeds(snapshot: Path, given: Mapping[str, str], cited: Mapping[str, str]) -> None:
    """The pages that agents are given, and a page that each agent cites: agent → URL."""
    for name, pages in (("seed_pages", given), ("citations", cited)):
        rows = [{"agent": agent, "url": url} for agent, url in pages.items()]
        pq.write_table(_table(rows), snapshot / f"{name}.parquet")


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows)
