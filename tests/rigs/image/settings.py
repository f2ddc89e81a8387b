"""How this machine reaches Debian's mirror and Python's index. None of it is ever committed."""

import ast
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pip._internal.models.index import PyPI

REACHING = ("url", "links", "host", "proxy", "timeout", "retries")
"""How the settings of pip end that say how to reach an index: a build gets these."""
PUBLIC = {PyPI.netloc, PyPI.file_storage_domain, "localhost"}
"""Hosts that many packages name in their own documentation, as they do Debian's."""
CERTIFICATES = "/run/secrets/certificates"
"""Where a build finds the secret of that name."""


@dataclass(frozen=True)
class Mirror:
    """Where apt gets this release of Debian from."""

    address: str
    release: str


@dataclass(frozen=True)
class BuildSecrets:
    """What a build gets as secrets, and must leave in no layer."""

    files: dict[str, Path]
    canary: str
    """A random word that is in each of them."""


def find_mirror() -> Mirror:
    asked = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Identifier: Packages",
         "Component: main"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    release = _release()
    for line in asked.stdout.splitlines():
        site, _, name = line.partition(" ")
        if name == release:
            return Mirror(site, release)
    raise SystemExit(f"apt has no source of Debian {release}: debootstrap needs its mirror.")


def _release() -> str:
    text = Path("/etc/os-release").read_text("utf-8")
    pairs = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return pairs["VERSION_CODENAME"].strip('"')


def read_pip_settings() -> dict[str, str]:
    """Return the settings of pip for all commands and for `install`, as it would use them here."""
    said = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    return parse_pip_settings(said)


def parse_pip_settings(said: str) -> dict[str, str]:
    """said: what `pip config list` prints."""
    order = {"global": 0, "install": 1, ":env:": 2}
    found: list[tuple[int, str, str]] = []
    for line in said.splitlines():
        name, _, value = line.partition("=")
        section, _, key = name.partition(".")
        if section in order:
            found.append((order[section], key, str(ast.literal_eval(value))))
    return {key: value for _, key, value in sorted(found)}


def render_pip_settings(settings: Mapping[str, str], canary: str) -> str:
    """Render pip.conf. Left out is what names a folder of this machine, which no build sees."""
    lines = ["[global]", f"# {canary}", f"cert = {CERTIFICATES}"]
    for key, value in settings.items():
        values = [each for each in value.split() if not _is_local(each)]
        if values and key.endswith(REACHING):
            lines.append(f"{key} = {' '.join(values)}")
    return "\n".join([*lines, ""])


def _is_local(value: str) -> bool:
    return value.startswith(("/", ".", "file:"))


def write_secrets(folder: Path) -> BuildSecrets:
    """Write pip's settings and the certificates that it trusts for the build."""
    settings = read_pip_settings()
    trusted = Path(
        settings.get("cert")
        or os.environ.get("REQUESTS_CA_BUNDLE")
        or "/etc/ssl/certs/ca-certificates.crt"
    )
    canary = secrets.token_hex(16)
    texts = {
        "pip.conf": render_pip_settings(settings, canary),
        "certificates": f"{trusted.read_text('utf-8')}\n# {canary}\n",
    }
    files = {name: folder / name for name in texts}
    for name, path in files.items():
        path.touch(0o600)
        path.write_text(texts[name], "utf-8")
    return BuildSecrets(files, canary)


def list_private_hosts(mirror: Mirror, settings: Mapping[str, str]) -> set[str]:
    """Return hosts, and users with their passwords, that only this machine's settings name."""
    values = [mirror.address, *(value for key, value in settings.items() if "hash" not in key)]
    values += [value for key, value in os.environ.items() if key.lower().endswith("_proxy")]
    found = set[str]()
    for address in (part for value in values for part in value.split()):
        parts = urlsplit(address)
        if parts.scheme in ("http", "https") and parts.hostname:
            found |= {parts.hostname, parts.netloc.rpartition("@")[0]}
    found |= {*settings.get("trusted-host", "").split()}
    return {each for each in found if each and not _is_public(each)}


def _is_public(host: str) -> bool:
    return host in PUBLIC or host.startswith("127.") or host.endswith(".debian.org")
