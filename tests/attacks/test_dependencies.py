"""The publisher of a package that we depend on."""

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.dependencies.audit import judge, main
from tests.dependencies.locks import LOCKS, OF_THE_IMAGE, ROOT

FOUND = {"name": "jinja2", "version": "2.4.1",
         "vulns": [{"id": "PYSEC-2014-8", "fix_versions": ["2.7.2"]}]}  # fmt: skip
CLEAN = {"name": "idna", "version": "3.10", "vulns": []}
UNKNOWN = {"name": "ours", "skip_reason": "Dependency not found on PyPI"}
ASKED = {
    "a vulnerability": ([CLEAN, FOUND], 1, "jinja2 2.4.1: PYSEC-2014-8, fixed in 2.7.2"),
    "none": ([CLEAN], 0, "No known vulnerability in 1 packages."),
    "some unknown": ([CLEAN, UNKNOWN], 0, "NOT CHECKED, as the service does not know them: 1"),
    "all unknown": ([UNKNOWN], 0, "DID NOT RUN"),
}


@pytest.mark.parametrize("case", ASKED)
def test_a_known_vulnerability_fails_the_audit(case: str) -> None:
    """`make audit` fails on a known vulnerability, and names what it could not check."""
    packages, code, said = ASKED[case]
    found: dict[str, Any] = {"dependencies": packages}
    ended, told = judge(found, "")
    assert ended == code
    assert said in told


def test_an_audit_without_a_network_says_that_it_did_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a network `make audit` says that it did not run, and never that all is well."""
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # nothing that was answered before
    assert main(["requirements-sandbox.lock"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("make audit DID NOT RUN: nobody could be asked")
    assert "No known" not in said


def test_a_wrong_lock_fails_the_audit() -> None:
    """A lock that cannot be read fails `make audit`: it is no reason not to run."""
    assert judge(None, "Error: requirements.lock: invalid requirement")[0] == 2


@pytest.mark.parametrize("lock", LOCKS)
def test_everything_is_pinned_by_its_hash(lock: str) -> None:
    """Every package is installed in one version, by the hashes of its files."""
    text = (ROOT / lock).read_text("utf-8")
    pins = [part for part in re.split(r"\n(?=\S)", text) if part.strip()]
    assert pins
    for pin in pins:
        assert re.match(r"[a-z0-9._-]+(\[[a-z,-]+\])?==\S+", pin), pin
        assert "--hash=sha256:" in pin, pin
    assert "://" not in text


def test_the_image_carries_the_list_of_what_it_installs() -> None:
    """The image has a CycloneDX list of all that its locks install; its label has the sha256. It
    has no address of an index, no time and no host: the same locks, the same bytes."""
    from tests.dependencies import sbom

    text = sbom.SBOM.read_text("utf-8")
    assert text == sbom.render_sbom(), "run make sbom"
    assert {*re.findall(r"https?://[^/\"]+", text)} <= {"http://cyclonedx.org"}
    assert "timestamp" not in text
    dockerfile = sbom.DOCKERFILE.read_text("utf-8")
    final = dockerfile[dockerfile.rindex("\nFROM ") :].splitlines()
    assert "COPY sbom.cdx.json /opt/evergreen/sbom.cdx.json" in final
    [label] = [line for line in final if line.startswith("LABEL ")]
    assert f'evergreen.sbom.sha256="{sha256(text.encode()).hexdigest()}"' in label
    assert "!sbom.cdx.json" in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    listed = {(part["name"], part["version"]) for part in json.loads(text)["components"]}
    for lock in OF_THE_IMAGE:
        pins = re.findall(r"^([a-z0-9._-]+)==(\S+)( ;)?", (ROOT / lock).read_text("utf-8"), re.M)
        assert {(name, version) for name, version, marker in pins if not marker} <= listed
