"""Another user, or another process, at the files with our passwords and keys"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.runtime.login import PasswordError, read_password
from tasks.configuration.errors import ConfigurationError
from tasks.sandbox.tokens import find_token_key
from tests.attacks.keys import ROOT, copied_by_the_image

FILES = [
    pytest.param(read_password, "password", PasswordError, id="password"),
    pytest.param(find_token_key, "token-key", ConfigurationError, id="key"),
]
Reader = Callable[[Path], object]
given = pytest.mark.parametrize(("read", "name", "error"), FILES)


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVERGREEN_SANDBOX_KEY", raising=False)


@given
def test_two_processes_that_make_a_secret_agree(
    read: Reader, name: str, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A secret that two processes make at once is one secret, and nobody sees half of it."""
    fdopen, others = os.fdopen, []

    def while_others_look(*arguments: object, **more: object) -> object:
        monkeypatch.setattr(os, "fdopen", fdopen)
        others.append(read(tmp_path))
        return fdopen(*arguments, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "fdopen", while_others_look)
    assert read(tmp_path) == read(tmp_path) == others[0]
    assert [path.name for path in tmp_path.iterdir()] == [name]


@given
def test_a_secret_is_its_owners_alone(
    read: Reader, name: str, error: type[Exception], tmp_path: Path
) -> None:
    """A password or key is random, belongs to one folder, and only its owner can read it."""
    secret = read(tmp_path)
    (tmp_path / "other").mkdir()
    assert secret == read(tmp_path) != read(tmp_path / "other")
    assert len(str(secret)) > 40
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    (tmp_path / name).chmod(0o640)
    with pytest.raises(error, match="can be read by others"):
        read(tmp_path)


@given
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_secret_that_another_user_planted_is_refused(
    read: Reader, name: str, error: type[Exception], tmp_path: Path
) -> None:
    """A password or key that another user made is not used."""
    read(tmp_path)
    os.chown(tmp_path / name, 12345, 12345)
    with pytest.raises(error, match="can be read by others"):
        read(tmp_path)


@given
def test_what_is_no_file_is_no_secret(
    read: Reader, name: str, error: type[Exception], tmp_path: Path
) -> None:
    """A pipe or a link in the place of a password or key is neither used nor waited for."""
    os.mkfifo(tmp_path / name, 0o600)
    with pytest.raises(error):
        read(tmp_path)
    (tmp_path / name).unlink()
    (tmp_path / "known").write_text("evergreen:known-to-others")
    (tmp_path / "known").chmod(0o600)
    (tmp_path / name).symlink_to(tmp_path / "known")
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        read(tmp_path)


def test_no_file_named_as_a_secret_key_is_in_the_image() -> None:
    """The image holds no file named as a secret key, wherever it lies in the checkout."""
    for folder in ("flows", "tasks", "configs", "data/sample", "."):
        assert not copied_by_the_image(f"{folder}/minisign.key"), folder
    assert copied_by_the_image("configs/judges.yaml")
    assert "*.key" in (ROOT / ".gitignore").read_text("utf-8").splitlines()
