"""Pages that came, but are not what was cited: tests for robots, log-ins, consent, "not found".

Words such as "captcha", "cloudflare" or "access denied" stand in honest pages too, so no signal
counts alone. A page has a wall's status when signals of two kinds agree on the wall, and one of
them says something about the whole page: its title, its HTTP answer, its address, or that it
says little else. Signals that do not suffice are noted with the page.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from tasks.base import Frozen
from tasks.warehouse.rows import PageStatus
from tasks.web.wall_marks import ADDRESSES, MARKUP
from tasks.web.wall_words import TITLES, WALLS, WORDS, Wall

Kind = Literal["http", "headers", "title", "words", "brevity", "markup", "address"]

OF_THE_WHOLE_PAGE: frozenset[Kind] = frozenset({"http", "headers", "title", "brevity", "address"})
LITTLE = 100
"""Letters; a page that says less beside its title says little more than a wall's words."""
LITTLE_WITHOUT_TITLE = 200
"""The same for a page that has no title: honest pages have one."""
BEGINNING = 4_000
"""Characters; more of a page need not be looked at to note that it speaks like a wall."""
MARKUP_BEGINNING = 200_000
"""Characters of a page's markup that are looked at; walls are small."""
NOTHING = 4
"""Letters; a page that says less than this beside its title says nothing."""
IN_THE_WAY: dict[PageStatus, str] = {
    "bot_wall": "a test for robots stands in its place",
    "login_wall": "a request to log in stands in its place",
    "cookie_wall": "a request to accept cookies stands in its place",
    "soft_404": "the server says that there is no such page",
    "empty": "it has no text of its own",
}
_SHOWN = 60

_HTTP: dict[int, Wall] = {401: "login_wall", 402: "login_wall", 403: "bot_wall", 405: "bot_wall",
                          406: "bot_wall", 429: "bot_wall", 503: "bot_wall"}  # fmt: skip
_HEADERS: tuple[tuple[str, str, Wall], ...] = (
    ("cf-mitigated", r"challenge|block", "bot_wall"),
    ("x-amzn-waf-action", r"captcha|challenge", "bot_wall"),
    ("x-datadome", r".", "bot_wall"),
    ("www-authenticate", r".", "login_wall"),
)
"""Name, what it must hold, and which wall it stands for."""
_REFUSING_SERVERS = re.compile(r"akamaighost|cloudflare|imperva|sucuri|ddos-guard|awselb", re.I)
"""Of an answer that refuses; their names stand on honest answers too."""
_PARTS = re.compile(r"\s+[-|–—·•»:]+\s+|\s*[|•»]\s*|:\s+|\s+[-–—]\s*$")
_IMAGE = re.compile(r"!\[(?:Image \d+:? ?)?([^\[\]\n]{0,1000})\]\([^()\s]{0,2000}\)")
_LINK = re.compile(r"\[[^\[\]\n]{0,300}\]\([^()\s]{0,2000}(?:\s\"[^\"\n]{0,300}\")?\)")
_OWNER = re.compile(r"[\W_]*(?:©|\(c\)|copyright\b)", re.I)
_LETTER = re.compile(r"[^\W_]")


class Seen(Frozen):
    """What can be looked at; text alone will do."""

    url: str = ""
    """As asked for."""
    final_url: str = ""
    http_status: int | None = None
    headers: Mapping[str, str] = {}
    """Lower-case names."""
    titles: tuple[str, ...] = ()
    text: str = ""
    markup: str = ""


class Signal(Frozen):
    """One thing that speaks for a wall."""

    wall: Wall
    kind: Kind
    said: str

    def __str__(self) -> str:
        return f"{self.wall}: {self.kind}: {self.said}"


def of_text(url: str, title: str | None, text: str) -> tuple[PageStatus, tuple[str, ...]]:
    """The status of a page of which only title and text are known, and all signals."""
    signals = signals_of(Seen(url=url, titles=(title,) if title else (), text=text))
    return wall_of(signals) or "ok", tuple(map(str, signals))


def wall_of(signals: Iterable[Signal]) -> Wall | None:
    """The wall that most kinds of signals agree on; None where none has two."""
    kinds: dict[Wall, set[Kind]] = {wall: set() for wall in WALLS}
    for signal in signals:
        kinds[signal.wall].add(signal.kind)
    standing = [wall for wall in WALLS if len(kinds[wall]) > 1 and kinds[wall] & OF_THE_WHOLE_PAGE]
    return max(standing, key=lambda wall: len(kinds[wall]), default=None)


def in_the_way(wall: PageStatus, signals: Iterable[str]) -> str:
    """What stands in a page's place, in words, with the signals that say so. wall: not `ok`."""
    told = [said.removeprefix(f"{wall}: ") for said in signals if said.startswith(f"{wall}: ")]
    return IN_THE_WAY[wall] + (f" ({'; '.join(told)})" if told else "")


