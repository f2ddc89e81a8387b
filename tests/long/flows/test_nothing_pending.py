"""The run after one that was killed before its export is not told that nothing is pending."""

from pathlib import Path

import pytest

from tasks.warehouse.snapshot import is_exported
from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.flows.test_nothing_pending import warehouse

__all__ = ["warehouse"]


@pytest.mark.parametrize("command", [("evaluate", "--protocol", "wiki_fact"), ("fetch",)])
def test_the_next_run_exports_what_a_killed_one_has_not(
    command: tuple[str, ...], warehouse: Path, evergreen: Evergreen
) -> None:
    with open_warehouse(warehouse) as store:
        store._connection.execute("UPDATE editions SET title = 'Another title'")
        assert not is_exported(store, "sample")
    code, _, remarks = evergreen(*command, "--edition", "sample", "--warehouse", warehouse)
    assert code == 0
    assert "Nothing was pending" not in remarks
    with open_warehouse(warehouse) as store:
        assert is_exported(store, "sample")
