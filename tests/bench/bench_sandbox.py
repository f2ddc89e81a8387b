"""How the sandbox does with many pages: `python -m tests.bench.bench_sandbox --snapshot DIR --work
DIR`.

The edition's own pages and as many synthetic neighbours as make 100,000: a title and some thirty
sentences of three pages each, drawn with a fixed seed. They are written as JSONL, indexed and
served by the command itself, in a process of its own. Printed are build time, size, peak memory,
and how long an answer takes (HTTP, plain JSON) by clients, k and depth. Nothing is asserted.
"""

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import polars as pl

from tasks.configuration.folders import PACKAGED
from tasks.judges.text import collapse_whitespace
from tasks.sandbox.snapshot import read_pages

ROOT = Path(__file__).resolve().parents[2]
SEED = 20261121
SENTENCES = 30
"""Of a neighbour, about 600 words."""
COMMAND = [sys.executable, "-m", "flows", "sandbox"]
QUERIES = 200
DEPTHS = (1, 5, 20)
CLIENTS = (1, 16)
KS = (5, 10, 100)
_END = re.compile(r"(?<=[.!?])\s+")


def write_corpus(snapshot: Path, file: Path, n_pages: int) -> None:
    """The edition's pages, and neighbours of them up to `n_pages`."""
    real = list(read_pages(snapshot))
    sentences = [_END.split(page.text) for page in real]
    able = [n for n, found in enumerate(sentences) if len(found) >= SENTENCES]
    chance = random.Random(SEED)
    with file.open("w", encoding="utf-8") as out:
        for page in real[:n_pages]:
            out.write(_line(page.url, page.title, page.text))
        for number in range(n_pages - len(real)):
            pages = chance.sample(able, 3)
            drawn = [chance.choice(sentences[chance.choice(pages)]) for _ in range(SENTENCES)]
            url = f"https://neighbour-{number % 997}.example/{number}"
            out.write(_line(url, real[pages[0]].title, " ".join(map(collapse_whitespace, drawn))))


def _line(url: str, title: str, text: str) -> str:
    return json.dumps({"url": url, "title": title, "text": text}) + "\n"


def build(corpus: Path, work: Path) -> None:
    """Index the corpus by the command, twice; time, memory, size."""
    command = [*COMMAND, "--corpus", str(corpus), "--warehouse", str(work / "w.duckdb"),
               "--build-only"]  # fmt: skip
    for what in ("build", "again, nothing new"):
        began = time.monotonic()
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(said)
        print(f"{what}: {time.monotonic() - began:.1f} s, {usage.ru_utime + usage.ru_stime:.0f} s "
              f"of computing, peak memory {usage.ru_maxrss / 1024:.0f} MB")  # fmt: skip
        print(
            "  " + "\n  ".join(line for line in said.splitlines() if "pages in" in line), flush=True
        )


@contextmanager
def serving(corpus: Path, work: Path, depth: int) -> Iterator[str]:
    """The command serving at a search depth; its address."""
    configs = work / f"configs-{depth}"
    shutil.copytree(PACKAGED, configs, dirs_exist_ok=True)
    settings = (configs / "sandbox.yaml").read_text()
    (configs / "sandbox.yaml").write_text(re.sub(r"^depth: \d+", f"depth: {depth}", settings,
                                                 flags=re.MULTILINE))  # fmt: skip
    with subprocess.Popen(
        [*COMMAND, "--corpus", str(corpus), "--warehouse", str(work / "w.duckdb"), "--port", "0",
         "--per-minute", "1000000"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=os.environ | {"EVERGREEN_CONFIGS": str(configs), "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield line.split()[1].partition("/search")[0]
        finally:
            rss = Path(f"/proc/{process.pid}/status").read_text()
            peak = re.search(r"VmHWM:\s+(\d+)", rss)
            process.terminate()
            if peak:
                print(f"  peak memory of the server: {int(peak[1]) / 1024:.0f} MB", flush=True)


async def latencies(address: str, queries: list[str], clients: int, k: int) -> list[float]:
    """Seconds of each query, in order of length; `clients` ask at once."""
    waiting = iter(queries)
    took: list[float] = []
    async with httpx.AsyncClient(base_url=address, timeout=120, trust_env=False) as http:

        async def ask() -> None:
            for query in waiting:
                began = time.perf_counter()
                asked = {"query": query, "k": str(k), "format": "json"}
                (await http.get("/search", params=asked)).raise_for_status()
                took.append(time.perf_counter() - began)

        await asyncio.gather(*(ask() for _ in range(clients)))
    return sorted(took)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--snapshot", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="a folder for corpus and index")
    parser.add_argument("--pages", type=int, default=100_000)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    corpus = options.work / f"corpus-{options.pages}.jsonl"
    if not corpus.exists():
        write_corpus(options.snapshot, corpus, options.pages)
    print(f"corpus: {corpus.stat().st_size / 2**20:.0f} MB of JSONL", flush=True)
    build(corpus, options.work)
    claims = pl.read_parquet(options.snapshot / "claims.parquet", columns=["text"])["text"]
    queries = random.Random(SEED).sample(claims.unique(maintain_order=True).to_list(), QUERIES)
    print(f"{'depth':>6} {'clients':>8} {'k':>5} {'p50 ms':>8} {'p95 ms':>8}")
    for depth in DEPTHS:
        with serving(corpus, options.work, depth) as address:
            asyncio.run(latencies(address, queries[:20], 1, 10))  # the index is read at first use
            for clients in CLIENTS:
                for k in KS:
                    took = asyncio.run(latencies(address, queries, clients, k))
                    p50, p95 = (took[int(len(took) * share)] * 1000 for share in (0.5, 0.95))
                    print(f"{depth:>6} {clients:>8} {k:>5} {p50:>8.0f} {p95:>8.0f}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
