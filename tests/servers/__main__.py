"""A model server as a process of its own, for load tests and for runs that are killed.

    python -m tests.servers gemini --port 0 --delay 0.2 --fault-share 0.1 --faults server_500

prints one JSON line with `port`, `base_url` and `key`, then serves until it gets SIGTERM or
SIGINT. `GET /_log` gives the totals, `GET /_log?prompts=1` those of each prompt as well.
"""

import argparse
import asyncio
import json
import signal
from typing import Any

from tests.servers.base import ModelServer
from tests.servers.batches import BatchScript
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.servers.obedient import Obedient
from tests.servers.openai import OpenAiServer
from tests.servers.oracle import Oracle
from tests.servers.serving import HOST, serve


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.servers")
    parser.add_argument("kind", choices=("gemini", "openai"))
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default="test-key")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--faults", default="", help="names, separated by commas")
    parser.add_argument("--fault-share", type=float, default=1.0, help="of the prompts, 0 to 1")
    parser.add_argument("--fault-times", type=int, default=1, help="per prompt; 0: for ever")
    parser.add_argument("--hint", type=float, default=1.0, help="seconds a 429 asks to wait")
    parser.add_argument("--slow", type=float, default=1.0, help="seconds added by `slow`")
    parser.add_argument("--thinking-tokens", type=int, default=0)
    parser.add_argument("--answers-as", help="the version it says it answered as")
    parser.add_argument("--batch-polls", type=int, default=1, help="looks until a batch has ended")
    parser.add_argument("--model", choices=("oracle", "biased", "obedient"), default="oracle")
    return parser.parse_args()


def server_of(asked: argparse.Namespace) -> ModelServer:
    plan = FaultPlan(
        faults=tuple(name for name in asked.faults.split(",") if name),
        share=asked.fault_share,
        times=asked.fault_times or None,
        hint_seconds=asked.hint,
        slow_seconds=asked.slow,
    )
    models = {
        "oracle": Oracle(),
        "biased": Oracle(position_biased=True),
        "obedient": Obedient(),
    }
    options: dict[str, Any] = {
        "model": models[asked.model],
        "key": asked.key,
        "delay_seconds": asked.delay,
        "faults": plan,
        "thinking_tokens": asked.thinking_tokens,
        "answers_as": asked.answers_as,
        "batches": BatchScript(polls=asked.batch_polls),
    }
    return GeminiServer(**options) if asked.kind == "gemini" else OpenAiServer(**options)


async def run(asked: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)

    def announce(port: int) -> None:
        address = f"http://{HOST}:{port}" + ("/v1" if asked.kind == "openai" else "")
        print(json.dumps({"port": port, "base_url": address, "key": asked.key}), flush=True)

    await serve(server_of(asked), asked.port, announce, stop)


if __name__ == "__main__":
    asyncio.run(run(arguments()))
