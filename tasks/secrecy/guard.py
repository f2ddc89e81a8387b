"""Check texts and tables for keys before they leave the house.

`SUSPECT` is for the fast engines, Rust (Polars) and RE2 (DuckDB), which leave little for Python.
"""

import html
import json
import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

import polars as pl

from tasks.configuration.folders import CONFIGS, ConfigSource, walk_files
from tasks.configuration.secrets import KEYS_OF_BLOCKS
from tasks.errors import ExpectedError
from tasks.masking import MASK, SUSPECT, SecretMask, find_forms, hide_forms, name_form
from tasks.warehouse.tables import TABLES

THIRD_PARTY: dict[str, tuple[str, ...]] = {
    "candidates": ("title", "url"),
    "articles": ("title", "text"),
    "article_revisions": ("html",),
    "article_links": ("url", "raw_url", "archive_url"),
    "facts": ("text",),
    "rubrics": ("text", "explanation"),
    "key_points": ("text",),
    "clicked_documents": ("url", "raw_url"),
    "seed_pages": ("url", "raw_url"),
    "fetches": ("final_url", "redirects", "headers"),
    "pages": ("title", "text", "final_url"),
    "absent_pages": ("evidence",),
    "search_traces": ("trace",),
    "calls": ("prompt", "answer", "raw"),  # they quote pages
    "verdicts": ("evidence",),
}
"""Table → columns with others' texts, or quotations of them. A key there is not ours."""
KEYS = {model.table: model.key for model in TABLES}
NAMES = {"PGPASSWORD"}
SHORTEST = 8
"""Characters of the shortest value that is looked for."""
_KEY_NAME = re.compile(
    r"_(?:KEY|TOKEN|PASS|PASSWORD|PASSWD|PWD|PAT|SECRET|AUTH_STRING)S?(?:_?\d+)?\Z", re.IGNORECASE
)
"""The end of the name of a variable with a key, or with several between commas."""
_NAMED = re.compile(r"""\bkey_env\s*["']?\s*:\s*["']?([A-Za-z_][A-Za-z0-9_]*)""")
_IN_ADDRESS = re.compile(r"(?:://[^/\s:@]*:|\bpassword=)([^@\s&?]+)")


class LeakedKey(ExpectedError):
    """What is to be published, exported or backed up holds a key; the message never shows it."""


class KeyGuard:
    """Stops where a key is, and masks the keys in others' texts."""

    def __init__(
        self, own: Mapping[str, str] | None = None, *, stops_at_forms: bool = True
    ) -> None:
        """Args:
        own: texts → the variable whose key each is; those of the environment if None.
        stops_at_forms: False: what only looks like a key never stops, whoever has written it.
        """
        self._own = load_own_keys() if own is None else own
        self._stops_at_forms = stops_at_forms
        self._own_keys = SecretMask(self._own, MASK)
        literals = sorted(self._own, key=len, reverse=True)
        self.pattern = "|".join((*map(_escape, literals), SUSPECT))
        """For Rust and RE2: whatever holds a key matches it."""
        self._masked: dict[str, int] = {}
        self._others: set[str] = set()
        """The keys found in others' texts."""

    @property
    def n_masked(self) -> int:
        """The number of keys in others' texts."""
        return sum(self._masked.values())

    def check(self, text: str, where: str) -> str:
        """Return the text, with the keys masked that others' texts hold.

        Raises:
            LeakedKey: it holds another one; the message names `where`.
        """
        return self._clean(text, where, known=self._others) if self._is_suspect(text) else text

    def mask(self, text: str, where: str) -> str:
        """Return another's text with its keys masked.

        Raises:
            LeakedKey: it holds one of ours; the message names `where`.
        """
        return self._clean(text, where, is_others=True) if self._is_suspect(text) else text

    def check_bytes(self, data: bytes, where: str) -> None:
        """Check bytes, which cannot be masked, for our keys.

        Raises:
            LeakedKey: they hold one; the message names `where`.
        """
        if own := self._own_keys.find_in_bytes(data):
            raise self._make_error(where, f"the value of {self._own[own]}")

    def hide_own(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Return the text without our keys, and the variables whose keys it held."""
        named = sorted({self._own[found] for found in self._own_keys.find(text)})
        return self._own_keys.hide(text), tuple(named)

    def check_frame(
        self, frame: pl.DataFrame, table: str, others: Collection[str] = ()
    ) -> pl.DataFrame:
        """Return the rows of a table, with the keys masked in others' texts.

        others: more columns with others' texts.

        Raises:
            LeakedKey: a row holds another one; the message names table, row and field.
        """
        for name in (name for name, kind in frame.schema.items() if kind == pl.String):
            suspect = frame[name].str.contains(self.pattern).fill_null(False)
            if suspect.any():
                values = frame[name].to_list()
                for place in suspect.arg_true():
                    row = frame.row(place, named=True)
                    values[place] = self.check_value(row, table, name, others)
                frame = frame.with_columns(pl.Series(name, values, pl.String))
        return frame

    def check_value(
        self, row: Mapping[str, object], table: str, name: str, others: Collection[str] = ()
    ) -> str:
        """Return the text of a row's field, as `check_frame` does."""
        text = str(row[name])
        if not self._is_suspect(text):
            return text
        is_others = name in others or name in THIRD_PARTY.get(table, ())
        named = ", ".join(f"{key} {row[key]}" for key in KEYS.get(table, ()) if key in row)
        where = f"{table}, row {named or '?'}, field {name}"
        return self._clean(text, where, is_others=is_others)

    def _clean(
        self,
        text: str,
        where: str,
        *,
        is_others: bool = False,
        known: Collection[str] = (),
    ) -> str:
        """Mask the keys of another's text, and those that are known to be in one."""
        if own := self._own_keys.find(text):
            raise self._make_error(where, f"the value of {self._own[own[0]]}")
        parts, end = [], 0
        for start, stop in find_forms(text):
            key = text[start:stop]
            if is_others or not self._stops_at_forms:
                self._others.add(key)
            elif key not in known:
                raise self._make_error(where, f"what looks like a key ({name_form(key)})")
            parts += [text[end:start], MASK]
            end = stop
        if parts and not known:
            self._masked[where] = len(parts) // 2
        return "".join((*parts, text[end:]))

    def _is_suspect(self, text: str) -> bool:
        return bool(pl.Series([text]).str.contains(self.pattern)[0])

    def _make_error(self, where: str, what: str) -> LeakedKey:
        place = hide_forms(self._own_keys.hide(where))
        return LeakedKey(
            f"{place}: it holds {what}, so nothing was written. Take it out there and replace "
            "that key, since others may have read it. If it is no key but a common word, give "
            "the variable a longer value."
        )


def _escape(text: str) -> str:
    """Escape a literal for both."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\x{{{ord(c):x}}}" for c in text)


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
