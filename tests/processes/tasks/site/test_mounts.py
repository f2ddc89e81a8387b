"""A site on a volume, as a container has it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tasks.files.checksums import SUMS
from tasks.site.mark import MARK
from tests.tasks.site.test_folder import contents


def test_a_mount_point_gets_the_new_files(tmp_path: Path) -> None:
    """In a namespace of its own, where the system lets us make one."""
    site = tmp_path / "site"
    code = (
        "from pathlib import Path; from tests.tasks.site.test_folder import write\n"
        f"for text in ('old', 'new'): write(Path({str(site)!r}), **{{text: text}})"
    )
    (tmp_path / "volume").mkdir()
    site.mkdir()
    mounted = ["unshare", "--mount", "--map-root-user", "sh", "-c", 'mount --bind "$0" "$1"']
    try:
        subprocess.run([*mounted, tmp_path / "volume", site], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this system does not let us mount anything")
    mounted[-1] += ' && "$2" -c "$3"'
    subprocess.run([*mounted, tmp_path / "volume", site, sys.executable, code], check=True)
    assert contents(tmp_path / "volume").keys() == {"new/page.html", MARK, SUMS}
    assert sorted(path.name for path in (tmp_path / "volume").iterdir()) == [SUMS, "new", MARK]
