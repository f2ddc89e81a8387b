"""A thief who looks for the key that signs."""

import tarfile
from pathlib import Path

import pytest

from tasks.backup.creation import create_backup
from tasks.signing.keys import (
    KEY_VARIABLE,
    PUBLIC_NAME,
    SECRET_NAME,
    find_signer,
    load_signer,
    make_keys,
)
from tasks.signing.signatures import UnusableKey
from tests.attacks.keys import ROOT, copied_by_the_image
from tests.guarantees.attacks.test_signatures import publish, warehouse

__all__ = ["warehouse"]
pytestmark = pytest.mark.file_only


def test_the_secret_key_lies_in_nothing_that_is_made(
    warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The secret key is in no site and no backup, even if it lies beside the warehouse."""
    secret = make_keys(warehouse.parent, None).secret
    monkeypatch.setenv(KEY_VARIABLE, str(secret))
    site = publish(tmp_path / "site", find_signer())
    backup = create_backup(warehouse, tmp_path / "b.tar", signer=find_signer()).place
    with tarfile.open(backup) as tar:
        made = [opened.read() for member in tar if (opened := tar.extractfile(member))]
    made += [path.read_bytes() for path in site.rglob("*") if path.is_file()]
    secret_line = secret.read_bytes().splitlines()[1]
    assert made
    assert not any(secret_line[60:] in data for data in made)  # its end is what is secret


def test_the_secret_key_is_in_no_image() -> None:
    """The image holds no file named as a secret key, wherever it lies in the checkout."""
    for folder in ("flows", "tasks", "configs", "data/sample", "."):
        assert not copied_by_the_image(f"{folder}/{SECRET_NAME}"), folder
    assert copied_by_the_image("configs/judges.yaml")
    assert "*.key" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


def test_a_secret_key_is_its_owners_alone(tmp_path: Path) -> None:
    """A secret key that others may read is refused; a new one is readable by its owner alone."""
    secret = make_keys(tmp_path, None).secret
    assert secret.stat().st_mode & 0o777 == 0o600
    secret.chmod(0o640)
    with pytest.raises(UnusableKey, match="others may read"):
        load_signer(secret, None)


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    """A new key pair overwrites no other, and follows no link."""
    made = make_keys(tmp_path, None)
    before = made.secret.read_bytes()
    with pytest.raises(UnusableKey, match="exists"):
        make_keys(tmp_path, None)
    made.public.unlink()
    with pytest.raises(UnusableKey, match="exists"):
        make_keys(tmp_path, None)
    assert made.secret.read_bytes() == before
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / PUBLIC_NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnusableKey, match="exists"):
        make_keys(tmp_path / "b", None)
    assert not (tmp_path / "b" / SECRET_NAME).exists()


def test_a_key_that_appears_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that another command makes at the same moment is not overwritten."""
    made = make_keys(tmp_path, None)
    before = made.secret.read_bytes()
    monkeypatch.setattr("os.path.lexists", lambda _: False)
    with pytest.raises(UnusableKey, match="could not be written"):
        make_keys(tmp_path, None)
    assert made.secret.read_bytes() == before


@pytest.mark.parametrize("password", [None, "", "wrong"])
def test_an_encrypted_key_needs_its_password(password: str | None, tmp_path: Path) -> None:
    """An encrypted key signs nothing without its password, and no message shows either."""
    secret = make_keys(tmp_path, "correct horse").secret
    with pytest.raises(UnusableKey) as raised:
        load_signer(secret, password)
    assert "wrong" not in str(raised.value).replace("password is wrong", "")
    assert load_signer(secret, "correct horse").key_id
