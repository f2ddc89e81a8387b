"""The one place where secrets are taken out of texts: those whose values are known, and what has
the form of a provider's key.

It uses the standard library alone, for the supervisors of programs, of which there are many.
`tasks.secrecy` says what may leave the house.
"""

import os
import re
from collections.abc import Iterable, Iterator
from math import log2

MASK = "[a key was here]"
"""In the place of a key in what is published, exported or kept."""
OWN_KEY = "[key]"
"""In the place of the key of a request in what its endpoint says."""
HIDDEN = "[hidden]"
"""In the place of a secret in a program's output, and in a command line."""


class SecretMask:
    """Takes secrets whose values are known out of texts."""

    def __init__(self, secrets: Iterable[str], mark: str = HIDDEN) -> None:
        """mark: what stands in their place."""
        # The longest first, since one may contain another.
        known = sorted({*secrets} - {""}, key=lambda secret: (-len(secret), secret))
        encoded = [secret.encode("utf-8", "surrogateescape") for secret in known]
        self.n_bytes = max(map(len, encoded), default=0)
        """Of the longest secret."""
        self._mark = mark
        self._pattern = re.compile("|".join(map(re.escape, known)) or "(?!)")
        self._bytes_pattern = re.compile(b"|".join(map(re.escape, encoded)) or b"(?!)")

    def hide(self, text: str) -> str:
        return self._pattern.sub(self._mark, text)

    def hide_in_bytes(self, data: bytes) -> bytes:
        return self._bytes_pattern.sub(self._mark.encode(), data)

    def find(self, text: str) -> list[str]:
        """Return the secrets in a text, in their order."""
        return self._pattern.findall(text)

    def find_in_bytes(self, data: bytes) -> str | None:
        """Return the first secret in these bytes; None if they hold none."""
        found = self._bytes_pattern.search(data)
        return found[0].decode("utf-8", "surrogateescape") if found else None


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


def hide_forms(text: str) -> str:
    """Return a text with whatever has the form of a key masked, however unlikely it is one."""
    return _ANY.sub(MASK, text)


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


MIN_SECRET_CHARS = 6
"""Shorter values of variables are no secrets; hiding them would hide words."""
MAX_CHARS = 1000
"""A longer command line is cut."""
_SECRET_NAME = re.compile(
    r"pass(?:word|wd|phrase)|secret|token|credential|authorization|signature|cookie"
    r"|api.?key|access.?key|private.?key|(?:^|[^a-z])(?:key|auth|pat|pwd|sig)(?:$|[^a-z])",
    re.IGNORECASE,
)
_VARIABLE_NAME = re.compile(r"[_-]env$", re.IGNORECASE)
"""The end of options that name the variable of a secret, which is none itself."""
_USER_INFO = re.compile(r"(?<=://)(?:[^\s/@:]*:[^\s@]*|[^\s/?#@]*)@")
"""The part of a URL before its host: a password, or a token as the user."""
_SETTING = re.compile(r"""([\w.\[\]%-]+)(\s*=\s*|:\s+)('[^']*'|"[^"]*"|[^&;,#\s]+)""")
"""A `name=value` or `name: value`, in a URL, a connection string or a header."""
_GIVEN_KEY = re.compile(rf"(?<!\w)(?:(?:bearer|basic)\s+\S+|(?:{SUSPECT})[\w-]*)", re.IGNORECASE)


def hide_in_command(text: str) -> str:
    """Return what somebody gave, such as a command line, without secrets, and cut."""
    in_variables = SecretMask(
        part
        for name, value in os.environ.items()
        if _SECRET_NAME.search(name)
        for part in (value, *value.split(","))
        if len(part) >= MIN_SECRET_CHARS
    )
    text = _USER_INFO.sub(f"{HIDDEN}@", in_variables.hide(text))
    text = _SETTING.sub(_hide_setting, _GIVEN_KEY.sub(HIDDEN, text))
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}…"


def _hide_setting(match: re.Match[str]) -> str:
    name, between, _ = match.groups()
    is_secret = _SECRET_NAME.search(name) and not _VARIABLE_NAME.search(name)
    return f"{name}{between}{HIDDEN}" if is_secret else match.group()
