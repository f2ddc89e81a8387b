"""Links and addresses in Markdown, each with its offsets: where an address ends is decided here.

An address ends where a reader would end it: before full-width punctuation, a backtick, a bracket
that it does not open, or the punctuation of the sentence. A link's target runs to its closing
parenthesis on the same line, even if somebody pasted blanks into it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_STOPS = '\\s<>\\[\\]{}【】〔〕「」『』《》〈〉（），。、；：！？“”‘’…"|`\\\\^\ue200-\ue2ff'
"""What no bare address contains."""
_URL = re.compile(
    rf"(?:https?://|(?<![\w./@-])(?:www\.|doi:(?=10\.)))(?:[^{_STOPS}]|\\[!()+=$%'@_&~#*.\-])+",
    re.IGNORECASE,
)
_NEXT_URL = re.compile(r"[,;]+https?://", re.IGNORECASE)
_ANGLED = re.compile(r"[<【](https?://[^\s<>【】\"|]{4,4000})[>】]", re.IGNORECASE)
_BRACKET = re.compile(r"\\.|[\[\]]", re.DOTALL)
_WEB_TARGET = re.compile(r"\(\s?<?(?=https?://|www\.|doi:\s?10\.)", re.IGNORECASE)
_OTHER_TARGET = re.compile(r"\(<?[^\s()<>]{0,500}>?(?:\s\"[^\"\n]{0,300}\")?\)")
_TARGET_RUN = re.compile(r"[^\s\]<>]{1,4096}")
_TARGET_END = re.compile(r">?(?:\s{1,4}[\"'(][^\n\[\]]{0,300}?[\"')])?\s{0,4}\)")
MAX_PASTED = 5_000
"""Characters searched for the end of a target that holds blanks."""
_ENDS_TARGET = re.compile(r"\)(?=[\s)\].,;:|*_。，；、]|$)")
_HTML_LINK = re.compile(
    r"<a\s(?P<attributes>[^<>]{1,5000})>(?P<label>(?:[^<]|<(?!/?a\b)){0,600}?)</a\s?>",
    re.IGNORECASE,
)
_HREF = re.compile(r"\bhref\s?=\s?[\"']?\s?(https?://[^\"'<>\s]{3,4096})", re.IGNORECASE)
_PAIRS = {"(": ")", "<": ">", "[": "]", '"': '"', "'": "'", "`": "`", "【": "】", "（": "）"}
_WITHIN_ADDRESS = re.compile(r"[\w/=%?&.~+#@-]")
_LINE_AFTER = r"(?:\s*\Z|[^\S\n]*\n|https?://|(?:[-*+•]|\d{1,4}[.)])\s|[\[(<#|>*])"
_ENDS = re.compile(rf"\s*\Z|[^\S\r\n]+(?=\S)|[^\S\n]*\n[^\S\n]*{_LINE_AFTER}")
"""What follows an address that is whole. A line that goes on may go on with the address."""
_TRAILING_PUNCTUATION = ".,;:?'\"”’*"


@dataclass(frozen=True, slots=True)
class Link:
    """A link, or an address alone: `text[start:end]`."""

    start: int
    end: int
    url: str | None
    """As written, without what was pasted behind it; None for a target within the report."""
    label: tuple[int, int] | None = None
    """Span of its words; None for an address alone."""


def find_links(text: str) -> Iterator[Link]:
    """Yield Markdown links, but no images; linear in time."""
    if "](" not in text:
        return
    open_brackets: list[int] = []
    last_end = 0
    for bracket in _BRACKET.finditer(text):
        at = bracket.start()
        if at < last_end:
            continue
        if bracket.group() == "[":
            open_brackets.append(at)
        elif bracket.group() == "]" and open_brackets:
            start = open_brackets.pop()
            target = _parse_target(text, at + 1)
            if target is None:
                continue
            url, end = target
            last_end = end
            if start > 0 and text[start - 1] == "!":
                continue
            if open_brackets and open_brackets[-1] == start - 1 and "\\]" in text[start:at]:
                start -= 1  # a bracket in the words, of which only the end is escaped
            open_brackets.clear()
            yield Link(start, end, url, (start + 1, at))


def find_html_links(text: str) -> Iterator[Link]:
    """Yield HTML links to web pages."""
    if "<a" not in text and "<A" not in text:
        return
    for match in _HTML_LINK.finditer(text):
        if href := _HREF.search(match["attributes"]):
            yield Link(*match.span(), href[1].replace("&amp;", "&"), match.span("label"))


def find_addresses(text: str, *, without_scheme: bool = False) -> Iterator[Link]:
    """Yield addresses that stand alone, also in angle or lenticular brackets.

    without_scheme: also those that begin with `www.` or `doi:`.
    """
    if "://" not in text and not without_scheme:
        return
    angled = {match.start() + 1: match for match in _ANGLED.finditer(text)}
    for match in _URL.finditer(text):
        if whole := angled.get(match.start()):
            yield Link(*whole.span(), whole[1])
            continue
        url = trim_url(match.group()[:4000])
        if without_scheme or url[:4].lower() == "http":
            yield Link(match.start(), match.start() + len(url), _name_address(url))


def trim_url(url: str) -> str:
    """Remove what belongs to the surrounding sentence from the end of a bare address."""
    if another := _NEXT_URL.search(url, 8):
        url = url[: another.start()]
    depth = 0
    for at, character in enumerate(url):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            url = url[:at]
            break
    return url.rstrip(_TRAILING_PUNCTUATION + ("(" if depth > 0 and url.endswith("(") else ""))


def stands_alone(text: str, address: str) -> bool:
    """Whether a text has an address as a whole somewhere: between blanks or in brackets of its own,
    with no sign beside it that was cut off and may belong to it."""
    for found in re.finditer(re.escape(address), text):
        before, after = text[found.start() - 1 : found.start()], text[found.end() :][:500]
        if not _WITHIN_ADDRESS.match(before) and (
            _ENDS.match(after) or (before in _PAIRS and after.startswith(_PAIRS[before]))
        ):
            return True
    return False


def _parse_target(text: str, at: int) -> tuple[str | None, int] | None:
    """Return the address of `(url)` or `(url "title")` at an offset, and where the target ends."""
    opening = _WEB_TARGET.match(text, at)
    if opening is None:
        other = _OTHER_TARGET.match(text, at)
        return (None, other.end()) if other else None
    run = _TARGET_RUN.match(text, opening.end())
    if run is None:
        return None
    closed = _find_closing(run.group())
    if closed is not None:
        return _name_address(run.group()[:closed]), run.start() + closed + 1
    if closing := _TARGET_END.match(text, run.end()):
        return _name_address(run.group()), closing.end()
    line = re.split(r"[\r\n]|\]\(", text[run.start() : run.start() + MAX_PASTED], maxsplit=1)[0]
    end = _find_closing(line)
    if end is None and (closing := _ENDS_TARGET.search(line)):
        end = closing.start()
    if end is not None:
        return _name_address(run.group().partition("#:~:")[0]), run.start() + end + 1
    cut_off = len(line) == len(run.group()) and text[run.end() : run.end() + 1] in ("", "\r", "\n")
    return (None, run.end()) if cut_off else None


def _find_closing(target: str) -> int | None:
    """Return where the parenthesis that opened before a target is closed."""
    depth = 0
    for offset, character in enumerate(target):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return offset
    return None


def _name_address(url: str) -> str:
    """Return an address with its scheme; `doi:` stands for the resolver."""
    if url[:4].lower() == "doi:":
        return f"https://doi.org/{url[4:]}"
    return f"https://{url}" if url[:4].lower() == "www." else url
