"""Search in an index: full-text, by embeddings, or both, with a deterministic order."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio.to_thread

from tasks.configuration.sandbox import Ranking, SandboxSettings
from tasks.sandbox.catalogue import Catalogue, PageFilter
from tasks.sandbox.lance import PAGES, PASSAGES, connect, embed, match_words, read_index_version
from tasks.sandbox.page import SandboxError
from tasks.sandbox.responses import FetchedPage, SearchResult

RANK_CONSTANT = 60
"""The constant of reciprocal rank fusion, as in Cormack, Clarke and Büttcher 2009."""


class PassageHit(NamedTuple):
    """A passage found by a ranking."""

    url: str
    """The URL of its page."""
    number: int
    """Its number within the page."""
    score: float
    row: int


class SearchIndex:
    """An open index; later builds do not change its results."""

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
        page_filter: PageFilter,
        *,
        with_texts: bool = False,
    ) -> list[SearchResult]:
        """Return the k best pages, best first; ties are ordered by URL.

        with_texts: include the text of the whole pages.
        """
        hits = await self.rank(query, k, page_filter)
        columns = ["url", "title", "language", "day", *(["text"] if with_texts else [])]
        rows = self.catalogue.rows
        pages = await _read_rows(self._pages, [rows[hit.url] for hit in hits], columns)
        passages = await _read_rows(self._passages, [hit.row for hit in hits], ["said"])
        return [
            SearchResult(
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
            for page, passage in [(pages[rows[hit.url]], passages[hit.row])]
        ]

    async def rank(
        self, query: str, k: int, page_filter: PageFilter, *, ranking: Ranking | None = None
    ) -> list[PassageHit]:
        """Search like `search`, without reading the pages: return the best passage of each."""
        where = self.catalogue.sql_condition(page_filter)
        ranking = ranking or self._settings.ranking
        if not self.catalogue.rows or not query.strip():
            return []
        lists = []
        if ranking != "dense":
            words = match_words(query)
            lists.append(
                await self._find_best_pages(
                    lambda n: self._passages.query().nearest_to_text(words), "_score", where, k
                )
            )
        if ranking != "bm25":
            vector = (await anyio.to_thread.run_sync(embed, (query,)))[0]

            def find_nearest(n: int) -> Any:
                query = self._passages.query().nearest_to(vector)
                return query.distance_type("dot").ef(2 * n)

            lists.append(await self._find_best_pages(find_nearest, "_distance", where, k))
        return (lists[0] if len(lists) == 1 else _fuse(lists))[:k]

    async def get_page(self, url: str, page_filter: PageFilter) -> FetchedPage:
        """Return a page by its URL or the URL that it redirects to.

        Raises:
            NotServed: the page is not in the archive, or does not pass the filter.
        """
        key = self.catalogue.find_page(url, page_filter)
        row = self.catalogue.rows[key]
        columns = ["url", "title", "text", "language", "day", "final_url"]
        return FetchedPage(**(await _read_rows(self._pages, [row], columns))[row])

    async def _find_best_pages(
        self, make_query: Callable[[int], Any], score: str, where: str | None, k: int
    ) -> list[PassageHit]:
        """Return the best passages, one of each page: at least k, if there are as many. Passages
        without a page, which a killed build may have left, do not count.

        Passages with the score of the last one do not count, since others with that score may be
        missing; if too few are left, more passages are read.

        Args:
            make_query: makes the query for a number of passages.
            score: LanceDB's column for how well a passage matches: `_score` or `_distance`.
        """
        n = min(self._settings.depth * k, self._settings.most_depth)
        while True:
            found = await _run_query(make_query(n), score, where, n)
            complete = len(found) < n or n >= self._settings.most_depth
            sure = found if complete else [one for one in found if one.score > found[-1].score]
            pages = _group_by_page([one for one in sure if one.url in self.catalogue.rows])
            if complete or len(pages) >= k:
                return pages
            n = min(4 * n, self._settings.most_depth)


async def open_index(folder: Path, settings: SandboxSettings) -> SearchIndex:
    """Open the last finished index in a folder.

    Raises:
        SandboxError: there is none, or it cannot be read.
    """
    current = read_index_version(folder)
    if current is None:
        raise SandboxError(f"{folder} holds no index. Build it with `evergreen sandbox`.")
    database = await connect(folder)
    try:
        pages = await database.open_table(PAGES)
        passages = await database.open_table(PASSAGES)
        await pages.checkout(current.pages_version)
        await passages.checkout(current.passages_version)
        columns = ["url", "final_url", "day", "encyclopedia", "copies"]
        listed = await pages.query().select(columns).with_row_id().to_arrow()
        catalogue = Catalogue(listed.to_pylist(), keep_undated=settings.undated == "keep")
    except (OSError, ValueError, RuntimeError) as error:
        raise SandboxError(
            f"{folder}: the index cannot be read ({error}). Delete the folder; it is rebuilt."
        ) from error
    if settings.ranking != "bm25":
        await anyio.to_thread.run_sync(embed, [""])  # load the model before anybody waits for it
    return SearchIndex(pages, passages, catalogue, settings)


async def _run_query(query: Any, score: str, where: str | None, n: int) -> list[PassageHit]:
    if where:
        query = query.where(where)
    found = await query.select(["url", "number", score]).with_row_id().limit(n).to_arrow()
    columns = (found[name].to_pylist() for name in ("url", "number", score, "_rowid"))
    hits = [PassageHit(*values) for values in zip(*columns, strict=True)]
    is_distance = score == "_distance"
    return [hit._replace(score=1 - hit.score) for hit in hits] if is_distance else hits


async def _read_rows(table: Any, rows: list[int], columns: list[str]) -> dict[int, dict[str, Any]]:
    """Read rows by row id."""
    if not rows:
        return {}
    found = await table.take_row_ids(rows).select(columns).with_row_id().to_list()
    return {row.pop("_rowid"): row for row in found}


def _group_by_page(found: Sequence[PassageHit]) -> list[PassageHit]:
    """Return the best passage of each page, best first; of equal ones the page's first counts."""
    best: dict[str, PassageHit] = {}
    for one in sorted(found, key=lambda one: (-one.score, one.url, one.number)):
        best.setdefault(one.url, one)
    return list(best.values())


def _fuse(lists: Sequence[Sequence[PassageHit]]) -> list[PassageHit]:
    scores: dict[str, float] = {}
    hits: dict[str, PassageHit] = {}
    for ranking in lists:
        for rank, hit in enumerate(ranking, start=1):
            scores[hit.url] = scores.get(hit.url, 0.0) + 1 / (RANK_CONSTANT + rank)
            hits.setdefault(hit.url, hit)
    ordered = sorted(scores, key=lambda url: (-scores[url], url))
    return [hits[url]._replace(score=scores[url]) for url in ordered]
