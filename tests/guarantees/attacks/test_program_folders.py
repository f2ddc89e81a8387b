"""The folder of a participant's program"""

from pathlib import Path

import pytest

from tasks.agents.command import isolation
from tasks.agents.isolation import plan
from tests.attacks.programs import client_of, run

SECRET = "a secret that no program may see"


@pytest.fixture(autouse=True)
def floor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "find_bubblewrap", lambda: None)


def heard(tmp_path: Path, program: Path, *private: Path, **entry: object) -> str:
    """What a program says."""
    answer = run(client_of(tmp_path / "work", [str(program)], *private, **entry))
    return answer.text or answer.error or ""


def write_program(path: Path, reads: Path) -> Path:
    """A program that reads a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho start; cat '{reads}' 2>&1\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", ["lib", "lib64", "include", "pyvenv.cfg"])
def test_a_link_in_an_environment_opens_nothing(tmp_path: Path, name: str) -> None:
    """A link in a virtual environment of a program opens nothing outside of it."""
    secret = tmp_path / "home" / "secret"
    secret.parent.mkdir()
    secret.write_text(SECRET)
    program = write_program(tmp_path / "venv" / "bin" / "agent", secret)
    (tmp_path / "venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    link = tmp_path / "venv" / name
    link.unlink(missing_ok=True)
    link.symlink_to(secret if name == "pyvenv.cfg" else secret.parent)
    assert "Permission denied" in heard(tmp_path, program)


def test_a_file_of_an_environment_opens_no_folder(tmp_path: Path) -> None:
    """What a virtual environment names as its interpreter's folder opens none without one."""
    secret = tmp_path / "home" / "lib" / "secret"
    secret.parent.mkdir(parents=True)
    secret.write_text(SECRET)
    program = write_program(tmp_path / "venv" / "bin" / "agent", secret)
    (tmp_path / "venv" / "pyvenv.cfg").write_text(f"home = {tmp_path}/home/bin\n")
    assert "Permission denied" in heard(tmp_path, program)


def test_what_is_private_is_private_wherever_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A warehouse among the system's files is as private as elsewhere, also by a link to it."""
    system = tmp_path / "system"
    warehouse = system / "data" / "warehouse.duckdb"
    for place in (warehouse, system / "library"):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(SECRET)
    (system / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "outside").write_text(SECRET)
    monkeypatch.setattr(isolation, "SYSTEM", (*plan.SYSTEM, str(system)))

    def read(path: Path) -> str:
        program = write_program(tmp_path / path.name / "agent", path)
        return heard(tmp_path / path.name, program, warehouse)

    assert SECRET in read(system / "library")
    assert "Permission denied" in read(warehouse)
    assert "Permission denied" in read(system / "link")


def test_the_system_is_programs_and_libraries() -> None:
    """Of the system a program reads no folder where projects, keys or settings are kept."""
    kept = ("/usr/src/app/.env", "/usr/local/src/x", "/usr/local/etc/x", "/etc/ssl/private/x",
            "/etc/pki/tls/private/x", "/etc/passwd", "/etc/shadow", "/var/lib/x", "/home/x",
            "/opt/x", "/srv/x", "/share/x", "/run/docker.sock", "/tmp/x")  # fmt: skip
    opened = [Path(path) for path in plan.SYSTEM]
    assert [p for p in kept if any(Path(p).is_relative_to(path) for path in opened)] == []
    assert not any(Path(name).name == "share" for name in plan.OF_A_PREFIX)


def test_what_cannot_be_isolated_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program whose isolation fails as it starts does not run."""
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    assert heard(tmp_path / "1", program) == "ran\n"
    monkeypatch.setattr(isolation, "find_bubblewrap", lambda: "/bin/false")
    assert "ran" not in heard(tmp_path / "2", program)
    monkeypatch.setattr(isolation, "find_bubblewrap", lambda: None)
    monkeypatch.setattr(isolation, "SYSTEM", (*plan.SYSTEM, "/etc/hosts/no-folder"))
    assert "ran" not in heard(tmp_path / "3", program)
