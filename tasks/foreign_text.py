"""Text from outside: made visible where people read it, and refused in names.

Escape sequences act on terminals, bidirectional controls make `gpj.exe` read as `exe.jpg`, and two
names that differ by a zero-width character look the same.
"""

import re

from tasks.errors import ExpectedError

_JOINED = "\u0590-\u1fff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"
"""Scripts whose spelling needs joiners (Persian, Hindi), and emoji, which they combine."""
_HIDDEN = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f"  # control characters but tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, embeddings, overrides
    "\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff"  # without a width
    "\u2028\u2029\ufff9-\ufffb\U0001d173-\U0001d17a"
    "\u115f\u1160\u3164\uffa0"  # letters without a form
    "\ud800-\udfff\U000e0000-\U000e00ff]"
    f"|(?<![{_JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}])"
)
_LINES = re.compile("[\t\n]")
_UNFIT_FOR_NAMES = re.compile(
    "[\u034f\u17b4\u17b5\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
"""What is as invisible in a name, but harmless in a text."""


HIDDEN = "its name has control or invisible characters, shown here by their code points"


class HiddenCharacters(ExpectedError):
    """A name has characters that act on a terminal, or that nobody sees."""


def make_visible(text: str, *, one_line: bool = False) -> str:
    """Show control, bidirectional and invisible characters as their code points: `⟨U+202E⟩`.

    Args:
        one_line: show tabs and line feeds, too, so that a name cannot look like several lines.
    """
    if text.isascii() and text.isprintable():  # as most text is; this is fast
        return text
    shown = _HIDDEN.sub(_name_character, text)
    return _LINES.sub(_name_character, shown) if one_line else shown


def escape_hidden(json: str) -> str:
    """Escape in a JSON document the characters that `make_visible` shows; its values stay."""
    return _HIDDEN.sub(_escape_for_json, json)


def find_hidden(name: str) -> str | None:
    """Return the name with what nobody sees in it as code points; None if there is nothing."""
    shown = _UNFIT_FOR_NAMES.sub(_name_character, make_visible(name, one_line=True))
    return shown if shown != name else None


def refuse_hidden(name: str, what: str) -> None:
    """Raise HiddenCharacters if a name has characters that nobody sees.

    Args:
        what: what it names, the beginning of the message.
    """
    if shown := find_hidden(name):
        raise HiddenCharacters(f"{what} {shown}: {HIDDEN}. Rename it without them.")


def _name_character(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found[0]):04X}⟩"


def _escape_for_json(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[n : n + 4]}" for n in range(0, len(units), 4))
