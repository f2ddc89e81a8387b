"""The lock of a warehouse file, and how its holder describes itself."""

from pathlib import Path

import pytest

from tasks.warehouse.errors import WarehouseBusy
from tasks.warehouse.file_lock import lock_warehouse, read_holder


def test_what_the_holder_does_is_printed_as_it_is_but_for_what_is_not_visible(
    tmp_path: Path,
) -> None:
    path = tmp_path / "w.duckdb"
    with lock_warehouse(path, activity='evaluate · Köln "é" 図\n\x1b[31m\u2028\udc80'):
        holder = read_holder(path)
        assert holder
        assert holder.command == ('evaluate · Köln "é" 図⟨U+000A⟩⟨U+001B⟩[31m⟨U+2028⟩⟨U+DC80⟩')
        with (
            pytest.raises(WarehouseBusy, match="evaluate · Köln"),
            lock_warehouse(path, wait_seconds=0),
        ):
            pass
    assert read_holder(path) is None
