"""Parse Jina Reader's answers: a page's text as Markdown, with metadata.

They are JSON (`{"code": 200, "data": {"title", "url", "content", "warning", …}}`) or text that
begins `Title:`, `URL Source:`, `Markdown Content:`. Source: https://github.com/jina-ai/reader.
"""

import re
from datetime import date
from email.utils import parsedate_to_datetime

import orjson

from tasks.web.html_text import parse_day
from tasks.web.page import ExtractedText, PageUnreadable

_HEAD = re.compile(r"(?m)^(Title|URL Source|Published Time|Warning|Number of Pages): ?(.*)$")
_CONTENT = "Markdown Content:"
_STATUS = re.compile(r"returned error (\d{3})")


def parse_jina(text: str) -> ExtractedText:
    """Parse either form of answer; JSON of another shape counts as an answer without a page.

    Raises:
        PageUnreadable: there is no page; says Jina's reason.
    """
    if not text.lstrip().startswith("{"):
        return _parse_text(text)
    try:
        answer = orjson.loads(text)
    except orjson.JSONDecodeError:
        return _parse_text(text)
    data = answer.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("content"), str):
        message = answer.get("readableMessage") or answer.get("message") or answer.get("name")
        reason = _clean(message) or "it answered without a page"
        raise PageUnreadable(f"Jina Reader: {reason}", "unfetchable")
    return _build_text(
        data["content"], data.get("title"), data.get("publishedTime"), data.get("warning")
    )


def _parse_text(text: str) -> ExtractedText:
    head, mark, content = text.partition(_CONTENT)
    if not mark:
        return _build_text(text, None, None, None)
    fields = dict(_HEAD.findall(head))
    return _build_text(
        content, fields.get("Title"), fields.get("Published Time"), fields.get("Warning")
    )


def _build_text(content: str, title: object, published: object, warning: object) -> ExtractedText:
    warnings = [line for line in _clean(warning, "\n").split("\n") if line]
    status = next((int(m[1]) for line in warnings if (m := _STATUS.search(line))), None)
    return ExtractedText(
        text=content.strip(),
        title=_clean(title) or None,
        published_on=_parse_day(_clean(published)),
        http_status=status,
        remarks=tuple(f"Jina Reader: {line}" for line in warnings),
    )


def _parse_day(text: str) -> date | None:
    if (day := parse_day(text)) is not None:
        return day
    try:
        return parsedate_to_datetime(text).date()
    except (ValueError, TypeError):
        return None


def _clean(value: object, separator: str = " ") -> str:
    """Return a string with single spaces, at most 1,000 characters; "" for other values."""
    if not isinstance(value, str):
        return ""
    lines = (" ".join(line.split()) for line in value.splitlines())
    return separator.join(line for line in lines if line)[:1000]
