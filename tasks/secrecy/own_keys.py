"""The values of our own keys, and the texts in which each would be recognized."""

import html
import json
import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

from tasks.configuration.folders import CONFIGS, ConfigSource, walk_files
from tasks.configuration.secrets import KEYS_OF_BLOCKS

NAMES = {"PGPASSWORD"}
SHORTEST = 8
"""Characters of the shortest value that is looked for."""
_KEY_NAME = re.compile(
    r"_(?:KEY|TOKEN|PASS|PASSWORD|PASSWD|PWD|PAT|SECRET|AUTH_STRING)S?(?:_?\d+)?\Z", re.IGNORECASE
)
"""The end of the name of a variable with a key, or with several between commas."""
_NAMED = re.compile(r"""\bkey_env\s*["']?\s*:\s*["']?([A-Za-z_][A-Za-z0-9_]*)""")
_IN_ADDRESS = re.compile(r"(?:://[^/\s:@]*:|\bpassword=)([^@\s&?]+)")


def load_own_keys(
    environment: Mapping[str, str] | None = None, configs: ConfigSource = CONFIGS
) -> dict[str, str]:
    """Return text → the variable whose key it is: each value, and its encoded forms.

    environment: that of this process, with the keys of Prefect's blocks, if None.
    """
    blocks: dict[str, str] = {}
    if environment is None:
        environment = os.environ
        blocks = {f"the Prefect block {name}": key for name, key in KEYS_OF_BLOCKS.items()}
    named = NAMES | _find_named(configs) | {*blocks}
    found: dict[str, str] = {}
    for name, value in [*environment.items(), *blocks.items()]:
        for secret in _find_secrets(name, value.strip(), named):
            for written in _list_ways_to_write(secret):
                found.setdefault(written, name)
    return found


def _find_secrets(name: str, value: str, named: set[str]) -> Iterator[str]:
    """Yield the secrets in a variable's value that are long enough."""
    secrets = [match[1] for match in _IN_ADDRESS.finditer(value)]
    if _KEY_NAME.search(name) or name in named:
        secrets += {value, *map(str.strip, value.split(","))}
        if name.upper().endswith("_AUTH_STRING"):
            secrets.append(value.partition(":")[2])
        if "\n" in value:
            secrets += [line for line in value.splitlines() if not line.startswith("-----")]
    yield from (secret for secret in secrets if len(secret) >= SHORTEST)


def _list_ways_to_write(secret: str) -> set[str]:
    """Return the secret as it is, and in addresses, in JSON, in HTML and in base64."""
    in_addresses = {quote(secret, safe=""), quote(secret), quote_plus(secret)}
    written = {
        secret,
        *in_addresses,
        *(re.sub("%..", lambda match: match[0].lower(), each) for each in in_addresses),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        html.escape(secret),
        html.escape(secret).replace("&quot;", "&#34;").replace("&#x27;", "&#39;"),
    }
    return written | _encode_in_base64(secret.encode())


def _encode_in_base64(secret: bytes) -> set[str]:
    """Return what base64 holds of it wherever it begins in a longer text, such as `user:key`."""
    found = set()
    for encode in (b64encode, urlsafe_b64encode):
        for before in range(3):
            bits = 8 * (before + len(secret))
            # Characters that also say something of what is before or after it are left out.
            found.add(encode(bytes(before) + secret).decode()[-(-8 * before // 6) : bits // 6])
    return {text for text in found if len(text) >= SHORTEST}


def _find_named(configs: ConfigSource) -> set[str]:
    """Return the variables that the configuration names as keys, even if it is invalid."""
    return {
        name
        for _, path in walk_files([".yaml"], configs)
        for name in _NAMED.findall("\n".join(_read_lines(path)))
    }


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
