"""The plain statements that the baseline extracts from archived pages, except encyclopedias.

Pages are untrusted: all functions are pure, take linear time and never raise.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from tasks.extraction.bans import is_host_or_subdomain
from tasks.extraction.urls import normalise_url
from tasks.judges.text import load_stop_words, split_sentences, strip_markdown

MAX_PAGE_CHARS = 300_000
"""How much of a page is read: a longer one is a book or a list, whose start shows its subject."""
MAX_LINE_CHARS = 20_000
MIN_WORDS = 7
MAX_WORDS = 60
"""Bounds of a statement: shorter ones are labels, longer ones are lists or unsplit text."""

_SEARCH_ENGINES = re.compile(r"(?:.*\.)?(?:google|bing|duckduckgo|yahoo|baidu|yandex)(?:\.\w+)+")
_ERROR_PAGE = re.compile(
    r"\b(?:page not found|404|403 forbidden|access denied|just a moment|attention required|"
    r"are you a robot|captcha|page unavailable|error \d{3})\b",
    re.IGNORECASE,
)
_ENCYCLOPEDIA = re.compile(
    r"from wikipedia, the free encyclopedia|\bwikipedia\s*$|wikipedia article|"
    r"(?:material|text|content|article) (?:from|of) (?:the )?wikipedia",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[([^\[\]\n]{0,500})\]\([^()\n]{0,2000}\)")
_NOT_PROSE = re.compile(r"\s*(?:\||!\[|#{1,6}\s|={3,}|-{3,})")
_ITEM = re.compile(r"\s*(?:[*+-]|\d{1,3}[.)])\s")
_OPEN_END = re.compile(r"\A.{39,}[\w,;’'\-]\s*\Z")
_CONTINUATION = re.compile(r"\s*[a-zà-ÿ0-9(“\"]")
_END = re.compile(r"[^.…]\.[\"”’')\]]{0,3}\Z")
_BEGIN = re.compile(r"[\"“‘'(\[]{0,2}[A-Z0-9À-Ý]")
_WORD = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"\"[^\"]{0,1000}\"|“[^“”]{0,1000}”")
_PERSONAL = re.compile(
    r"\b(?:[Yy]ou(?:r|rs|rself)?|[Ww]e|[Oo]urs?|us|[Mm]y|me|mine|[Ll]et['’]?s)\b"
    r"|\bI['’](?:m|ve|d|ll)\b|(?<!War )(?<!Part )\bI(?= [a-z])"
)
_BOILERPLATE = re.compile(
    r"\b(?:cookies?|subscri(?:be|bing|bers?|ptions?)|newsletters?|privacy policy|sign (?:up|in)|"
    r"log ?in|rights reserved|click|javascript|web ?browsers?|terms of (?:use|service)|"
    r"advertise(?:ment|rs)?|affiliate|copyright|©|e-?mail|follow us|download|permission|"
    r"web ?page|website uses|this (?:site|website|video|story|page|content|article)|"
    r"read more|all comments|comments? (?:section|below)|archived from|retrieved|"
    r"personal data|third[- ]part(?:y|ies)|consent|password|account)\b",
    re.IGNORECASE,
)
_MIN_LINK_SHARE = 0.55
"""Share of a line's characters in links from which it is a menu or a teaser."""
_MIN_FUNCTION_WORDS = 0.18
"""Share of words such as `the`, `of`, `was`: lists and other languages have fewer."""
_MAX_CAPITALS = 0.55
"""Share of capitalised words: headings and lists of names have more."""


def is_source(url: str, title: str, text: str, hosts: Sequence[str]) -> bool:
    """Whether a page is usable: no encyclopedia, copy of one, search page or error page.

    hosts: encyclopedias and mirrors, including their subdomains (languages).
    """
    key = normalise_url(url)
    if key is None:
        return False
    place = urlsplit(key)
    host = place.hostname or ""
    if is_host_or_subdomain(host, hosts):
        return False
    if _SEARCH_ENGINES.fullmatch(host) and re.match(r"/(?:search|url|books/feeds|$)", place.path):
        return False
    if _ERROR_PAGE.search(title[:200]) or _ENCYCLOPEDIA.search(title[:300]):
        return False
    return not _ENCYCLOPEDIA.search(text[:3000]) and not _ENCYCLOPEDIA.search(text[-6000:])


def extract_statements(text: str) -> Iterator[str]:
    """Yield the plain statements of a page in order, without menus, notices, tables and lists."""
    for line in _unwrap_lines(text[:MAX_PAGE_CHARS].splitlines()):
        if not _NOT_PROSE.match(line) and _is_prose(line[:MAX_LINE_CHARS]):
            prose = strip_markdown(line[:MAX_LINE_CHARS])
            yield from (
                s for s in map(_normalise_spaces, split_sentences(prose)) if is_statement(s)
            )


def is_statement(sentence: str) -> bool:
    """Whether a sentence is an English statement about the world that addresses nobody."""
    words = _WORD.findall(sentence)
    if not MIN_WORDS <= len(words) <= MAX_WORDS:
        return False
    if not (_BEGIN.match(sentence) and _END.search(sentence)):
        return False
    function = sum(word.lower() in load_stop_words() for word in words)
    capitals = sum(word[0].isupper() for word in words)
    if function < _MIN_FUNCTION_WORDS * len(words) or capitals > _MAX_CAPITALS * len(words):
        return False
    if _BOILERPLATE.search(sentence) or not _has_paired_marks(sentence):
        return False
    return not _PERSONAL.search(_QUOTED.sub(" ", sentence))


def _unwrap_lines(lines: Sequence[str]) -> Iterator[str]:
    """Join lines that were wrapped within a sentence."""
    joined: list[str] = []
    for line in lines:
        if joined and not (_OPEN_END.search(joined[-1]) and _CONTINUATION.match(line)):
            yield " ".join(joined)
            joined = []
        joined.append(line.strip() if joined else line)
    if joined:
        yield " ".join(joined)


def _has_paired_marks(sentence: str) -> bool:
    """Whether quotation marks and brackets are paired; if not, the sentence was cut."""
    pairs = (("“", "”"), ("(", ")"))
    return sentence.count('"') % 2 == 0 and all(
        sentence.count(one) == sentence.count(other) for one, other in pairs
    )


def _is_prose(line: str) -> bool:
    """Whether a line may hold sentences: long enough, and not mostly links."""
    if len(line) < 40 or (". " not in line and not line.rstrip("*_ \"”')").endswith(".")):
        return False
    labels = sum(len(match[1]) for match in _LINK.finditer(line))
    visible = len(_LINK.sub(r"\1", line).strip())
    item = _ITEM.match(line) is not None
    return labels < (_MIN_LINK_SHARE / 2 if item else _MIN_LINK_SHARE) * max(1, visible)


def _normalise_spaces(sentence: str) -> str:
    return re.sub(r"\s+([.,;:])", r"\1", " ".join(sentence.split()))
