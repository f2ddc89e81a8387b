"""New warehouse files as copies of one: the migrations of each would take a fifth of a second.

That a new file is migrated to the same schema is for tests/tasks/warehouse to show.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch
from uuid import uuid4

import duckdb

from tasks.warehouse import store
from tasks.warehouse.schema import connect


@contextmanager
def copied_from_a_template(folder: Path) -> Iterator[None]:
    """Within the block a warehouse file that is not there begins as a copy, with an id of its own.

    folder: for the template.
    """
    template = folder / "template.duckdb"
    with store.open_warehouse(template):
        pass

    def connect_or_copy(path: Path, folders: Sequence[Path]) -> duckdb.DuckDBPyConnection:
        if path.exists() or path.is_symlink():
            return connect(path, folders=folders)
        shutil.copyfile(template, path)
        connection = connect(path, folders=folders)
        connection.execute("UPDATE warehouse_info SET warehouse_id = $1", [str(uuid4())])
        return connection

    with patch.object(store, "connect", connect_or_copy):
        yield
