"""How well the sandbox finds a page that is known to be there; print figures.

    python -m tests.rigs.sandbox_quality --snapshot EXPORTS/EDITION/latest --work DIR

The queries are claims of the edition's agents, what is to be found a page that each cites: so a
page may be right for a query and count as wrong. `--dense` adds the two rankings that know vectors
and the approximate index for these; embedding takes a core some 0.1 s a passage, so `--pages`
takes a sample.
"""

import argparse
import asyncio
import math
import random
import shutil
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tasks.configuration.inversion import load_inversion
from tasks.configuration.sandbox import Ranking, SandboxSettings, load_sandbox
from tasks.sandbox.catalogue import CopyDetector, PageFilter
from tasks.sandbox.index import IndexBuilder
from tasks.sandbox.lance import PASSAGES, connect, embed, read_index_version
from tasks.sandbox.page import iterate_async
from tasks.sandbox.search import open_index
from tasks.sandbox.snapshot import read_pages

SEED = 20261121
EFS = (10, 20, 50, 100, 200, 500)
"""Depths of a search in the approximate index: candidates that it keeps."""


def pairs(snapshot: Path, urls: set[str], n: int) -> list[tuple[str, str]]:
    """(claim, a page that it cites), a sample; each claim's text once a page."""
    key = ["edition", "agent", "assignment", "number"]
    claims = pl.read_parquet(snapshot / "claims.parquet", columns=[*key, "text"])
    cited = pl.read_parquet(snapshot / "citations.parquet", columns=[*key, "url"])
    found = claims.join(cited, on=key).filter(pl.col("url").is_in(list(urls)))
    listed = sorted(set(found.select("text", "url").iter_rows()))
    return random.Random(SEED).sample(listed, min(n, len(listed)))


def figures(ranks: Sequence[int | None]) -> dict[str, float]:
    """Of the ranks at which the wanted pages were found; None: not among the first hundred."""
    found = [rank or math.inf for rank in ranks]
    return {
        "recall@10": statistics.fmean(rank <= 10 for rank in found),
        "recall@100": statistics.fmean(rank <= 100 for rank in found),
        "MRR@10": statistics.fmean(1 / rank if rank <= 10 else 0.0 for rank in found),
        "nDCG@10": statistics.fmean(
            1 / math.log2(rank + 1) if rank <= 10 else 0.0 for rank in found
        ),
    }


async def ranked(
    folder: Path, settings: SandboxSettings, wanted: list[tuple[str, str]], ranking: Ranking
) -> tuple[list[int | None], float]:
    """At which rank each page was found, and how long a query took in the middle (seconds)."""
    index = await open_index(folder, settings)
    ranks, times = [], []
    for claim, url in wanted:
        began = time.perf_counter()
        hits = await index.rank(claim[: settings.most_query_characters], 100, PageFilter(),
                                  ranking=ranking)  # fmt: skip
        times.append(time.perf_counter() - began)
        ranks.append(next((rank for rank, hit in enumerate(hits, 1) if hit.url == url), None))
    return ranks, statistics.median(times)


async def approximate(folder: Path, work: Path, queries: list[str]) -> None:
    """Recall of the approximate index against the exact search, at several depths."""
    from lancedb.index import HnswSq

    copy = work / "approximate"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    current = read_index_version(copy)
    assert current is not None
    table: Any = await (await connect(copy)).open_table(PASSAGES)
    await table.checkout(current.passages_version)
    await table.restore()
    began = time.monotonic()
    await table.create_index("vector", config=HnswSq(distance_type="dot"))
    print(
        f"\napproximate index of {current.n_passages:,} passages: {time.monotonic() - began:.1f} s"
    )
    vectors = [embed((query,))[0] for query in queries]

    async def rows(vector: Any, n: int, ef: int | None) -> tuple[set[int], float]:
        asked = table.query().nearest_to(vector).distance_type("dot").limit(n)
        asked = asked.bypass_vector_index() if ef is None else asked.ef(ef)
        began = time.perf_counter()
        found = await asked.select(["number", "_distance"]).with_row_id().to_arrow()
        return set(found["_rowid"].to_pylist()), time.perf_counter() - began

    print(f"{'depth':>8} {'recall@10':>10} {'recall@50':>10} {'ms':>8}")
    exact = {n: [await rows(vector, n, None) for vector in vectors] for n in (10, 50)}
    took = statistics.median(seconds for _, seconds in exact[50])
    print(f"{'exact':>8} {1:>10.1%} {1:>10.1%} {took * 1000:>8.1f}")
    for ef in EFS:
        found = {n: [await rows(v, n, max(ef, n)) for v in vectors] for n in (10, 50) if ef >= n}
        shares = {
            n: statistics.fmean(
                len(one & whole) / n for (one, _), (whole, _) in zip(got, exact[n], strict=True)
            )
            for n, got in found.items()
        }
        took = statistics.median(seconds for got in found.values() for _, seconds in got)
        cells = [f"{shares[n]:>10.1%}" if n in shares else f"{'–':>10}" for n in (10, 50)]
        print(f"{ef:>8} {' '.join(cells)} {took * 1000:>8.1f}")


async def measure(options: argparse.Namespace) -> None:
    rankings: tuple[Ranking, ...] = ("bm25", "dense", "fused") if options.dense else ("bm25",)
    settings = load_sandbox().model_copy(update={"ranking": rankings[-1]})
    pages = list(read_pages(options.snapshot))
    random.Random(SEED).shuffle(pages)
    pages = pages[: options.pages or len(pages)]

    def on_progress(step: str, n_pages: int) -> None:
        print(f"\r{step}: {n_pages:,} of {len(pages):,}  ", end="", flush=True)

    hosts = load_inversion().mirror_hosts
    folder = options.work / ("dense" if options.dense else "words")
    builder = IndexBuilder(folder, settings, CopyDetector({}, 8, 1.0), hosts, on_progress)
    built = (await builder.build(iterate_async(pages), lambda: None)).version
    wanted = pairs(options.snapshot, {page.url for page in pages}, options.pairs)
    print(f"\r{built.n_pages:,} pages, {built.n_passages:,} passages; {len(wanted):,} claims")
    names = list(figures([1]))
    print(f"{'':>8} {' '.join(f'{name:>10}' for name in names)} {'ms':>8}")
    for ranking in rankings:
        ranks, took = await ranked(folder, settings, wanted, ranking)
        shown = " ".join(f"{value:>10.1%}" for value in figures(ranks).values())
        print(f"{ranking:>8} {shown} {took * 1000:>8.1f}", flush=True)
    if options.dense:
        await approximate(folder, options.work, [claim for claim, _ in wanted[:200]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--snapshot", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="a folder for the index; kept")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--pages", type=int, help="a sample of so many; default: all")
    parser.add_argument("--dense", action="store_true")
    asyncio.run(measure(parser.parse_args()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
