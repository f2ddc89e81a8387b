"""A build that is killed leaves what was there, and the next one goes on."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.sandbox.lance import read_index_version
from tasks.sandbox.page import SandboxError
from tasks.sandbox.search import open_index
from tests.tasks.sandbox.archives import PAGES, TOWERS, build, settings
from tests.tasks.sandbox.test_index import rankings

KILLED = """
import asyncio, os, sys
from pathlib import Path
import tasks.sandbox.index as index
from tests.tasks.sandbox.archives import PAGES, build
index.BATCH_PAGES = 2
until, asked, schema = int(sys.argv[2]), 0, index.page_schema
def pages():
    for number, page in enumerate(PAGES):
        if number == until:
            os.kill(os.getpid(), 9)
        yield page
def killing():  # asked for between the passages and the pages of a batch
    global asked
    asked += 1
    if asked == 3:
        os.kill(os.getpid(), 9)
    return schema()
if until < 0:
    index.page_schema = killing
asyncio.run(build(Path(sys.argv[1]), pages()))
"""


@pytest.mark.parametrize("until", [5, -1], ids=["between batches", "amid a batch"])
@pytest.mark.parametrize("earlier", [False, True], ids=["nothing", "an older index"])
def test_a_build_that_is_killed_leaves_what_was_there_and_the_next_goes_on(
    tmp_path: Path, earlier: bool, until: int
) -> None:
    folder = tmp_path / "i"
    if earlier:
        asyncio.run(build(folder, PAGES[:1]))
    before = read_index_version(folder)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder), str(until)], check=False, timeout=60
    )
    assert killed.returncode == -9
    assert read_index_version(folder) == before
    if earlier:
        index = asyncio.run(open_index(folder, settings()))
        assert list(index.catalogue.rows) == [TOWERS]
    else:
        with pytest.raises(SandboxError, match="holds no index"):
            asyncio.run(open_index(folder, settings()))
    built = asyncio.run(build(folder))
    assert built.version.n_pages == 7
    assert built.version.n_passages == 7
    asyncio.run(build(tmp_path / "fresh"))
    assert asyncio.run(rankings(folder)) == asyncio.run(rankings(tmp_path / "fresh"))
