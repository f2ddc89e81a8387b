"""Check texts and tables for keys before they leave the house."""

import re
from collections.abc import Mapping

import polars as pl

from tasks.secrecy.errors import LeakedKey
from tasks.secrecy.forms import ANY_FORM, find_forms, name_form
from tasks.secrecy.own_keys import load_own_keys
from tasks.warehouse.tables import TABLES

MASK = "[a key was here]"
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
    "search_traces": ("trace",),
    "calls": ("prompt", "answer", "raw"),  # they quote pages
    "verdicts": ("evidence",),
}
"""Table → columns with others' texts, or quotations of them. A key there is not ours."""
KEYS = {model.table: model.key for model in TABLES}


class KeyGuard:
    """Stops where a key is, and masks the keys in others' texts."""

    def __init__(self, own: Mapping[str, str] | None = None) -> None:
        """own: texts → the variable whose key each is; those of the environment if None."""
        self._own = load_own_keys() if own is None else own
        literals = sorted(self._own, key=len, reverse=True)
        self._own_keys = re.compile("|".join(map(re.escape, literals)) or "(?!)")
        self.pattern = "|".join((*map(_escape, literals), ANY_FORM))
        """For Rust and RE2: whatever holds a key matches it, and little else."""
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
        return self._clean(text, where, is_others=False) if self._is_suspect(text) else text

    def mask(self, text: str, where: str) -> str:
        """Return another's text with its keys masked.

        Raises:
            LeakedKey: it holds one of ours; the message names `where`.
        """
        return self._clean(text, where, is_others=True) if self._is_suspect(text) else text

    def check_frame(self, frame: pl.DataFrame, table: str) -> pl.DataFrame:
        """Return the rows of a table, with the keys masked that others' texts hold.

        Raises:
            LeakedKey: a row holds another one; the message names table, row and field.
        """
        texts = [name for name, kind in frame.schema.items() if kind == pl.String]
        for name in sorted(texts, key=lambda name: name not in THIRD_PARTY.get(table, ())):
            suspect = frame[name].str.contains(self.pattern).fill_null(False)
            if suspect.any():
                frame = frame.with_columns(self._clean_column(frame, table, name, suspect))
        return frame

    def check_value(self, row: Mapping[str, object], table: str, name: str) -> str:
        """Return the text of a row's field, as `check_frame` does."""
        text = str(row[name])
        if not self._is_suspect(text):
            return text
        is_others = name in THIRD_PARTY.get(table, ())
        return self._clean(text, self._name_field(row, table, name), is_others=is_others)

    def _clean_column(
        self, frame: pl.DataFrame, table: str, name: str, suspect: pl.Series
    ) -> pl.Series:
        values = frame[name].to_list()
        for place in suspect.arg_true():
            values[place] = self.check_value(frame.row(place, named=True), table, name)
        return pl.Series(name, values, pl.String)

    def _clean(self, text: str, where: str, *, is_others: bool) -> str:
        if own := self._own_keys.search(text):
            raise self._make_error(where, f"the value of {self._own[own[0]]}")
        parts, end = [], 0
        for start, stop in find_forms(text):
            key = text[start:stop]
            if is_others:
                self._others.add(key)
            elif key not in self._others:
                raise self._make_error(where, f"what looks like a key ({name_form(key)})")
            parts += [text[end:start], MASK]
            end = stop
        if is_others and parts:
            self._masked[where] = len(parts) // 2
        return "".join((*parts, text[end:]))

    def _is_suspect(self, text: str) -> bool:
        return bool(pl.Series([text]).str.contains(self.pattern)[0])

    def _name_field(self, row: Mapping[str, object], table: str, name: str) -> str:
        named = ", ".join(f"{key} {row[key]}" for key in KEYS.get(table, ()) if key in row)
        return f"{table}, row {named or '?'}, field {name}"

    def _make_error(self, where: str, what: str) -> LeakedKey:
        place = re.sub(ANY_FORM, MASK, self._own_keys.sub(MASK, where))
        return LeakedKey(
            f"{place}: it holds {what}, so nothing was written. Take it out there and replace "
            "that key, since others may have read it. If it is no key but a common word, give "
            "the variable a longer value."
        )


def _escape(text: str) -> str:
    """Escape a literal for both."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\x{{{ord(c):x}}}" for c in text)
