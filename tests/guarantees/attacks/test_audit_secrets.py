"""A reader of the audit who looks for secrets."""

import json
from pathlib import Path
from typing import Any

import pytest

from tasks.warehouse.file_lock import lock_warehouse, read_holder
from tasks.warehouse.parameters import format_parameters
from tests.flows.conftest import Evergreen, evergreen, no_server
from tests.guarantees.attacks.test_audit import ADD_COST, audit, warehouse

__all__ = ["evergreen", "no_server", "warehouse"]

SECRET = "hunter2-Tr0ub4dor"
HIDING = [
    {"api_key": SECRET},
    {"token": [SECRET]},
    {"nested": {"Authorization": f"Bearer {SECRET}"}},
    {"url": f"https://user:{SECRET}@wiki.test/w/api.php"},
    {"url": f"https://user:pa/{SECRET}@wiki.test/w/api.php"},
    {"url": f"https://{SECRET}@wiki.test/w/api.php"},
    {"url": f"https://wiki.test/?a=1&access_token={SECRET}&b=2"},
    {"url": f"https://store.test/o?X-Amz-Signature={SECRET}"},
    {"catalog": f"host=db password={SECRET} dbname=e"},
    {"catalog": f"host=db password='{SECRET} x' dbname=e"},
    {"note": f"Authorization: Bearer {SECRET}"},
    {"note": f"sent with {SECRET}, in words"},
    {SECRET: 1},
]


@pytest.mark.parametrize("given", HIDING, ids=lambda given: next(iter(given)))
def test_parameters_hold_no_secret(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A row has no key, token or password: by its name, in a URL, or from the environment."""
    if "in words" in str(given) or SECRET in given:
        monkeypatch.setenv("SOME_API_KEY", SECRET)
    kept = format_parameters(given)
    assert SECRET not in kept
    assert "[hidden]" in kept


def test_parameters_without_secrets_are_kept() -> None:
    """A row keeps everything else as it was given."""
    given = {
        "edition": "2026-11", "articles": 3, "batch": True, "to": Path("/srv/site"),
        "api-key-env": "OPENAI_API_KEY", "wiki-api": "https://de.wikipedia.org/w/api.php?a=b",
        "agent": ["a", "b"], "judge": None,
    }  # fmt: skip
    kept = {name: value for name, value in given.items() if value is not None}
    assert json.loads(format_parameters(given)) == kept | {"to": "/srv/site"}


def test_a_secret_on_the_command_line_is_not_kept(evergreen: Evergreen, warehouse: Path) -> None:
    """A password in an option's URL is not in the row of the command."""
    note = f"bought at https://me:{SECRET}@shop.test/"
    code, _, _ = evergreen(*ADD_COST, "--note", note, "--warehouse", warehouse)
    assert code == 0
    [row] = audit(warehouse)
    assert json.loads(row.parameters)["note"] == "bought at https://[hidden]@shop.test/"


def test_no_secret_is_told_to_a_process_that_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that has the warehouse names itself to those who wait, without its secrets."""
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    command = f"evergreen collect --wiki-api https://me:{SECRET[:7]}@wiki.test --note {SECRET}"
    with lock_warehouse(tmp_path / "w.duckdb", activity=command):
        told = str(read_holder(tmp_path / "w.duckdb"))
    assert "evergreen collect --wiki-api https://[hidden]@wiki.test --note [hidden]" in told
