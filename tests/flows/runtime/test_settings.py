"""What a local server is told of the environment, and how long it stays."""

from pathlib import Path

import pytest

from flows.__main__ import may_run_flow
from flows.runtime.settings import InvalidMinutes, load_keep_minutes, server_environment

TOLD = {
    "PATH": "/bin", "LC_ALL": "C", "XDG_CACHE_HOME": "/cache", "TZ": "UTC",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events", "EVERGREEN_SERVER_MINUTES": "3",
}  # fmt: skip
UNTOLD = {
    "OPENAI_API_KEY": "k", "PGPASSWORD": "k", "AWS_SECRET_ACCESS_KEY": "k", "MY_PATH": "k",
    "PREFECT_API_KEY": "k", "PREFECT_API_AUTH_STRING": "k", "PREFECT_SERVER_DATABASE_PASSWORD": "k",
    "PREFECT_SERVER_API_AUTH_STRING": "k", "HTTPS_PROXY": "http://user:k@proxy",
}  # fmt: skip


def test_a_server_is_told_named_variables_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (TOLD | UNTOLD).items():
        monkeypatch.setenv(name, value)
    told = server_environment(tmp_path)
    assert told.items() >= TOLD.items()
    assert not told.keys() & UNTOLD
    assert told["PREFECT_HOME"] == str(tmp_path)


@pytest.mark.parametrize(("setting", "minutes"), [("", 10), ("0", 0), ("2.5", 2.5)])
def test_a_server_stays_for_ten_minutes_or_as_the_variable_says(
    setting: str, minutes: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGREEN_SERVER_MINUTES", setting)
    assert load_keep_minutes() == minutes


@pytest.mark.parametrize("setting", ["ten", "-1", "inf", "1e3", "5 min"])
def test_what_is_no_number_of_minutes_is_an_error_that_names_the_variable(
    setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGREEN_SERVER_MINUTES", setting)
    with pytest.raises(InvalidMinutes, match=f"EVERGREEN_SERVER_MINUTES='{setting}'.*10 or 0"):
        load_keep_minutes()


@pytest.mark.parametrize(
    ("line", "may"),
    [
        ("-q evaluate --edition e", True), ("demo", True), ("refresh", True),
        ("evaluate --help", False), ("evaluate --estimate", False), ("status", False), ("", False),
        ("assign", False),
    ],
)  # fmt: skip
def test_a_server_is_prepared_for_commands_that_may_run_a_flow(line: str, may: bool) -> None:
    assert may_run_flow(line.split()) is may
