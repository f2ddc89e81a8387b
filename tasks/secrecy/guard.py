"""Check texts and tables for keys before they leave the house.

Providers' keys have forms: long and random enough that neither prose nor a sha-256 has them.
`SUSPECT` is for the fast engines, Rust (Polars) and RE2 (DuckDB), which leave little for Python.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from math import log2

import polars as pl

from tasks.errors import ExpectedError
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
    "absent_pages": ("evidence",),
    "search_traces": ("trace",),
    "calls": ("prompt", "answer", "raw"),  # they quote pages
    "verdicts": ("evidence",),
}
"""Table → columns with others' texts, or quotations of them. A key there is not ours."""
KEYS = {model.table: model.key for model in TABLES}
FORMS: dict[str, str] = {
    "Anthropic": r"sk-ant-[A-Za-z0-9_-]{20,}",
    "OpenAI": r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}",
    "OpenAI, DashScope or their like": r"sk-[A-Za-z0-9_-]{20,}",
    "Google": r"AIza[A-Za-z0-9_-]{35}",
    "Google (new form)": r"AQ\.[A-Za-z0-9_-]{40,}",
    "xAI": r"xai-[A-Za-z0-9]{20,}",
    "Perplexity": r"pplx-[A-Za-z0-9]{20,}",
    "Jina": r"jina_[A-Za-z0-9_-]{30,}",
    "GitHub": r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}",
    "GitLab": r"glpat-[A-Za-z0-9_-]{20,}",
    "AWS": r"(?:AKIA|ASIA)[A-Z2-7]{16}",
    "Slack": r"xox[a-z]-[A-Za-z0-9-]{20,}|xapp-[A-Za-z0-9-]{20,}",
    "Hugging Face": r"hf_[A-Za-z0-9]{30,}",
    "Groq": r"gsk_[A-Za-z0-9]{40,}",
    "Tavily": r"tvly-[A-Za-z0-9-]{24,}",
    "Stripe": r"[rs]k_(?:live|test)_[A-Za-z0-9]{20,}",
    "Prefect": r"pn[bu]_[A-Za-z0-9]{30,}",
    "PEM": (
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^A-Za-z0-9+/]*(?:Proc-Type|DEK-Info|Version|Comment|Hash)[^\n]*)*"
        r"[A-Za-z0-9+/=\s\\]{40,}(?:-----END [A-Z0-9 ]*-----)?"
    ),
    "minisign": r"RW(?:RTY0Iy|QAAEIy)[A-Za-z0-9+/=]{100,}",
}
"""Whose key → its form."""
SUSPECT = (
    r"(?:sk[-_]|rk_|AIza|AQ\.|xai-|pplx-|jina_|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|xox[a-z]-|xapp-"
    r"|hf_|gsk_|tvly-|pn[bu]_)[A-Za-z0-9_-]{16}|-----BEGIN [A-Z0-9 ]*PRIVATE KEY|RWRTY0Iy|RWQAAEIy"
)
"""Whatever has one of the forms matches it. It must be short: DuckDB compiles it for each query,
which took 50 ms for all forms."""
ANY_FORM = "|".join(f"(?:{form})" for form in FORMS.values())
LEAST_BITS = 3.0
"""Bits for each character of what is random enough: a hex number has 3.5 and more."""
_ANY = re.compile(ANY_FORM)
_RUN = re.compile("[A-Za-z0-9]{16,}")
_IN_SIGNED_ADDRESS = re.compile(r"(?:Credential|AccessKeyId)(?:=|%3[Dd])\Z")
"""Such an address names the id of the key that signed it, which is of no use to others."""
_NAMED = [(name, re.compile(form)) for name, form in FORMS.items()]
_LETTER_OF_ESCAPE = re.compile(r"\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}")
"""What ends in a letter or a digit without being a word: in JSON, in addresses."""


def name_form(found: str) -> str:
    """Return whose key a text has the form of."""
    return next(name for name, form in _NAMED if form.fullmatch(found))


def find_forms(text: str) -> Iterator[tuple[int, int]]:
    """Yield beginning and end of whatever is likely a key."""
    place = 0
    while match := _ANY.search(text, place):
        likely = _is_likely(text, *match.span())
        if likely:
            yield match.span()
        place = match.end() if likely else match.start() + 1


def _is_likely(text: str, start: int, end: int) -> bool:
    """Whether what has a key's form stands on its own and is random enough to be one."""
    found = text[start:end]
    if found.startswith(("-----", "RW")):
        return True
    if not _begins_word(text, start):
        return False
    if found.startswith(("AKIA", "ASIA")):
        is_whole = not text[end : end + 1].isalnum()
        return is_whole and not _IN_SIGNED_ADDRESS.search(text[max(0, start - 20) : start])
    # A name joined by hyphens has no long run: sk-hynix-posts-record-profits-in-2025.
    runs = [found] if found.startswith("AIza") else _RUN.findall(found)
    return any(any(c.isdigit() for c in run) and _measure_bits(run) >= LEAST_BITS for run in runs)


def _measure_bits(text: str) -> float:
    """Return the Shannon entropy of a text's characters."""
    shares = [text.count(c) / len(text) for c in set(text)]
    return -sum(share * log2(share) for share in shares)


def _begins_word(text: str, start: int) -> bool:
    before = text[max(0, start - 6) : start]
    if not before or not (before[-1].isascii() and before[-1].isalnum()):
        return True
    return any(before.endswith(match[0]) for match in _LETTER_OF_ESCAPE.finditer(before))


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
        literals = sorted(self._own, key=len, reverse=True)
        self._own_keys = re.compile("|".join(map(re.escape, literals)) or "(?!)")
        self._own_bytes = re.compile(self._own_keys.pattern.encode())
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
        if own := self._own_bytes.search(data):
            raise self._make_error(where, f"the value of {self._own[own[0].decode()]}")

    def hide_own(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Return the text without our keys, and the variables whose keys it held."""
        named = sorted({self._own[found] for found in self._own_keys.findall(text)})
        return self._own_keys.sub(MASK, text), tuple(named)

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
        return self._clean(text, self._name_field(row, table, name), is_others=is_others)

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
        if own := self._own_keys.search(text):
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
