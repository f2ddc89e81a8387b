"""Detect walls: bot checks, paywalls and other log-in pages, consent pages, and "not found" pages.

Words such as "captcha", "cloudflare" or "access denied" occur in genuine pages too, so no signal
decides alone. A page gets a wall's status when signals of two kinds agree on the wall, and one of
them concerns the whole page: its title, HTTP answer, URL, or lack of other text. Signals that do
not suffice are stored with the page.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal
from urllib.parse import SplitResult, unquote, urlsplit

from tasks.base import Frozen
from tasks.warehouse.pages import PageStatus
from tasks.web.page import ExtractedText
from tasks.web.wall_words import ADDRESSES, CHOICES, CONSENT, MARKUP, TITLES, WALLS, WORDS, Wall

SignalKind = Literal["http", "headers", "title", "words", "brevity", "markup", "address"]

WHOLE_PAGE_KINDS: frozenset[SignalKind] = frozenset(
    {"http", "headers", "title", "brevity", "address"}
)
SHORT_TEXT = 100
"""Letters beside the title; a page with fewer says little more than a wall does."""
SHORT_TEXT_WITHOUT_TITLE = 200
"""The same for a page without a title: genuine pages have one."""
MAX_SCANNED_TEXT = 4_000
"""Characters searched for a wall's words if nothing else points to that wall."""
MAX_SCANNED_MARKUP = 200_000
"""Characters of a page's markup that are searched; walls are small."""
NO_TEXT = 4
"""Letters beside the title; a page with fewer counts as empty."""
WALL_DESCRIPTIONS: dict[PageStatus, str] = {
    "bot_wall": "a test for robots stands in its place",
    "login_wall": "a request to log in stands in its place",
    "cookie_wall": "a request to accept cookies stands in its place",
    "soft_404": "the server says that there is no such page",
    "empty": "it has no text of its own",
}
_MAX_DETAIL = 60
NO_HEADERS: Mapping[str, str] = MappingProxyType({})

_HTTP: dict[int, Wall] = {401: "login_wall", 402: "login_wall", 202: "bot_wall", 403: "bot_wall",
    405: "bot_wall", 406: "bot_wall", 429: "bot_wall", 503: "bot_wall"}  # fmt: skip
_HEADERS: tuple[tuple[str, str, Wall], ...] = (
    ("cf-mitigated", r"challenge|block", "bot_wall"),
    ("x-amzn-waf-action", r"captcha|challenge", "bot_wall"),
    ("sg-captcha", r"challenge", "bot_wall"),
    ("x-datadome", r".", "bot_wall"),
    ("www-authenticate", r".", "login_wall"),
)
"""Header name, pattern of its value, and the wall it indicates; `.` only if the server refuses."""
_REFUSING_SERVERS = re.compile(r"akamaighost|cloudflare|imperva|sucuri|ddos-guard|awselb", re.I)
"""Servers that indicate a wall if they refuse; they also serve genuine answers."""
_PARTS = re.compile(r"\s+[-|–—·•»:]+\s+|\s*[|•»]\s*|:\s+|\s+[-–—]\s*$")
_IMAGE = re.compile(r"!\[(?:Image \d+:? ?)?([^\[\]\n]{0,1000})\]\([^()\s]{0,2000}\)")
_LINK = re.compile(r"\[[^\[\]\n]{0,300}\]\([^()\s]{0,2000}(?:\s\"[^\"\n]{0,300}\")?\)")
_OWNER = re.compile(r"[\W_]*(?:©|\(c\)|copyright\b)", re.I)
_LETTER = re.compile(r"[^\W_]")


class Signal(Frozen):
    """One sign of a wall."""

    wall: Wall
    kind: SignalKind
    detail: str

    def __str__(self) -> str:
        return f"{self.wall}: {self.kind}: {self.detail}"


def classify_text(url: str, title: str | None, text: str) -> tuple[PageStatus, tuple[str, ...]]:
    """Classify a page by its title and text alone; return its status and all signals."""
    signals = find_signals(ExtractedText(text=text, title=title), url)
    return decide_wall(signals) or "ok", tuple(map(str, signals))


def decide_wall(signals: Iterable[Signal]) -> Wall | None:
    """Return the wall that most kinds of signals agree on; None if none has two kinds."""
    kinds: dict[Wall, set[SignalKind]] = {wall: set() for wall in WALLS}
    for signal in signals:
        kinds[signal.wall].add(signal.kind)
    standing = [wall for wall in WALLS if len(kinds[wall]) > 1 and kinds[wall] & WHOLE_PAGE_KINDS]
    return max(standing, key=lambda wall: len(kinds[wall]), default=None)


def describe_wall(wall: PageStatus, signals: Iterable[str]) -> str:
    """Describe the wall in a page's place, with its signals. `wall` must not be `ok`."""
    details = [
        signal.removeprefix(f"{wall}: ") for signal in signals if signal.startswith(f"{wall}: ")
    ]
    return WALL_DESCRIPTIONS[wall] + (f" ({'; '.join(details)})" if details else "")


def find_signals(
    page: ExtractedText,
    url: str = "",
    final_url: str = "",
    http_status: int = 200,
    headers: Mapping[str, str] = NO_HEADERS,
) -> tuple[Signal, ...]:
    """Find all signals of walls, ordered by wall and kind, in what is known of a page; its text
    suffices.

    url: as requested. headers: with lower-case names.
    """
    titles = tuple(dict.fromkeys(filter(None, (page.window_title, page.title))))
    found = [
        *_find_http_signals(http_status, headers),
        *_find_title_signals(titles),
        *_find_markup_signals(page.markup),
        *_find_address_signals(url, final_url),
        *_find_lead_signals(page, http_status),
    ]
    text = _strip_titles(page.text, titles)
    found += list(_find_word_signals(text, found))
    found += _find_brevity_signals(text, bool(titles), found)
    return tuple(sorted(found, key=lambda s: (WALLS.index(s.wall), s.kind, s.detail)))


