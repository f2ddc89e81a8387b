"""A server of reports as a process of its own, for runs that are killed.

    python -m tests.servers.job_process openai --port 0 --polls 3 --posts lost

prints one JSON line with `port`, `base_url` and `key`, then serves until it gets SIGTERM or
SIGINT. `GET /_log` gives the totals. `--posts` and `--looks` are names of `jobs.FAULTS`,
separated by commas; an empty one is a request that goes well.
"""

import argparse
import asyncio
import json
import signal
from pathlib import Path

from tests.servers.job_gemini import GeminiJobs
from tests.servers.job_openai import OpenAiJobs
from tests.servers.job_perplexity import PerplexityAsyncJobs, PerplexityJobs
from tests.servers.job_reports import Report, default_report
from tests.servers.jobs import JobScript, JobServer
from tests.servers.serving import HOST, serve

KINDS: dict[str, type[JobServer]] = {
    "gemini": GeminiJobs,
    "openai": OpenAiJobs,
    "perplexity": PerplexityJobs,
    "perplexity_async": PerplexityAsyncJobs,
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.servers.job_process")
    parser.add_argument("kind", choices=tuple(KINDS))
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default="test-key")
    parser.add_argument("--polls", type=int, default=1, help="looks until a job has ended")
    parser.add_argument("--seconds", type=float, default=0.0, help="and no sooner than this")
    parser.add_argument("--ends", help="the provider's word for the end; if not given: well")
    parser.add_argument("--on-the-way", help="words before that, separated by commas")
    parser.add_argument("--posts", default="", help="what goes wrong with a prompt's POSTs")
    parser.add_argument("--looks", default="", help="what goes wrong with the looks at a job")
    parser.add_argument("--gone-after", type=int, help="looks after which a job is not found")
    parser.add_argument("--asks-first", help="a question in place of the first report")
    parser.add_argument("--asks-with", help="the word for the end of a job that asks")
    parser.add_argument("--hint", type=float, default=1.0, help="seconds a 429 asks to wait")
    parser.add_argument("--report", type=Path, help="a Markdown file: what every report says")
    return parser.parse_args()


def server_of(asked: argparse.Namespace) -> JobServer:
    script = JobScript(
        polls=asked.polls,
        seconds=asked.seconds,
        ends=asked.ends,
        on_the_way=tuple(asked.on_the_way.split(",")) if asked.on_the_way else None,
        posts=_faults(asked.posts),
        looks=_faults(asked.looks),
        gone_after=asked.gone_after,
        asks_first=asked.asks_first,
        asks_with=asked.asks_with,
        hint_seconds=asked.hint,
    )
    report: Report | str = asked.report.read_text("utf-8") if asked.report else default_report
    return KINDS[asked.kind](script, report=report, key=asked.key)


async def run(asked: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)

    def announce(port: int) -> None:
        address = f"http://{HOST}:{port}" + ("/v1" if asked.kind == "openai" else "")
        print(json.dumps({"port": port, "base_url": address, "key": asked.key}), flush=True)

    await serve(server_of(asked), asked.port, announce, stop)


def _faults(names: str) -> tuple[str | None, ...]:
    return tuple(name or None for name in names.split(",")) if names else ()


if __name__ == "__main__":
    asyncio.run(run(arguments()))
