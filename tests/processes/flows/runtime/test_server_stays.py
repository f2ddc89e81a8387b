"""A local server that stays after its last user: who joins it, replaces it, ends it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.runtime.server_record import (
    ServerRecord,
    is_served,
    list_versions,
    read_record,
    write_record,
)
from flows.runtime.server_start import LOG_BYTES
from tests import waiting
from tests.flows.llm_runs import ROOT
from tests.processes.flows.runtime.test_server import answers, environment, script

JOIN = "with local_server(home):\n    print(read_record(home).pid)"
HOLD = "with local_server(home):\n    print('held', flush=True)\n    sys.stdin.read()"
KEY = "OPENAI_API_KEY"
OTHER_PROJECT = {
    "prefect.toml": '[server.database]\nconnection_url = "no address"\n[api]\nurl = "http://a/api"\n'
    '[logging]\nlevel = "LOUD"\n[client]\nmax_retries = "many"\n',
    ".env": "PREFECT_API_URL=http://127.0.0.1:9/api\nPREFECT_SERVER_API_AUTH_STRING=a:b\n"
    "PREFECT_PROFILES_PATH=nowhere.toml\nPREFECT_RESULTS_PERSIST_BY_DEFAULT=perhaps\n",
    "pyproject.toml": "[tool.prefect\n",
}
"""Settings with which Prefect does not even start."""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working folder of another Prefect project."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in OTHER_PROJECT.items():
        (folder / name).write_text(text)
    return folder


def stays() -> dict[str, str]:
    return environment() | {"EVERGREEN_SERVER_MINUTES": "5", KEY: "a key"}


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory, elsewhere: Path) -> Iterator[Path]:
    """The home of a server whose only user has gone, who worked in another project's folder."""
    home = tmp_path_factory.mktemp("prefect")
    done = subprocess.run(
        script(home, JOIN), cwd=elsewhere, env=stays(), check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    yield home
    stop(home)
    assert not is_served(home)


def stop(home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flows", "ui", "--stop"], cwd=ROOT, check=False, text=True,
        env=stays() | {"EVERGREEN_PREFECT_HOME": str(home)}, capture_output=True,
    )  # fmt: skip


def joined(home: Path) -> int:
    """The process of the server that a further command uses."""
    said = subprocess.run(
        script(home, JOIN), env=stays(), check=True, capture_output=True, text=True
    ).stdout
    return int(said)


def recorded(home: Path) -> ServerRecord:
    record = read_record(home)
    assert record is not None
    return record


def test_a_server_that_stays_knows_no_key(left: Path) -> None:
    told = Path(f"/proc/{recorded(left).pid}/environ").read_bytes()
    assert b"PATH=" in told
    assert KEY.encode() not in told
    assert b"AUTH_STRING" not in told


def test_a_server_that_stays_is_joined_by_the_next_command(left: Path) -> None:
    before = recorded(left)
    assert answers(before)
    assert joined(left) == before.pid


def test_a_server_of_another_version_is_replaced_once_nobody_uses_it(left: Path) -> None:
    older = recorded(left).model_copy(update={"versions": "prefect 3.8.8"})
    with subprocess.Popen(
        script(left, HOLD),
        env=stays(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as user:  # fmt: skip
        assert user.stdout is not None
        assert user.stdout.readline() == b"held\n"
        write_record(left, older)
        assert joined(left) == older.pid
        user.communicate()
    assert joined(left) != older.pid
    assert recorded(left).versions == list_versions()


def test_a_server_is_not_ended_while_a_run_uses_it_which_is_named(left: Path) -> None:
    with subprocess.Popen(
        script(left, HOLD), env=stays(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == b"held\n"
        refused = stop(left)
        assert refused.returncode == 1
        assert f"in use by pid {user.pid} (" in refused.stderr
        assert is_served(left)
        user.communicate()
    ended = stop(left)
    assert (ended.returncode, is_served(left)) == (0, False)
    assert "has ended" in ended.stdout
    assert "was not running" in stop(left).stdout


PREPARED = """
    import json
    from flows.runtime.server_start import _prepared, prepare_server
    os.environ["EVERGREEN_PREFECT_HOME"] = str(home)
    prepare_server()
    [process] = _prepared.values()
    print(process.pid)
"""


def test_a_prepared_server_ends_unseen_with_a_command_that_needs_none(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"x" * (LOG_BYTES + 1))
    said = subprocess.run(
        script(tmp_path, PREPARED), env=stays(), check=True, capture_output=True, text=True
    ).stdout
    waiting.until("end of the process", lambda: not Path(f"/proc/{int(said)}/stat").exists())
    assert not is_served(tmp_path)
    assert not (tmp_path / "prefect.db").exists()
    assert log.stat().st_size < LOG_BYTES, "a log is kept for ever"


def test_a_prepared_server_is_the_one_that_serves(tmp_path: Path) -> None:
    (tmp_path / "server.json").write_text('{"pid": 1, "port": 1}')  # of one that was killed
    body = PREPARED + "    with local_server(home):\n        print(read_record(home).pid)\n"
    said = subprocess.run(
        script(tmp_path, body), env=environment(), check=True, capture_output=True, text=True
    ).stdout.split()
    assert said[0] == said[1]
    assert not is_served(tmp_path)


RUN = """
    import json
    with local_server(home) as url:
        from prefect import flow
        from prefect.settings import get_current_settings
        settings = get_current_settings()
        state = flow(lambda: None, name="run")(return_state=True)
        print(json.dumps([settings.api.url == url, settings.client.max_retries, state.name]))
"""


def test_the_settings_of_another_project_in_the_working_folder_are_not_ours(
    left: Path, elsewhere: Path
) -> None:
    done = subprocess.run(
        script(left, RUN), cwd=elsewhere, env=stays(), check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [True, 5, "Completed"]


def test_no_server_is_prepared_where_one_is(left: Path) -> None:
    joined(left)
    refused = PREPARED.replace("[process] = _prepared.values()", "process = None").replace(
        "process.pid", "len(_prepared)"
    )
    said = subprocess.run(
        script(left, refused), env=stays(), check=True, capture_output=True, text=True
    ).stdout
    assert said == "0\n"
