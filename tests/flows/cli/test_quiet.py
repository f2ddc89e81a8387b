"""A quiet command: only answers and what went wrong; and what exit codes say."""

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import typer

from flows.cli.output import print_outcome
from flows.display.console import (
    QUIET_VARIABLE,
    STDERR,
    is_quiet_requested,
    mute_messages,
    print_always,
    print_message,
)
from flows.display.formats import Format
from tests.flows.conftest import Evergreen
from tests.sample_edition import PART
from tests.tasks.annotated import sample_warehouse


@pytest.fixture(autouse=True)
def loud_afterwards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(QUIET_VARIABLE, "")
    yield
    STDERR.quiet = False


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return sample_warehouse(tmp_path)


def test_a_quiet_command_says_no_remark_but_what_must_be_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_message("a remark")
    mute_messages()
    assert is_quiet_requested(), "so say the processes that it starts"
    print_message("another")
    print_always("an error [red]as it stands[/red]")
    assert capsys.readouterr().err == "a remark\nan error [red]as it stands[/red]\n"


def test_quiet_is_asked_for_by_an_option_or_the_environment(
    evergreen: Evergreen, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    importing = ("import", "wlc", PART, "--warehouse", warehouse)
    said = evergreen(*importing)
    assert said[0] == 0
    assert "3 articles" in said[2]
    assert evergreen("--quiet", *importing) == (0, "", "")
    STDERR.quiet = False
    monkeypatch.setenv(QUIET_VARIABLE, "1")
    assert evergreen(*importing) == (0, "", "")
    code, answers, remarks = evergreen("status", "--warehouse", warehouse, "--format", "json")
    assert (code, remarks) == (0, "")
    assert json.loads(answers)[0]["edition"] == "sample"
    code, answers, remarks = evergreen("status", "--edition", "never", "--warehouse", warehouse)
    assert (code, answers) == (1, "")
    assert "no edition 'never'" in remarks


@pytest.mark.parametrize(
    ("value", "quiet"), [("", False), ("0", False), ("No", False), ("1", True), ("yes", True)]
)
def test_the_environment_may_also_say_no(
    value: str, quiet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGREEN_QUIET", value)
    assert is_quiet_requested() is quiet


def test_a_run_that_did_not_do_everything_ends_with_exit_code_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_outcome(True, "Completed: all of it.")
    with pytest.raises(typer.Exit) as ended:
        print_outcome(
            False, "Partial: the rest is left.", Format.JSON, {"figures": pl.DataFrame({"a": [1]})}
        )
    assert ended.value.exit_code == 1
    said = capsys.readouterr()
    assert json.loads(said.out) == {
        "complete": False,
        "outcome": "Partial: the rest is left.",
        "figures": [{"a": 1}],
    }
    assert said.err.splitlines() == ["Completed: all of it.", "Partial: the rest is left."]


def test_the_help_says_what_exit_codes_mean(evergreen: Evergreen) -> None:
    code, said, _ = evergreen("--help")
    assert code == 0
    told = " ".join(said.split())
    for meaning in ("0 everything was done", "1 something failed", "2 wrong usage", "130 and 143"):
        assert meaning in told
    assert "--quiet" in told
