"""Finding pages in an index: by words, by meaning, or by both; the same order every time."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import anyio.to_thread

from tasks.base import Frozen
from tasks.configuration.sandbox import Ranking, SandboxSettings
from tasks.sandbox.catalogue import Allowed, Catalogue
from tasks.sandbox.embedding import embedded
from tasks.sandbox.errors import SandboxError
from tasks.sandbox.lance import PAGES, PASSAGES, connected, read_current, words

RANK_CONSTANT = 60
"""Of reciprocal rank fusion, as in Cormack, Clarke and Büttcher 2009."""


class Hit(Frozen):
    """A page that one ranking found, by its best passage."""

    url: str
    score: float
    passage: int
    """The passage's row."""


class Passage(NamedTuple):
    """A passage that a ranking found."""

    url: str
    """Its page."""
    number: int
    """Within the page."""
    score: float
    row: int


class Found(Frozen):
    """A page that a search gives."""

    rank: int
    """From 1."""
    url: str
    score: float
    """BM25 of the best passage; its likeness (cosine); or the sum of reciprocal ranks."""
    title: str
    snippet: str
    """The passage that was found."""
    language: str | None
    day: date | None
    text: str
    """Of the whole page; empty where it was not asked for."""


class Document(Frozen):
    """A page that is fetched."""

    url: str
    title: str
    text: str
    language: str | None
    day: date | None
    final_url: str | None


Ask = Callable[[int], Awaitable[list[Passage]]]
"""The best n passages, best first."""


class SearchIndex:
    """An index that is open; a later build does not change what it says."""

    def __init__(
        self, pages: Any, passages: Any, catalogue: Catalogue, settings: SandboxSettings
    ) -> None:
        self._pages = pages
        self._passages = passages
        self._settings = settings
        self.catalogue = catalogue

    async def search(
        self,
        query: str,
        k: int,
        allowed: Allowed,
        *,
        texts: bool = False,
        ranking: Ranking | None = None,
    ) -> list[Found]:
        """The best pages, best first, at most k; ties go to the address that comes first.

        texts: with the whole pages.
        """
        hits = await self.ranked(query, k, allowed, ranking=ranking)
        columns = ["url", "title", "language", "day", *(["text"] if texts else [])]
        rows = self.catalogue.rows
        pages = await _taken(self._pages, [rows[hit.url] for hit in hits], columns)
        said = await _taken(self._passages, [hit.passage for hit in hits], ["said"])
        return [
            Found(
                rank=rank,
                url=hit.url,
                score=round(hit.score, 6),
                title=page["title"],
                snippet=passage["said"].partition("\n")[2],
                language=page["language"],
                day=page["day"],
                text=page.get("text", ""),
            )
            for rank, hit in enumerate(hits, start=1)
            for page, passage in [(pages[rows[hit.url]], said[hit.passage])]
        ]

    async def ranked(
        self, query: str, k: int, allowed: Allowed, *, ranking: Ranking | None = None
    ) -> list[Hit]:
        """As `search`, without reading the pages."""
        where = self.catalogue.condition(allowed)
        ranking = ranking or self._settings.ranking
        if not self.catalogue.rows or not query.strip():
            return []
        lists = []
        if ranking != "dense":
            lists.append(await self._best(self._by_words(query, where), k))
        if ranking != "bm25":
            vector = (await anyio.to_thread.run_sync(embedded, (query,)))[0]
            lists.append(await self._best(self._by_meaning(vector, where), k))
        return (lists[0] if len(lists) == 1 else _fused(lists))[:k]

    async def document(self, url: str, allowed: Allowed) -> Document:
        """A page, by its address or the one that it redirects to.

        Raises:
            NotServed: it is not in the archive, or may not be read.
        """
        key = self.catalogue.served(url, allowed)
        row = self.catalogue.rows[key]
        columns = ["url", "title", "text", "language", "day", "final_url"]
        return Document(**(await _taken(self._pages, [row], columns))[row])

    def _by_words(self, query: str, where: str | None) -> Ask:
        async def ask(n: int) -> list[Passage]:
            asked = self._passages.query().nearest_to_text(words(query))
            return await _passages(asked, "_score", where, n)

        return ask

    def _by_meaning(self, vector: Any, where: str | None) -> Ask:
        async def ask(n: int) -> list[Passage]:
            asked = self._passages.query().nearest_to(vector).distance_type("dot").ef(2 * n)
            found = await _passages(asked, "_distance", where, n)
            return [one._replace(score=1 - one.score) for one in found]  # it was the distance

        return ask

    async def _best(self, ask: Ask, k: int) -> list[Hit]:
        """The pages of the best passages: at least k, where there are as many. A passage whose page
        is not there, as a build that was killed may have left, does not count.

        Of passages that are as good as the last one others may be missing, so these do not count;
        if too few are left, more are looked at.
        """
        n = min(self._settings.depth * k, self._settings.most_depth)
        while True:
            found = await ask(n)
            whole = len(found) < n or n >= self._settings.most_depth
            sure = found if whole else [one for one in found if one.score > found[-1].score]
            pages = _of_pages([one for one in sure if one.url in self.catalogue.rows])
            if whole or len(pages) >= k:
                return pages
            n = min(4 * n, self._settings.most_depth)


async def open_index(folder: Path, settings: SandboxSettings) -> SearchIndex:
    """The index that was last built in a folder.

    Raises:
        SandboxError: there is none, or parts of it are gone.
    """
    current = read_current(folder)
    if current is None:
        raise SandboxError(f"{folder} holds no index. Build it with `evergreen sandbox`.")
    database = await connected(folder)
    try:
        pages = await database.open_table(PAGES)
        passages = await database.open_table(PASSAGES)
        await pages.checkout(current.pages_version)
        await passages.checkout(current.passages_version)
        catalogue = Catalogue(
            await pages.query()
            .select(["url", "final_url", "day", "encyclopedia", "copies"])
            .with_row_id()
            .to_arrow(),
            keep_undated=settings.undated == "keep",
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise SandboxError(
            f"{folder}: the index cannot be read ({error}). Delete the folder; it is made again."
        ) from error
    return SearchIndex(pages, passages, catalogue, settings)


async def _passages(asked: Any, score: str, where: str | None, n: int) -> list[Passage]:
    if where:
        asked = asked.where(where)
    found = await asked.select(["url", "number", score]).with_row_id().limit(n).to_arrow()
    columns = (found[name].to_pylist() for name in ("url", "number", score, "_rowid"))
    return [Passage(*values) for values in zip(*columns, strict=True)]


async def _taken(table: Any, rows: list[int], columns: list[str]) -> dict[int, dict[str, Any]]:
    """The named rows, by row."""
    if not rows:
        return {}
    found = await table.take_row_ids(rows).select(columns).with_row_id().to_list()
    return {row.pop("_rowid"): row for row in found}


def _of_pages(found: Sequence[Passage]) -> list[Hit]:
    """Each page by its best passage, the best page first; of equal passages the page's first."""
    best: dict[str, Hit] = {}
    for one in sorted(found, key=lambda one: (-one.score, one.url, one.number)):
        best.setdefault(one.url, Hit(url=one.url, score=one.score, passage=one.row))
    return list(best.values())


def _fused(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    scores: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    for hits_of in lists:
        for rank, hit in enumerate(hits_of, start=1):
            scores[hit.url] = scores.get(hit.url, 0.0) + 1 / (RANK_CONSTANT + rank)
            hits.setdefault(hit.url, hit)
    ordered = sorted(scores, key=lambda url: (-scores[url], url))
    return [hits[url].model_copy(update={"score": scores[url]}) for url in ordered]
