"""How an evaluation grows: editions of 100, 1,000 and 10,000 articles: `make bench-scale`.

    python -m tests.bench.bench_scale [--articles 100,1000,10000] [--agents 12] [--thin 1,1,20]

Each edition is generated (`scaled.py`), then evaluated by an LLM judge whose every answer already
lies in the ledger (`answered.py` says how): cells are planned, prompts made, looked up, their
answers read, verdicts written, scored and ranked, the snapshot exported and the site written, all
by the code and the flows that `evergreen evaluate` and `evergreen publish` run, but nothing is
asked. The judge's address is that of a server of our own that only counts; at the end neither may
it have been asked nor may the ledger have grown.

Every stage runs in a process of its own (`scale_stages.py`) and prints its items, seconds (of the
clock, and of the processor with helpers), the most memory that it and that any one helper ever
held, and the size of the warehouse after it.

`--thin N`: an N-th of the facts, claims and pages a report, and of all texts' lengths. With
10,000 articles the whole would be 27 million calls and some 75 GB of warehouse; what grows with
the number of articles, reports and cells still does so. `--judged N`: at most about so many cells
are judged, neighbours in the middle of each agent's; all others count as judged before, and their
calls and verdicts lie there. So the same number of cells is judged in tables of any size.
A stage that takes longer than `--minutes` is ended, and so are those after it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import psutil

from flows.runtime.settings import prefect_environment
from tests.bench.scale_stages import JUDGE, STAGES
from tests.changed_configs import copy_configs
from tests.servers.http import Request, Response
from tests.servers.serving import serving

ROOT = Path(__file__).resolve().parents[2]
VERSION = "bench-1"
"""What the judge answers as."""


@dataclass
class Endpoint:
    """Counts who asks; nobody may."""

    n_asked: int = 0

    def __call__(self, request: Request) -> Response:
        self.n_asked += 1
        return Response(500)


@contextmanager
def folder_of(given: Path | None) -> Iterator[Path]:
    """Where the edition lies: a folder that stays, or a temporary one."""
    if given is None:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
    else:
        given.mkdir(parents=True, exist_ok=True)
        yield given


def environment(folder: Path, url: str) -> dict[str, str]:
    """A copy of the project's configuration with one judge more, and Prefect kept to itself."""
    judge = {
        "kind": "openai_chat", "title": "benchmark", "provider": "local", "model": "local",
        "answers_as": VERSION, "base_url": f"{url}/v1", "key_required": False,
        "context_tokens": 1_000_000, "temperature": 0, "source": "generated",
        "checked": "2026-11-22",
    }  # fmt: skip
    target = copy_configs(folder, judges=lambda s: s["judges"].update({JUDGE: judge}))
    return {
        **os.environ,
        **prefect_environment(folder / "prefect"),
        "EVERGREEN_CONFIGS": str(target),
    }


def run_stage(
    name: str, options: Mapping[str, int | str], environ: dict[str, str], minutes: float
) -> dict[str, float] | None:
    """The stage's figures; None: it was ended after so many minutes."""
    given = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.scale_stages", name, *given],
        cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        said, wrong = process.communicate(timeout=60 * minutes)
    except subprocess.TimeoutExpired:
        for helper in psutil.Process(process.pid).children(recursive=True):
            helper.kill()
        process.kill()
        process.communicate()
        return None
    if process.returncode:
        raise SystemExit(f"{name}: {(said + wrong)[-3000:]}")
    figures: dict[str, float] = json.loads(said.splitlines()[-1])
    return figures


def measure(articles: int, thin: int, asked: argparse.Namespace) -> None:
    """All stages on one edition."""
    endpoint = Endpoint()
    of_this = f"{articles}-{thin}"
    with folder_of(asked.work and asked.work / of_this) as folder, serving(endpoint) as url:
        environ = environment(folder, url)
        options = {"work": str(folder), "articles": articles, "agents": asked.agents,
                   "thin": thin, "judged": asked.judged}  # fmt: skip
        each = "" if thin == 1 else f", 1/{thin} of the statements, pages and text of each"
        print(f"\n{articles:,} articles by {asked.agents} agents{each}\n{HEAD}", flush=True)
        there = n_calls(folder)
        for name in asked.stages.split(","):
            found = run_stage(name, options, environ, asked.minutes)
            if found is None:
                print(f"{name:12} not done within {asked.minutes:g} minutes", flush=True)
                break
            print(line(name, found, folder), flush=True)
            if name == "ledger":
                there = n_calls(folder)
        assert n_calls(folder) == there, "a call was bought"
        assert endpoint.n_asked == 0, "the endpoint was asked"
        print(f"{there:,} calls in the ledger, none bought; the endpoint was not asked")


HEAD = (f"{'stage':12} {'items':>20} {'seconds':>9} {'a second':>10} {'processor':>9} "
        f"{'peak MB':>8} {'helper':>7} {'warehouse MB':>12}")  # fmt: skip


def line(name: str, found: Mapping[str, float], folder: Path) -> str:
    items = f"{found['items']:,.0f} {STAGES[name][1]}"
    each = found["items"] / max(found["seconds"], 1e-9)
    size = sum(f.stat().st_size for f in folder.glob("warehouse.duckdb*")) / 1e6
    return (
        f"{name:12} {items:>20} {found['seconds']:9,.1f} {each:10,.1f} "
        f"{found['processor']:9,.1f} {found['megabytes']:8,.0f} "
        f"{found['megabytes_of_helpers']:7,.0f} {size:12,.0f}"
    )


def n_calls(folder: Path) -> int:
    """In the ledger; none where there is no warehouse yet."""
    file = folder / "warehouse.duckdb"
    if not file.exists():
        return 0
    with duckdb.connect(str(file), read_only=True) as store:
        [(n,)] = store.sql("SELECT count(*) FROM calls").fetchall()
    return int(n)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--articles", default="100,1000,10000")
    parser.add_argument("--thin", default="1,1,20", help="for each of --articles")
    parser.add_argument("--agents", type=int, default=12)
    parser.add_argument("--judged", type=int, default=24_000, help="cells that are judged at most")
    parser.add_argument("--minutes", type=float, default=90, help="that a stage may take")
    parser.add_argument("--stages", default=",".join(STAGES))
    parser.add_argument("--work", type=Path, help="a folder to keep the editions in")
    asked = parser.parse_args()
    sizes = zip(asked.articles.split(","), asked.thin.split(","), strict=True)
    for articles, thin in sizes:
        measure(int(articles), int(thin), asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
