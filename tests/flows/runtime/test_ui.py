"""What `evergreen ui` says of a port that it does not get, and of a server that is not ours."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flows.runtime import ui
from flows.runtime.server_record import ServerError
from flows.runtime.ui import serve_ui, stop_ui


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C as soon as the server is up."""

    def interrupt(home: Path) -> bool:
        raise KeyboardInterrupt

    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr(ui, "is_served", interrupt)


@pytest.fixture
def server_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A server at a port, which runs already or starts there."""

    def at(port: int, *, before: bool) -> None:
        record = tmp_path / "server.json"
        text = json.dumps({"pid": 1, "port": port})
        if before:
            record.write_text(text)

        @contextmanager
        def serve(home: Path, asked: int) -> Iterator[str]:
            record.write_text(text)
            yield f"http://127.0.0.1:{port}/api"

        monkeypatch.setattr(ui, "local_server", serve)

    return at


@pytest.mark.parametrize(
    ("before", "why"),
    [(True, "The server runs already; evergreen ui --stop ends it."), (False, "Another program")],
)
def test_a_port_that_is_not_the_one_asked_for_is_told(
    before: bool, why: str, server_at: Callable[..., None], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    server_at(4300, before=before)
    serve_ui(tmp_path, 4299)
    said = capsys.readouterr().out
    assert f"Not at port 4299: {why}" in said
    assert "Prefect UI: http://127.0.0.1:4300" in said


@pytest.mark.parametrize("asked", [4300, None])
def test_a_port_that_was_given_or_not_asked_for_is_not_spoken_of(
    asked: int | None, server_at: Callable[..., None], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    server_at(4300, before=True)
    serve_ui(tmp_path, asked)
    assert "Not at port" not in capsys.readouterr().out


def test_how_long_a_server_stays_is_told_with_its_address(
    server_at: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    server_at(4200, before=False)
    monkeypatch.setenv("EVERGREEN_SERVER_MINUTES", "7")
    serve_ui(tmp_path, None)
    assert "The server then stays for 7 minutes; to end it: evergreen ui --stop" in (
        capsys.readouterr().out
    )
    monkeypatch.setenv("EVERGREEN_SERVER_MINUTES", "0")
    serve_ui(tmp_path, None)
    assert "then stays" not in capsys.readouterr().out


def test_a_configured_server_is_not_ended_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://prefect.example.org/api")
    with pytest.raises(ServerError, match=r"prefect\.example\.org/api: end that server where"):
        stop_ui(tmp_path)
