"""One agent under two ways to search: both columns, and whether they agree on what is hard.

    python -m tests.rigs.sandbox_backends --snapshot EXPORTS/EDITION/latest --work DIR

The baseline writes the same articles over its own index of pages, and over a sandbox of the
same pages by HTTP. Printed are the offline judge's figures of both, and per figure the rank
correlation (Spearman) over the articles. The judge is lexical: no LLM is used.
"""

import argparse
import asyncio
import os
import re
import shutil
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from scipy.stats import spearmanr

from tasks.agents.command.client import CommandClient
from tasks.agents.kinds import AgentFolders
from tasks.configuration.agents import CommandAsk, get_agent_entry
from tasks.configuration.inversion import load_inversion
from tasks.configuration.sandbox import Ranking, load_sandbox
from tasks.configuration.web import load_web
from tasks.sandbox.access import AccessRules, Sandbox
from tasks.sandbox.program_archive import make_program_archive
from tasks.sandbox.search import open_index
from tasks.sandbox.service import create_app
from tasks.sandbox.source import PageSource, build_index
from tests.rigs.baseline import AGENT, covered, write_all
from tests.servers.applications import serving_application

CITED = re.compile(r"\[(\d+)\]")


@contextmanager
def sandbox(snapshot: Path, work: Path, ranking: Ranking) -> Iterator[str]:
    """A sandbox over an edition's pages; its address."""
    settings = load_sandbox().model_copy(update={"ranking": ranking, "per_minute": 100_000})
    source = PageSource(edition="edition", snapshot=snapshot)

    async def calls() -> Sandbox:
        folder, _ = await build_index(source, work, settings, load_inversion(), load_web().reading)
        index = await open_index(folder, settings)
        rules = AccessRules(
            name="edition", ban=source.read_ban(), assignments=source.read_assignments()
        )
        return Sandbox(index, rules, settings)

    with serving_application(lambda: _application(calls)) as address:
        yield address


async def _application(calls: Any) -> Any:
    return create_app(await calls())


async def figures(
    snapshot: Path, client: CommandClient, articles: list[dict[str, Any]]
) -> dict[str, dict[str, float]]:
    """Of each article that was written: its figures by name."""
    facts = pl.read_parquet(snapshot / "facts.parquet").sort("article", "number")
    found = {}
    for article, (answer, _) in (await write_all(client, articles, 2)).items():
        if answer.outcome != "report":
            print(f"{article}: {answer.error}")
            continue
        body = answer.text.partition("\n## References")[0]
        own = facts.filter(pl.col("article") == article)["text"].to_list()
        soft, counted = await covered(own, answer.text)
        found[article] = {
            "facts covered, soft": soft,
            "facts covered, counted": counted,
            "words": float(len(body.split())),
            "pages cited": float(len(set(CITED.findall(body)))),
        }
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--snapshot", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--articles", type=int, default=30)
    parser.add_argument("--ranking", choices=("bm25", "dense", "fused"), default="bm25")
    options = parser.parse_args()
    articles = pl.read_parquet(options.snapshot / "articles.parquet").sort("article")
    rows = articles.sample(min(options.articles, articles.height), seed=1).sort("article")
    ask = get_agent_entry(AGENT).ask
    assert isinstance(ask, CommandAsk)
    over_http = ask.model_copy(update={"archive": False, "environment": ("EVERGREEN_SANDBOX",)})
    archive = make_program_archive(options.snapshot, options.work / "archives", load_inversion())
    columns = {}
    shutil.rmtree(options.work / "jobs", ignore_errors=True)
    with sandbox(options.snapshot, options.work / "indexes", options.ranking) as address:
        os.environ["EVERGREEN_SANDBOX"] = address
        for name, each in (("own index", ask), ("sandbox", over_http)):
            place = AgentFolders(options.work / "jobs" / name, archive)
            client = CommandClient(AGENT, each, place)
            columns[name] = asyncio.run(figures(options.snapshot, client, rows.rows(named=True)))
    both = sorted(columns["own index"].keys() & columns["sandbox"].keys())
    print(f"{len(both)} articles; sandbox: {options.ranking}")
    print(f"{'':>24} {'own index':>10} {'sandbox':>10} {'Spearman':>10} {'p':>8}")
    for figure in next(iter(columns["sandbox"].values())):
        one, other = ([columns[name][article][figure] for article in both] for name in columns)
        related = spearmanr(one, other)
        print(f"{figure:>24} {statistics.fmean(one):>10.3f} {statistics.fmean(other):>10.3f} "
              f"{related.statistic:>10.2f} {related.pvalue:>8.4f}")  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
