"""Libraries that take the text out of HTML, as anyone would call them: ours is measured beside."""

import logging
import resource
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from html_to_markdown import convert
from selectolax.lexbor import LexborHTMLParser

from tasks.web.html_text import read_html

Extractor = Callable[[str], str]


def extractors() -> Iterator[tuple[str, Extractor]]:
    """Name and function of every extractor that is installed here."""
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    yield "this project", lambda html: read_html(html).text
    if find_spec("trafilatura"):
        trafilatura = import_module("trafilatura")
        yield "trafilatura", _trafilatura(trafilatura)
        yield "trafilatura, recall", _trafilatura(trafilatura, favor_recall=True)
        yield "trafilatura, precision", _trafilatura(trafilatura, favor_precision=True)
        yield "trafilatura, fast", _trafilatura(trafilatura, fast=True)
        yield (
            "trafilatura, Markdown",
            _trafilatura(trafilatura, favor_recall=True, output_format="markdown"),
        )
        yield "trafilatura, html2txt", lambda html: str(trafilatura.html2txt(html))
    if find_spec("readability"):
        yield "readability-lxml", _readability
    if find_spec("resiliparse"):
        plain = import_module("resiliparse.extract.html2text").extract_plain_text
        yield "resiliparse, main", lambda html: str(plain(html, main_content=True))
        yield "resiliparse, all", lambda html: str(plain(html))
    yield "html-to-markdown", lambda html: convert(html).content or ""
    yield "selectolax, all text", _all_text


def read_large(name: str, megabytes: int) -> tuple[float, float]:
    """Seconds and peak megabytes of one reader on one long page of paragraphs and tables."""
    paragraph = (
        "<p>The bridge of {n} was opened on 4 July <a href='/y/{n}'>1931</a> by a mayor.</p>"
    )
    row = "<table><tr><td>{n}</td><td>Tolvane</td><td>9,400</td></tr></table>"
    one = paragraph + row
    parts: list[str] = []
    length = 0
    while length < megabytes << 20:
        parts.append(one.format(n=len(parts)))
        length += len(parts[-1])
    html = f"<html><head><title>Bridges</title></head><body>{''.join(parts)}</body></html>"
    before = _peak_megabytes()
    begun = time.perf_counter()
    dict(extractors())[name](html)
    return time.perf_counter() - begun, _peak_megabytes() - before


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _trafilatura(library: Any, **options: Any) -> Extractor:
    return lambda html: library.extract(html, **options) or ""


def _readability(html: str) -> str:
    document = import_module("readability").Document(html)
    return convert(document.summary()).content or ""


def _all_text(html: str) -> str:
    body = LexborHTMLParser(html).body
    return body.text(separator="\n") if body is not None else ""
