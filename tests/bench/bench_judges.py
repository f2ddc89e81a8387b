"""How fast an LLM judge works through an edition: `make bench-judges`.

    python -m tests.bench.bench_judges [--reports 10,100,1000] [--kind openai|gemini]

The endpoint is a process of its own that answers after a fixed 200 ms; 100 calls may be under
way; ledger, warehouse and Prefect are on, all as `evergreen evaluate` runs them. Prints the
endpoint's own ceiling first: it must not be what is measured. Nothing is asserted.
"""

import argparse
import asyncio
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import duckdb

from tasks.models.transport import ModelTransport
from tests.bench.scaled import EDITION, Size, generate
from tests.changed_configs import copy_configs
from tests.rigs.model_process import model_process, totals_of

ROOT = Path(__file__).resolve().parents[2]
DELAY, AT_ONCE = 0.2, 100
CEILING_CALLS = 4_000
SIZE = Size(facts=149, claims=100, pages=11, chars_of_article=30_000, chars_of_report=30_000,
            chars_of_page=900)  # fmt: skip
"""Some 263 calls a report."""
KINDS = {"openai": "openai_chat", "gemini": "gemini"}


async def ceiling(url: str) -> float:
    """Answers a second that the bare client gets from the endpoint, 100 under way."""
    body = {"model": "bench", "messages": [{"role": "user", "content": "x" * 2000}]}
    headers = {"Authorization": "Bearer test-key"}
    places = asyncio.Semaphore(AT_ONCE)
    transport = ModelTransport(AT_ONCE)

    async def one() -> None:
        async with places:
            answer = await transport.request(
                "POST", f"{url}/chat/completions", headers, 60, json=body
            )
            answer.raise_for_status()

    started = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(CEILING_CALLS)))
    rate = CEILING_CALLS / (time.perf_counter() - started)
    await transport.aclose()
    return rate


def configs(folder: Path, kind: str, url: str) -> Path:
    """A copy of the project's configuration with one judge more: `bench`."""
    bench = {
        "kind": KINDS[kind], "title": "benchmark", "provider": "local", "model": "local",
        "base_url": url, "key_env": "BENCH_KEY", "context_tokens": 1_000_000, "temperature": 0,
        "limits": {"concurrency": AT_ONCE}, "source": "generated", "checked": "2026-11-21",
    }  # fmt: skip
    return copy_configs(folder, judges=lambda s: s["judges"].update(bench=bench))


def evaluate(folder: Path, settings: Path) -> float:
    """One `evergreen evaluate` of everything; return how many seconds it took."""
    environment = {
        **os.environ,
        "EVERGREEN_CONFIGS": str(settings),
        "EVERGREEN_PREFECT_HOME": str(folder / "prefect"),
        "EVERGREEN_WAREHOUSE": str(folder / "warehouse.duckdb"),
        "BENCH_KEY": "test-key",
    }
    flows = (sys.executable, "-m", "flows")
    started = time.perf_counter()
    done = subprocess.run(
        [*flows, "evaluate", "--edition", EDITION, "--judge", "bench"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    seconds = time.perf_counter() - started
    if done.returncode:
        print((done.stdout + done.stderr)[-3000:])
    # The Prefect server that stays takes 4 % of a core.
    subprocess.run([*flows, "ui", "--stop"], cwd=ROOT, env=environment, check=False)
    return seconds


def stage_seconds(prefect_home: Path) -> dict[str, float]:
    """Seconds of the flow and of each stage, from Prefect's own history."""
    with closing(sqlite3.connect(prefect_home / "prefect.db")) as history:
        runs = history.execute(
            "SELECT f.name, 86400 * (julianday(r.end_time) - julianday(r.start_time)) "
            "FROM flow_run AS r JOIN flow AS f ON f.id = r.flow_id UNION ALL "
            "SELECT replace(name, ' / scaled', ''), 86400 * (julianday(end_time) - "
            "julianday(start_time)) FROM task_run WHERE name LIKE '% / scaled'"
        ).fetchall()
    return {name: seconds for name, seconds in runs if seconds is not None}


def measure(kind: str, n_reports: int) -> None:
    with tempfile.TemporaryDirectory() as name, model_process(kind, DELAY) as url:
        folder = Path(name)
        generate(folder / "warehouse.duckdb", n_reports, SIZE)
        settings = configs(folder, kind, url)
        wall = evaluate(folder, settings)
        log = totals_of(url)
        with duckdb.connect(str(folder / "warehouse.duckdb"), read_only=True) as store:
            [(calls, verdicts)] = store.sql(
                "SELECT (SELECT count(*) FROM calls), (SELECT count(*) FROM verdicts)"
            ).fetchall()
        stages = stage_seconds(folder / "prefect")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        size = (folder / "warehouse.duckdb").stat().st_size / 1e6
        ideal = calls * DELAY / AT_ONCE
        judging = stages.get("verdicts", 0.0)
        print(
            f"{kind}: {n_reports:,} reports, {calls:,} calls, {verdicts:,} verdicts: verdicts "
            f"{judging:.1f} s (ideal {ideal:.1f} s, {calls / max(judging, 0.1):,.0f} calls/s), "
            f"flow {stages.get('evaluate', 0):.1f} s, command {wall:.1f} s; peak {peak:,.0f} MB "
            f"(largest process), warehouse {size:,.0f} MB; peak in flight {log['peak_in_flight']}",
            flush=True,
        )
        print("  " + ", ".join(f"{n} {s:.1f} s" for n, s in stages.items()), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", default="10,100,1000")
    parser.add_argument("--kind", choices=sorted(KINDS), default="openai")
    asked = parser.parse_args()
    with model_process("openai") as url:
        print(f"endpoint at 0 ms: {asyncio.run(ceiling(url)):,.0f} answers/s (with the client)")
    with model_process("openai", DELAY) as url:
        print(f"endpoint at 200 ms: {asyncio.run(ceiling(url)):,.0f} answers/s of 500 possible")
    for n_reports in map(int, asked.reports.split(",")):
        measure(asked.kind, n_reports)
    return 0


if __name__ == "__main__":
    sys.exit(main())
