"""The forms of providers' keys: long and random enough that neither prose nor a sha-256 has them.

`SUSPECT` is for the fast engines, Rust (Polars) and RE2 (DuckDB), which leave little for Python.
"""

import re
from collections.abc import Iterator
from math import log2

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
