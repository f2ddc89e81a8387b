"""Command lines without secrets, for processes that wait."""

import os
import re

from tasks.warehouse.rows import replace_surrogates

HIDDEN = "[hidden]"
MAX_CHARS = 1000
"""Longer texts are cut."""
MIN_SECRET_CHARS = 6
"""Shorter values of variables are no secrets; hiding them would hide words."""
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
_KNOWN_KEY = re.compile(
    r"\b(?:bearer|basic)\s+\S+"
    r"|\b(?:sk|pk|rk)-[\w-]{12,}|\bAIza[\w-]{20,}|\bgh[opsu]_\w{20,}|\bgithub_pat_\w{20,}"
    r"|\bxox[abprs]-[\w-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bhf_\w{20,}|\bpplx-\w{20,}",
    re.IGNORECASE,
)
"""What providers' keys look like."""


def hide_secrets(text: str) -> str:
    """Return a text, such as a command line, without secrets."""
    for secret in _find_secrets():
        text = text.replace(secret, HIDDEN)
    text = _USER_INFO.sub(f"{HIDDEN}@", text)
    text = _SETTING.sub(_hide_setting, _KNOWN_KEY.sub(HIDDEN, text))
    text = replace_surrogates(text)
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}…"


def _find_secrets() -> list[str]:
    """Return the values of this process's variables that hold secrets, the longest first."""
    values = {
        part
        for name, value in os.environ.items()
        if _SECRET_NAME.search(name)
        for part in (value, *value.split(","))
        if len(part) >= MIN_SECRET_CHARS
    }
    return sorted(values, key=len, reverse=True)


def _is_secret(name: str) -> bool:
    return bool(_SECRET_NAME.search(name)) and not _VARIABLE_NAME.search(name)


def _hide_setting(match: re.Match[str]) -> str:
    name, between, _ = match.groups()
    return f"{name}{between}{HIDDEN}" if _is_secret(name) else match.group()
