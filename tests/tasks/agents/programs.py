"""A program that is asked, and waited for."""

import asyncio

from tasks.agents.agent import JobAnswer, JobRequest
from tasks.agents.command.answer import read
from tasks.agents.command.client import CommandClient

LOOK_AGAIN_SECONDS = 0.05


def run_program(client: CommandClient, asked: JobRequest) -> JobAnswer:
    async def run() -> JobAnswer:
        seen = await client.start(asked)
        while not seen.ended:
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
            seen = await client.poll(asked.job)
        return read(seen.raw or "")

    return asyncio.run(run())
