"""What the job servers' agents write: a Markdown text with links, taken apart for the wire.

Whoever runs a server gives reports as plain Markdown, `Words of it [title](address).`; each
server turns the links into its provider's form of a citation.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

Report = Callable[[str], str]
"""From an assignment's prompt to the report."""
Indexes = Literal["right", "missing", "beyond", "negative", "reversed", "words", "inside"]
"""How citations say where they are. `inside`: within a character of several bytes."""
_LINK = re.compile(r"\s*\[([^\]\n]*)\]\((https?://[^)\s]+)\)")


@dataclass(frozen=True)
class Passage:
    """Words, and what they rest on."""

    text: str
    url: str | None = None
    title: str | None = None


def default_report(prompt: str) -> str:
    """Non-ASCII words before every citation, and one source twice."""
    subject = " ".join(prompt.split())[:60]
    return (
        f"# Bericht über „{subject}“ – 報告 🜁\n\n"
        "Ærøskøbing liegt auf der dänischen Insel Ærø "
        "[Ærøskøbing](https://example.org/wiki/%C3%86r%C3%B8sk%C3%B8bing). "
        "東京の人口は約1400万人である [Tokyo](https://example.com/tokyo?lang=ja). "
        "Its old town has 36 listed houses [Houses](https://example.net/houses).\n\n"
        "Die Fähre braucht 75 Minuten ⛴ "
        "[Ærøskøbing](https://example.org/wiki/%C3%86r%C3%B8sk%C3%B8bing).\n"
    )


def passages(report: str) -> list[Passage]:
    """The report in pieces: each link with the words before it, then what is left."""
    found, at = [], 0
    for link in _LINK.finditer(report):
        found.append(Passage(report[at : link.start()], link[2], link[1]))
        at = link.end()
    return [*found, Passage(report[at:])]


def sources(report: str) -> dict[str, int]:
    """The addresses in it, numbered from 1 in order of appearance."""
    urls = dict.fromkeys(passage.url for passage in passages(report) if passage.url)
    return {url: number for number, url in enumerate(urls, 1)}


def host(url: str) -> str:
    return urlsplit(url).hostname or url


def tracked(url: str) -> str:
    """The address as OpenAI marks it."""
    return url + ("&" if "?" in url else "?") + "utm_source=openai"


def placed(indexes: Indexes, start: int, end: int, length: int) -> dict[str, Any]:
    """Where a citation says it is, of what is true."""
    names = ("start_index", "end_index")
    wrong: dict[Indexes, tuple[Any, Any]] = {
        "beyond": (length + 5, length + 9),
        "negative": (-7, -3),
        "reversed": (end, start),
        "words": (str(start), [end]),
    }
    if indexes == "missing":
        return {}
    return dict(zip(names, wrong.get(indexes, (start, end)), strict=True))
