"""A forger of results, against readers with Debian's minisign and no Evergreen."""

import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli.main import app
from tasks.publishing.site import build_site
from tasks.signing.keys import KEY_VARIABLE, PASSWORD_VARIABLE, load_signer, make_keys
from tasks.signing.signatures import load_public_key
from tasks.warehouse.reader import open_for_reading
from tests.flows.conftest import sample

__all__ = ["sample"]
pytestmark = [
    pytest.mark.rig,
    pytest.mark.skipif(not shutil.which("minisign"), reason="minisign is not installed"),
]


def minisign(*arguments: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["minisign", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """One that a command may change."""
    for name in (KEY_VARIABLE, PASSWORD_VARIABLE):
        monkeypatch.setenv(name, "")
    return monkeypatch


def evergreen(*arguments: object) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_minisign_verifies_sites_and_backups(
    sample: Path, tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    """Debian's minisign verifies sites, edition manifests and backups, and refuses a change."""
    environment.setenv(PASSWORD_VARIABLE, "correct horse")
    evergreen("keys", "new", "--to", tmp_path)
    secret, public = tmp_path / "evergreen.key", tmp_path / "evergreen.pub"
    with open_for_reading(sample) as source:
        build_site(source, "sample", tmp_path / "site", signer=load_signer(secret, "correct horse"))
    evergreen("backup", "--to", tmp_path / "backups", "--sign", secret, "--warehouse", sample)
    [dated] = (tmp_path / "backups").glob("*Z")
    key_id = load_public_key(public).key_id
    for file in (
        tmp_path / "site" / "site.json",
        tmp_path / "site" / "data" / "manifest.json",
        dated / "manifest.json",
    ):
        found = minisign("-Vm", file, "-p", public)
        assert found.returncode == 0, found.stderr
        assert f"file:{file.name}" in found.stdout
    for folder in ("site", "backups"):
        assert f"signed by the key {key_id}" in evergreen(
            "keys", "verify", tmp_path / folder, "-p", public
        )
    page = (tmp_path / "site" / "data.html").read_text("utf-8")
    assert f"Signature: by the key <code>{key_id}</code>" in page
    file = tmp_path / "site" / "site.json"
    file.write_bytes(file.read_bytes() + b" ")
    assert minisign("-Vm", file, "-p", public).returncode == 1


def test_we_verify_and_sign_by_a_key_of_minisign(tmp_path: Path) -> None:
    """A key that minisign has made signs and verifies here as well, under the same id."""
    secret, public = tmp_path / "m.key", tmp_path / "m.pub"
    assert minisign("-G", "-W", "-s", secret, "-p", public).returncode == 0
    key = load_public_key(public)
    assert key.key_id in public.read_text("ascii")
    signed = load_signer(secret, None).sign(b"data", "data")
    assert key.check(b"data", signed, "data").key_id == key.key_id
    (tmp_path / "data").write_bytes(b"data")
    assert minisign("-Sm", tmp_path / "data", "-s", secret).returncode == 0
    signature = (tmp_path / "data.minisig").read_bytes()
    assert key.check(b"data", signature, "data").key_id == key.key_id


def test_ids_are_written_as_minisign_writes_them(tmp_path: Path) -> None:
    """A key's id is the one that minisign names when a signature is another key's."""
    ours, theirs = (make_keys(tmp_path / name, None) for name in ("ours", "theirs"))
    (tmp_path / "data").write_bytes(b"data")
    signed = load_signer(theirs.secret, None).sign(b"data", "data")
    (tmp_path / "data.minisig").write_bytes(signed)
    found = minisign("-Vm", tmp_path / "data", "-p", ours.public)
    assert found.returncode == 1
    assert theirs.key_id in found.stderr
    assert ours.key_id in found.stderr
