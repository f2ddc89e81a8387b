"""A model server as a process of its own, for load tests and for runs that are killed.

    python -m tests.servers gemini --delay 0.2

prints one JSON line with `port` and `base_url`, then serves until it gets SIGTERM or
SIGINT. `GET /_log` gives the totals.
"""

import argparse
import asyncio
import json
import signal

from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.servers.serving import HOST, serve


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.servers")
    parser.add_argument("kind", choices=("gemini", "openai"))
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before every answer")
    return parser.parse_args()


async def run(asked: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)

    def announce(port: int) -> None:
        address = f"http://{HOST}:{port}" + ("/v1" if asked.kind == "openai" else "")
        print(json.dumps({"port": port, "base_url": address}), flush=True)

    kind = GeminiServer if asked.kind == "gemini" else OpenAiServer
    await serve(kind(delay_seconds=asked.delay), 0, announce, stop)


if __name__ == "__main__":
    asyncio.run(run(arguments()))
