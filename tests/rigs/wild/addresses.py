"""Addresses as a reader sees them: where one ends, when two are alike, what is wrong with one."""

import html
import re
from urllib.parse import unquote

STARTS = ("http://", "https://", "www.")
WIDE = "，。、；：！？（）【】《》〈〉「」『』“”‘’…　"
PAIRS = {")": "(", "]": "[", "}": "{"}
TRAILING = ".,;:!?'\"*_`|\\~"
LONGEST = 2_000


def address_end(text: str, start: int) -> int:
    """Where the address that begins at `start` ends in running text."""
    opened: list[str] = []
    end = start
    for end in range(start, min(len(text), start + LONGEST)):
        letter = text[end]
        if letter.isspace() or letter in WIDE or letter in '<>"`|{}^':
            break
        if letter in "([":
            opened.append(letter)
        elif letter in PAIRS and (not opened or opened.pop() != PAIRS[letter]):
            break
    else:
        end = min(len(text), start + LONGEST)
    while end > start and text[end - 1] in TRAILING:
        end -= 1
    return end


def first_address(text: str) -> tuple[int, int] | None:
    """Start and end of the first address in `text`."""
    places = [place for place in map(text.find, STARTS) if place >= 0]
    return (min(places), address_end(text, min(places))) if places else None


def is_public(address: str) -> bool:
    """Whether an address could be a source: no machine's own, no example."""
    host = key(address).partition("/")[0].partition(":")[0]
    return "." in host and not re.match(r"127\.|0\.0|192\.168|(.*\.)?example\.", host)


def key(address: str) -> str:
    """What two spellings of one address share."""
    plain = html.unescape(address.strip().strip("<>")).replace("\\", "")
    plain = unquote(plain.split("#")[0]).strip()
    plain = plain.partition("://")[2] or plain
    host, slash, path = plain.partition("/")
    return (host.lower().removeprefix("www.") + slash + path).rstrip("/").rstrip(TRAILING)


def fault(address: str) -> str | None:
    """What no address that a program may fetch should hold; None if there is nothing."""
    rest = address.partition("://")[2]
    if "](" in rest:
        return "holds a link's middle"
    if any(letter.isspace() for letter in rest):
        return "holds a blank"
    if any(letter in '"`<>' for letter in rest):
        return "holds a quote or bracket of markup"
    if any(letter in WIDE for letter in rest):
        return "holds full-width punctuation"
    if any(rest.count(closing) != rest.count(opening) for closing, opening in PAIRS.items()):
        return "has an unbalanced bracket"
    return "ends in punctuation" if rest[-1:] in tuple(".,;:!?*|\\'") else None
