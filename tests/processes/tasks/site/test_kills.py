"""`kill -9` between the two renames of a site; tests/tasks/site/test_folder.py has every moment."""

import signal
from pathlib import Path

from tests.tasks.backed_up import in_a_process
from tests.tasks.site.test_folder import contents, write

KILLED = """
import os, signal, sys
from pathlib import Path
from tests.tasks.site.test_folder import write
site, rename = Path(sys.argv[1]), Path.rename

def renamed(path, target):
    if target == site:
        os.kill(os.getpid(), signal.SIGKILL)
    rename(path, target)

Path.rename = renamed
write(site, a="new")
"""


def test_a_site_that_a_killed_run_had_moved_away_is_there_again_after_the_next(
    tmp_path: Path,
) -> None:
    site = tmp_path / "site"
    write(site, a="old")
    before = contents(site)
    assert in_a_process(KILLED, site).returncode == -signal.SIGKILL
    assert not site.exists()
    write(site, a="old")
    assert contents(site) == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
