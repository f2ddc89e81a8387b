"""What Jina Reader answers: a page's text as Markdown, with what it says about the page.

As JSON (`{"code": 200, "data": {"title", "url", "content", "warning", …}}`) or as text that
begins `Title:`, `URL Source:`, `Markdown Content:`. Source: https://github.com/jina-ai/reader.
"""

import re
from datetime import date
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from tasks.base import Frozen
from tasks.web.html_text import day_of

_HEAD = re.compile(r"(?m)^(Title|URL Source|Published Time|Warning|Number of Pages): ?(.*)$")
_CONTENT = "Markdown Content:"
_STATUS = re.compile(r"returned error (\d{3})")


class JinaText(Frozen):
    """A page as Jina Reader saw it."""

    text: str
    title: str | None = None
    published_on: date | None = None
    page_status: int | None = None
    """The HTTP status that the page's own server answered with, where that was an error."""
    warnings: tuple[str, ...] = ()
    error: str | None = None
    """Why there is no page, in Jina's words."""


def read_jina(text: str) -> JinaText:
    """Either form of answer; JSON of another shape is an answer without a page."""
    if not text.lstrip().startswith("{"):
        return _of_text(text)
    try:
        answer = orjson.loads(text)
    except orjson.JSONDecodeError:
        return _of_text(text)
    data = answer.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("content"), str):
        said = answer.get("readableMessage") or answer.get("message") or answer.get("name")
        return JinaText(text="", error=_words(said) or "it answered without a page")
    return _page(data["content"], data.get("title"), data.get("publishedTime"), data.get("warning"))


def _of_text(text: str) -> JinaText:
    head, mark, content = text.partition(_CONTENT)
    if not mark:
        return _page(text, None, None, None)
    told = dict(_HEAD.findall(head))
    return _page(content, told.get("Title"), told.get("Published Time"), told.get("Warning"))


def _page(content: str, title: Any, published: Any, warning: Any) -> JinaText:
    warnings = tuple(line for line in _words(warning, "\n").split("\n") if line)
    status = next((int(m[1]) for line in warnings if (m := _STATUS.search(line))), None)
    return JinaText(
        text=content.strip(),
        title=_words(title) or None,
        published_on=_day(_words(published)),
        page_status=status,
        warnings=warnings,
    )


def _day(said: str) -> date | None:
    if (day := day_of(said)) is not None:
        return day
    try:
        return parsedate_to_datetime(said).date()
    except (ValueError, TypeError):
        return None


def _words(value: Any, separator: str = " ") -> str:
    """A string with single blanks, at most a thousand characters; "" for anything else."""
    if not isinstance(value, str):
        return ""
    lines = (" ".join(line.split()) for line in value.splitlines())
    return separator.join(line for line in lines if line)[:1000]