def signals_of(seen: Seen) -> tuple[Signal, ...]:
    """Everything that speaks for a wall, in the order of walls and kinds."""
    found = [*_of_answer(seen), *_of_titles(seen.titles), *_of_markup(seen), *_of_address(seen)]
    text = _without_titles(seen.text, seen.titles)
    found += _of_words(text, {signal.wall for signal in found})
    found += _of_brevity(text, bool(seen.titles), found)
    return tuple(sorted(found, key=lambda s: (WALLS.index(s.wall), s.kind, s.said)))


def _of_answer(seen: Seen) -> Iterable[Signal]:
    status = seen.http_status or 200
    if status in _HTTP:
        yield Signal(wall=_HTTP[status], kind="http", said=f"HTTP {status}")
    for name, pattern, wall in _HEADERS:
        value = seen.headers.get(name, "")
        if re.search(pattern, value, re.I) and (status >= 400 or name == "cf-mitigated"):
            yield Signal(wall=wall, kind="headers", said=f"{name}: {_short(value)}")
    server = seen.headers.get("server", "")
    if status in (403, 429, 503) and _REFUSING_SERVERS.search(server):
        yield Signal(wall="bot_wall", kind="headers", said=f"server: {_short(server)}")


def _of_titles(titles: tuple[str, ...]) -> Iterable[Signal]:
    for wall in WALLS:
        for title in titles:
            whole = title[:300].strip().lower()
            parts = [whole, *(part.strip() for part in _PARTS.split(whole))]
            named = next((p for p in parts if p and TITLES[wall].fullmatch(p)), None)
            if named is not None:
                yield Signal(wall=wall, kind="title", said=_short(named))
                break


def _of_words(text: str, walls: set[Wall]) -> Iterable[Signal]:
    """Words count anywhere in a page that something else speaks against; alone they could only
    be noted, and for that the page's beginning is enough."""
    lower = text.lower()
    for wall in WALLS:
        found = WORDS[wall].search(lower if wall in walls else lower[:BEGINNING])
        if found:
            yield Signal(wall=wall, kind="words", said=_short(found[0]))


def _of_markup(seen: Seen) -> Iterable[Signal]:
    markup = seen.markup[:MARKUP_BEGINNING].lower()
    for wall in WALLS:
        found = MARKUP[wall].search(markup)
        if found:
            yield Signal(wall=wall, kind="markup", said=_short(found[0]))


def _of_address(seen: Seen) -> Iterable[Signal]:
    asked, final = _parts(seen.url), _parts(seen.final_url)
    if asked is None or final is None or (asked.netloc, asked.path) == (final.netloc, final.path):
        return
    for wall, pattern in ADDRESSES.items():
        if pattern.search(seen.final_url.lower()) and not pattern.search(seen.url.lower()):
            yield Signal(wall=wall, kind="address", said=f"led to {_short(seen.final_url)}")
    if asked.path.strip("/") and not final.path.strip("/") and not final.query:
        yield Signal(wall="soft_404", kind="address", said=f"led to {_short(seen.final_url)}")


def _of_brevity(text: str, has_title: bool, found: list[Signal]) -> Iterable[Signal]:
    """A page that says little supports the wall that its words, markup or answer speak of. Not
    the one that its title or address names: short pages have odd titles and redirects too."""
    n_letters = len(_LETTER.findall(text[:BEGINNING]))
    walls = {signal.wall for signal in found if signal.kind not in ("title", "address")}
    if n_letters < NOTHING and has_title:
        yield Signal(wall="empty", kind="title", said="the text says no more than the title")
        walls.add("empty")
    if n_letters < (LITTLE if has_title else LITTLE_WITHOUT_TITLE):
        for wall in walls:
            yield Signal(wall=wall, kind="brevity", said=f"{n_letters} letters of text")


def _without_titles(text: str, titles: tuple[str, ...]) -> str:
    """The text without what any page of the site says: links, lines that only repeat the title or
    a part of it, whose site it is."""
    called = {_plain(part) for title in titles for part in (title, *_PARTS.split(title[:300]))}
    longest = 2 * max((len(title) for title in titles), default=0) + _SHOWN
    unlinked = _LINK.sub(" ", _IMAGE.sub(r" \1 ", text))
    return "\n".join(
        line.strip()
        for line in unlinked.split("\n")
        if line.strip()
        and (len(line) > longest or _plain(line) not in called)
        and not (len(line) < 2 * _SHOWN and _OWNER.match(line))
    )


def _plain(text: str) -> str:
    return "".join(_LETTER.findall(text)).lower()


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _parts(url: str) -> SplitResult | None:
    try:
        return urlsplit(url) if url else None
    except ValueError:
        return None
