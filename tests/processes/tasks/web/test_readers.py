"""Helpers that read pages end with their parent, even in the middle of a page."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil

from tests.flows.llm_runs import ROOT
from tests.guarantees.tasks.web.test_readers import helpers_of


def test_helpers_end_when_their_parent_is_killed_hard(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import asyncio, sys
        from tasks.configuration.web import ReadingBounds
        from tasks.web.readers import PageReaders
        from tests.guarantees.tasks.web.test_readers import ENDLESS, GOOD

        async def main():
            readers = PageReaders(ReadingBounds(workers=2, seconds=4))
            await asyncio.gather(*(readers.read(GOOD) for _ in range(4)))
            print("reading", flush=True)
            await readers.read(ENDLESS)

        if __name__ == "__main__":
            asyncio.run(main())
    """)
    path = tmp_path / "program.py"
    path.write_text(program)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, str(path)], stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reading\n"
        time.sleep(1)
        helpers = helpers_of(process.pid)
        assert len(helpers) == 2
        process.send_signal(signal.SIGKILL)
        process.wait()
    gone, alive = psutil.wait_procs(helpers, timeout=30)
    assert not alive
    assert len(gone) == 2
