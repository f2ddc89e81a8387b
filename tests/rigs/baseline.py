"""Ask the baseline for every article of a snapshot, as an agent of kind `command`; print figures.

    python tests/rigs/baseline.py --snapshot EXPORTS/EDITION/latest --work DIR

starts a program per article (two at a time), as `evergreen ask` does, keeps the reports in
`DIR/md_data/<article>.md` and prints how long the index and the reports took, their memory, and
how much of the reference's facts the offline judge finds in them. The agent sees only the
snapshot's pages that no assignment bans; facts are read here, to measure.
"""

import argparse
import asyncio
import shutil
import statistics
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from tasks.agents.agent import JobAnswer, JobRequest
from tasks.agents.command.answer import ProgramResult, read
from tasks.agents.command.client import CommandClient
from tasks.agents.command.settings import CommandAsk
from tasks.agents.kind import AgentFolders
from tasks.agents.registry import get_agent_entry
from tasks.configuration.inversion import load_inversion
from tasks.judges.decisions import CONSISTENT
from tasks.judges.offline.judge import OfflineJudge
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.questions.verification import VerifyClaims
from tasks.judges.text import split_sentences, strip_markdown
from tasks.sandbox.program_archive import make_program_archive

AGENT = "lexical_baseline"


async def write_all(
    client: CommandClient, articles: Iterable[dict[str, Any]], at_once: int
) -> dict[str, tuple[JobAnswer, ProgramResult]]:
    """One report per article; what came of each."""
    turn = asyncio.Semaphore(at_once)

    async def one(article: dict[str, Any]) -> tuple[JobAnswer, ProgramResult]:
        async with turn:
            job = str(article["article"])
            await client.start(
                JobRequest(job=job, edition=article["edition"], assignment=job,
                         title=article["title"], kind="write_article",
                         prompt=f"Write an article about {article['title']}.",
                         banned=(article["url"],))
            )  # fmt: skip
            seen = await client.poll(job)
            while not seen.ended:
                await asyncio.sleep(0.1)
                seen = await client.poll(job)
            raw = seen.raw or ""
            return read(raw), ProgramResult.model_validate_json(raw)

    listed = list(articles)
    done = await asyncio.gather(*(one(article) for article in listed))
    return {str(a["article"]): result for a, result in zip(listed, done, strict=True)}


async def covered(facts: list[str], report: str) -> tuple[float, float]:
    """Soft and counted share of the facts, over the report's sentences before its references."""
    pool = split_sentences(strip_markdown(report.partition("\n## References")[0]))
    if not pool or not facts:
        return 0.0, 0.0
    answers = await OfflineJudge().decide(
        VerifyClaims(claims=tuple(facts), pool=pool, retrieved=Bm25(pool).top_many(facts, 10))
    )
    soft = statistics.fmean(answer.score or 0.0 for answer in answers)
    return soft, statistics.fmean(answer.label == CONSISTENT for answer in answers)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--snapshot", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="an empty folder for this")
    parser.add_argument("--articles", type=int, help="the first so many; default: all")
    parser.add_argument("--at-once", type=int, default=2)
    options = parser.parse_args()
    articles = pl.read_parquet(options.snapshot / "articles.parquet").sort("article")
    facts = pl.read_parquet(options.snapshot / "facts.parquet").sort("article", "number")
    rows = articles.head(options.articles or articles.height).rows(named=True)
    ask = get_agent_entry(AGENT).ask
    assert isinstance(ask, CommandAsk)
    archive = make_program_archive(options.snapshot, options.work / "archives", load_inversion())
    client = CommandClient(AGENT, ask, AgentFolders(options.work / "jobs", archive))

    began = time.monotonic()
    first = asyncio.run(write_all(client, rows[:1], 1))
    built = time.monotonic() - began
    began = time.monotonic()
    done = first | asyncio.run(write_all(client, rows[1:], options.at_once))
    took = time.monotonic() - began

    folder = options.work / "md_data"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shares, words = [], []
    for article, (answer, _) in done.items():
        if answer.outcome == "report":
            (folder / f"{article}.md").write_text(answer.text, "utf-8")
            words.append(len(answer.text.partition("\n## References")[0].split()))
            own = facts.filter(pl.col("article") == article)["text"].to_list()
            shares.append(asyncio.run(covered(own, answer.text)))
        else:
            print(f"{article}: {answer.error}")
    later = [ended for article, (_, ended) in done.items() if article not in first]
    of_one = statistics.median(each.exit.seconds or 0 for each in later)
    with_index, without = (max(each.exit.peak_memory_mb or 0 for each in found)
                           for found in ([ended for _, ended in done.values()], later))  # fmt: skip
    soft, counted = (statistics.fmean(column) for column in zip(*shares, strict=True))
    print(f"first report, with the index: {built:.1f} s")
    print(f"the other {len(later)}: {took:.1f} s, {options.at_once} at a time; one: {of_one:.1f} s")
    print(f"peak memory: {with_index:.0f} MB with the index, {without:.0f} MB without")
    print(f"{len(words)} of {len(done)} written, {statistics.median(words):.0f} words (median)")
    print(f"of their articles' facts, soft {soft:.1%}, counted {counted:.1%} (mean over articles)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
