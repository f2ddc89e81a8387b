"""The same tests on the other kind of warehouse: `pytest --lake` makes a DuckLake of every file.

What only a file has (its lock, its damage) is marked `file_only` and left out then.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch

import pytest

from tasks.warehouse import location as locations
from tests.rigs.postgres import RunningPostgres, missing, running

DATABASE = "lakes"
NEEDS_POSTGRES = [
    pytest.mark.rig,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPostgres]:
    with running(tmp_path_factory.mktemp("postgres")) as found:
        found.create(DATABASE)
        yield found


def lake_at(postgres: RunningPostgres, path: Path, database: str = DATABASE) -> locations.DuckLake:
    """A lake of its own for this path: a schema of the catalog's database, files beside it."""
    schema = f"w{sha256(str(path.resolve()).encode()).hexdigest()[:16]}"
    root = path.resolve().parent
    found = locations.parse_location(
        f"ducklake:postgres:{postgres.keywords(database)}?files={root}&schema={schema}"
        f"&data={root / 'rows' / path.stem}"
    )
    assert isinstance(found, locations.DuckLake)
    return found


@contextmanager
def lakes_for_files(postgres: RunningPostgres) -> Iterator[None]:
    """Within the block every path of a file means a lake."""
    postgres.create(DATABASE)

    def lake(path: Path, original: str) -> locations.DuckLake:
        return lake_at(postgres, path)

    with patch.object(locations, "_parse_file", lake):
        yield
