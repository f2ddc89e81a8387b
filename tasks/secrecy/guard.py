"""Check texts and tables for keys before they leave the house.

`SUSPECT` is for the fast engines, Rust (Polars) and RE2 (DuckDB), which leave little for Python.
"""

from collections.abc import Collection, Mapping

import polars as pl

from tasks.errors import ExpectedError
from tasks.masking import MASK, SUSPECT, SecretMask, find_forms, hide_forms, name_form
from tasks.secrecy.own_keys import load_own_keys
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
                frame = frame.with_columns(self._clean_column(frame, table, name, suspect, others))
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

    def _clean_column(
        self,
        frame: pl.DataFrame,
        table: str,
        name: str,
        suspect: pl.Series,
        others: Collection[str],
    ) -> pl.Series:
        values = frame[name].to_list()
        for place in suspect.arg_true():
            values[place] = self.check_value(frame.row(place, named=True), table, name, others)
        return pl.Series(name, values, pl.String)

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
