"""Helpers that read pages: killed, stopped at their bounds, waited for, gone with their parent."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from tasks.web.page import ReadPage
from tasks.web.readers import PageReaders
from tests.rigs.made_pdfs import made_pdfs
from tests.rigs.saved_pages import page
from tests.tasks.web.test_readers import ENDLESS, GOOD, _helpers_of, with_readers

ROOT = Path(__file__).resolve().parents[4]


def test_a_helper_that_is_killed_costs_no_other_page() -> None:
    async def killed(readers: PageReaders) -> list[ReadPage]:
        await readers.read(GOOD)
        reading = asyncio.ensure_future(readers.read(ENDLESS))
        await asyncio.sleep(0.5)
        for helper in _helpers_of(os.getpid()):
            helper.kill()
        return [await reading, *await asyncio.gather(*(readers.read(GOOD) for _ in range(5)))]

    first, *others = with_readers(killed, seconds=30)
    assert first.status == "unreadable"
    assert "SIGKILL" in (first.error or "")
    assert [said.status for said in others] == ["ok"] * 5


def test_many_pages_wait_their_turn() -> None:
    pages = [page(made_pdfs()[0].content)] * 20 + [GOOD] * 40

    async def all_of_them(readers: PageReaders) -> list[ReadPage]:
        return await asyncio.gather(*(readers.read(material) for material in pages))

    said = with_readers(all_of_them, workers=2)
    assert [one.status for one in said] == ["ok"] * 60
    assert said[0].media_type == "application/pdf"


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "in the middle of a page"])
def test_helpers_end_when_their_parent_is_killed_hard(tmp_path: Path, busy: bool) -> None:
    program = textwrap.dedent(f"""
        import asyncio, sys
        from tasks.configuration.web import ReadingBounds
        from tasks.web.readers import PageReaders
        from tests.tasks.web.test_readers import ENDLESS, GOOD

        async def main():
            readers = PageReaders(ReadingBounds(workers=2, seconds=4))
            await readers.read(GOOD)
            print("reading", flush=True)
            await (readers.read(ENDLESS) if {busy} else asyncio.sleep(60))

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
        if busy:
            time.sleep(1)
        helpers = _helpers_of(process.pid)
        assert len(helpers) == 2
        process.send_signal(signal.SIGKILL)
        process.wait()
    gone, alive = psutil.wait_procs(helpers, timeout=30)
    assert not alive
    assert len(gone) == 2


def test_a_page_that_computes_too_long_is_unreadable_and_the_next_one_is_read() -> None:
    async def both(readers: PageReaders) -> tuple[ReadPage, ReadPage]:
        await readers.read(GOOD)  # the helper has started
        return await readers.read(ENDLESS), await readers.read(GOOD)

    long, good = with_readers(both, seconds=1)
    assert (long.status, long.error) == ("unreadable", "reading it took more than 1 seconds")
    assert good.status == "ok"


def test_a_page_that_fills_the_memory_is_unreadable_and_the_next_one_is_read() -> None:
    large = page(b"<html><p>" + b"<i>x</i>" * 2_000_000, content_type="text/html")

    async def both(readers: PageReaders) -> tuple[ReadPage, ReadPage]:
        return await readers.read(large), await readers.read(GOOD)

    full, good = with_readers(both, megabytes=500, most_html_bytes=20_000_000, seconds=60)
    assert full.status == "unreadable"
    assert "memory" in (full.error or "")
    assert good.status == "ok"


def test_who_waits_for_a_page_when_the_readers_are_closed_is_cancelled() -> None:
    async def closed(readers: PageReaders) -> None:
        reading = asyncio.ensure_future(readers.read(ENDLESS))
        await asyncio.sleep(0.5)
        await readers.close()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(reading, timeout=60)

    with_readers(closed)