def _find_http_signals(status: int, headers: Mapping[str, str]) -> Iterable[Signal]:
    if status in _HTTP:
        yield Signal(wall=_HTTP[status], kind="http", detail=f"HTTP {status}")
    for name, pattern, wall in _HEADERS:
        value = headers.get(name, "")
        if re.search(pattern, value, re.I) and (status >= 400 or pattern != r"."):
            yield Signal(wall=wall, kind="headers", detail=f"{name}: {_shorten(value)}")
    server = headers.get("server", "")
    if status in (403, 429, 503) and _REFUSING_SERVERS.search(server):
        yield Signal(wall="bot_wall", kind="headers", detail=f"server: {_shorten(server)}")


def _find_title_signals(titles: tuple[str, ...]) -> Iterable[Signal]:
    for wall in WALLS:
        for title in titles:
            whole = title[:300].strip().lower()
            parts = [whole, *(part.strip() for part in _PARTS.split(whole))]
            named = next((p for p in parts if p and TITLES[wall].fullmatch(p)), None)
            if named is not None:
                yield Signal(wall=wall, kind="title", detail=_shorten(named))
                break


def _find_word_signals(text: str, signals: Iterable[Signal]) -> Iterable[Signal]:
    """Search the whole text for words of walls with other signals. For other walls, whose words
    can only be stored, search its beginning."""
    lower = text.lower()
    walls = {signal.wall for signal in signals}
    for wall in WALLS:
        found = WORDS[wall].search(lower if wall in walls else lower[:MAX_SCANNED_TEXT])
        if wall == "cookie_wall" and any((s.wall, s.kind) == (wall, "address") for s in signals):
            found = found or CONSENT.search(lower)
        if found:
            yield Signal(wall=wall, kind="words", detail=_shorten(found[0]))


def _find_markup_signals(markup: str) -> Iterable[Signal]:
    lower = markup[:MAX_SCANNED_MARKUP].lower()
    for wall in WALLS:
        if found := MARKUP[wall].search(lower):
            yield Signal(wall=wall, kind="markup", detail=_shorten(found[0]))


def _find_lead_signals(page: ExtractedText, status: int) -> Iterable[Signal]:
    """Find signs that the page only leads to what was cited."""
    if page.refresh is not None and status != 202:  # that is a test for robots
        yield Signal(wall="empty", kind="markup", detail=f"refresh to {_shorten(page.refresh)}")
    if page.shown_pdf is not None:
        shown = _shorten(page.shown_pdf) or "a PDF"
        yield Signal(wall="empty", kind="markup", detail=f"shows {shown}")
        yield Signal(wall="empty", kind="brevity", detail="no text beside a PDF")


def _find_address_signals(url: str, final_url: str) -> Iterable[Signal]:
    asked, final = _split_url(url), _split_url(final_url)
    if asked is None or final is None or (asked.netloc, asked.path) == (final.netloc, final.path):
        return
    before, after = url.lower(), final_url.lower()
    walls = {wall for wall, at in ADDRESSES.items() if at.search(after) and not at.search(before)}
    holds_way_back = len(asked.path) > 1 and asked.path in unquote(unquote(final.query))
    if holds_way_back and CHOICES.search(f"{final.netloc}{final.path}".lower()):
        walls.add("cookie_wall")
    if asked.path.strip("/") and not final.path.strip("/") and not final.query:
        walls.add("soft_404")
    for wall in walls:
        yield Signal(wall=wall, kind="address", detail=f"led to {_shorten(final_url)}")


def _find_brevity_signals(text: str, has_title: bool, found: list[Signal]) -> Iterable[Signal]:
    """Let a short text support the walls found in words, markup or HTTP answer. Not those of title
    or URL: genuine short pages have odd titles and redirects too."""
    n_letters = len(_LETTER.findall(text[:MAX_SCANNED_TEXT]))
    walls = {signal.wall for signal in found if signal.kind not in ("title", "address")}
    if n_letters < NO_TEXT and has_title:
        yield Signal(wall="empty", kind="title", detail="the text says no more than the title")
        walls.add("empty")
    if n_letters < (SHORT_TEXT if has_title else SHORT_TEXT_WITHOUT_TITLE):
        for wall in walls:
            yield Signal(wall=wall, kind="brevity", detail=f"{n_letters} letters of text")


def _strip_titles(text: str, titles: tuple[str, ...]) -> str:
    """Drop what every page of a site has: links, copyright lines, and lines that only repeat the
    title or a part of it."""
    called = {_normalize(part) for title in titles for part in (title, *_PARTS.split(title[:300]))}
    longest = 2 * max((len(title) for title in titles), default=0) + _MAX_DETAIL
    unlinked = _LINK.sub(" ", _IMAGE.sub(r" \1 ", text))
    return "\n".join(
        line.strip()
        for line in unlinked.split("\n")
        if line.strip()
        and (len(line) > longest or _normalize(line) not in called)
        and not (len(line) < 2 * _MAX_DETAIL and _OWNER.match(line))
    )


def _normalize(text: str) -> str:
    return "".join(_LETTER.findall(text)).lower()


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_DETAIL else text[: _MAX_DETAIL - 1] + "…"


def _split_url(url: str) -> SplitResult | None:
    try:
        return urlsplit(url) if url else None
    except ValueError:
        return None
