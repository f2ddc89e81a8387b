"""Somebody who waits for a warehouse and looks for secrets."""

from pathlib import Path

import pytest

from tasks.masking import hide_in_command
from tasks.warehouse.file_lock import lock_warehouse, read_holder

SECRET = "hunter2-Tr0ub4dor"
HIDING = [
    f"--api_key={SECRET}",
    f"Authorization: Bearer {SECRET}",
    f"https://user:{SECRET}@wiki.test/w/api.php",
    f"https://user:pa/{SECRET}@wiki.test/w/api.php",
    f"https://{SECRET}@wiki.test/w/api.php",
    f"https://wiki.test/?a=1&access_token={SECRET}&b=2",
    f"https://store.test/o?X-Amz-Signature={SECRET}",
    f"host=db password={SECRET} dbname=e",
    f"host=db password='{SECRET} x' dbname=e",
    f"sent with {SECRET}, in words",
]


@pytest.mark.parametrize("given", HIDING)
def test_a_command_line_is_told_without_secrets(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No key, token or password is told: by its name, in a URL, or from the environment."""
    if "in words" in given:
        monkeypatch.setenv("SOME_API_KEY", SECRET)
    told = hide_in_command(given)
    assert SECRET not in told
    assert "[hidden]" in told


def test_a_command_line_without_secrets_is_told_as_it_is() -> None:
    """Everything else is told as it was given."""
    given = "evergreen collect --api-key-env OPENAI_API_KEY --wiki-api https://de.test/api.php?a=b"
    assert hide_in_command(given) == given


def test_no_secret_is_told_to_a_process_that_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that has the warehouse names itself to those who wait, without its secrets."""
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    command = f"evergreen collect --wiki-api https://me:{SECRET[:7]}@wiki.test --note {SECRET}"
    with lock_warehouse(tmp_path / "w.duckdb", activity=command):
        told = str(read_holder(tmp_path / "w.duckdb"))
    assert "evergreen collect --wiki-api https://[hidden]@wiki.test --note [hidden]" in told
