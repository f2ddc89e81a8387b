"""The server's database, by Prefect itself: its template, and transactions that write late."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.runtime.server_process import server_settings
from flows.runtime.settings import prefect_environment
from tests.flows.runtime.test_server_database import cache, tables

__all__ = ["cache"]

ROOT = Path(__file__).resolve().parents[4]


def in_a_server_process(home: Path, code: str) -> str:
    """What `code` prints where a server's settings are those of the process."""
    settings = prefect_environment(home, {}) | server_settings(home, 4200)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | settings, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


CREATE = """
from pathlib import Path
from flows.runtime.server_database import create_database
create_database(Path({home!r}) / "prefect.db")
"""


def test_the_template_is_what_prefect_migrates_to(cache: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        in_a_server_process(tmp_path / name, CREATE.format(home=str(tmp_path / name)))
    (template,) = cache.glob("*.db")
    assert {"flow_run", "task_run", "alembic_version"} <= tables(template)
    assert tables(tmp_path / "first" / "prefect.db") == tables(template)
    assert tables(tmp_path / "second" / "prefect.db") == tables(template)


LATE_WRITE = """
import asyncio
import sqlite3
from pathlib import Path
import sqlalchemy as sa
from prefect.server.database import provide_database_interface
from flows.runtime.server_database import create_database, write_immediately
{patch}
create_database(Path({home!r}) / "prefect.db")

async def main():
    db = provide_database_interface()
    async with db.session_context(begin_transaction=True) as session:
        await session.execute(sa.text("SELECT count(*) FROM flow"))
        other = sqlite3.connect(Path({home!r}) / "prefect.db", timeout=0)
        try:
            other.execute("DELETE FROM flow")
            other.commit()
        except sqlite3.OperationalError as error:
            print("the other one:", error)
        await session.execute(sa.text("DELETE FROM flow"))
    print("committed")

try:
    asyncio.run(main())
except Exception as error:
    print("we:", error.__class__.__name__, "locked" in str(error))
"""


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("", "we: OperationalError True"),
        ("write_immediately()", "the other one: database is locked\ncommitted"),
    ],
    ids=["as Prefect begins them", "as we begin them"],
)
def test_a_transaction_that_writes_late_is_not_refused(
    cache: Path, tmp_path: Path, patch: str, said: str
) -> None:
    code = LATE_WRITE.format(home=str(tmp_path), patch=patch)
    assert in_a_server_process(tmp_path, code).strip() == said
