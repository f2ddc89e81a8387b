"""Read untrusted pages in helper processes, each page within limits of time and memory.

A page that never finishes, exhausts the memory or crashes its reader costs one helper and becomes
`unreadable`; the next page gets a new helper. Helpers load the bytes themselves. Reading is a pure
function of what was fetched: a better reader can read a page again without fetching it again.
"""

import asyncio
import re
from collections.abc import Callable
from datetime import date
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from tasks.configuration.web import ReadingBounds
from tasks.processes.answers import HelperFailed
from tasks.processes.helper import HelperCrashed, LimitExceeded
from tasks.processes.pool import HelperProcesses
from tasks.warehouse.contents import PageStore
from tasks.warehouse.errors import DamagedWarehouse
from tasks.warehouse.pages import PageStatus
from tasks.warehouse.rows import replace_surrogates
from tasks.web.error_answers import check_answer
from tasks.web.hosts import LAST_STATUS
from tasks.web.html_text import parse_day, parse_language, read_html
from tasks.web.kinds import ContentKind, decode_page, detect_kind
from tasks.web.page import ExtractedText, FetchedContent, PageUnreadable, ReadPage
from tasks.web.plain_text import read_json, read_pdf, read_text, read_xml
from tasks.web.walls import decide_wall, describe_wall, find_signals

_JINA_HEAD = re.compile(r"(?m)^(Title|URL Source|Published Time|Warning|Number of Pages): ?(.*)$")
_JINA_CONTENT = "Markdown Content:"
_JINA_STATUS = re.compile(r"returned error (\d{3})")
READER_VERSION = 2
"""Increase it when the same bytes may give another result; pages are then read again."""
_LIBRARIES = ("html-to-markdown", "selectolax", "htmldate", "pypdfium2")
PAGES_PER_HELPER = 500
"""Pages after which a helper is replaced, to free what libraries keep in memory."""


@cache
def get_reader_version() -> str:
    """Return the reader's version; pages with another `reader` may be read again."""
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    return f"readable text {READER_VERSION} ({libraries})"


def read_page(material: FetchedContent, bounds: ReadingBounds) -> ReadPage:
    """Read a page. Never raises, but may take very long: use `PageReaders` for untrusted pages."""
    kind, media_type = detect_kind(material.content, material.headers.get("content-type"))
    if material.source == "jina":
        kind = "jina"
    try:
        found = _extract(kind, material, bounds, media_type)
        page = _classify(material, found, bounds, media_type)
        return page.model_copy(update={"refresh": found.refresh, "shown_pdf": found.shown_pdf})
    except PageUnreadable as error:
        return _build_failure(material, error.status, str(error), media_type)
    except MemoryError:
        return _build_failure(material, "unreadable", "reading it took too much memory", media_type)
    except Exception as error:  # foreign input: every library has errors of its own
        message = " ".join(str(error).split())[:200]
        reason = f"it is damaged, or not what it says ({type(error).__name__}: {message})"
        return _build_failure(material, "unreadable", replace_surrogates(reason), media_type)


def _extract(
    kind: ContentKind, material: FetchedContent, bounds: ReadingBounds, media_type: str | None
) -> ExtractedText:
    content = material.content
    if not content and material.http_status >= 400:
        raise PageUnreadable("it has no content (0 bytes)", "empty")
    if kind == "other":
        raise PageUnreadable(
            f"it is {media_type or 'of an unknown kind'}, which is not read as text"
        )
    if kind == "pdf":
        return read_pdf(content, bounds.most_pdf_pages)
    kept = content[: bounds.most_html_bytes] if kind == "html" else content
    text = decode_page(kept, material.headers.get("content-type"), is_html=kind in ("html", "xml"))
    if material.http_status < 400 and kind != "jina":
        check_answer(text, is_xml=kind == "xml")
    if kind == "html":
        page = read_html(text, material.final_url)
        if len(kept) == len(content):
            return page
        cut = f"cut: {len(content):,} bytes of HTML, {bounds.most_html_bytes:,} were read"
        return page.model_copy(update={"remarks": (cut,)})
    if kind == "jina":
        return parse_jina(text)
    if kind == "xml":
        return read_xml(text)
    return ExtractedText(text=read_json(text) if kind == "json" else read_text(text))


def _classify(
    material: FetchedContent, found: ExtractedText, bounds: ReadingBounds, media_type: str | None
) -> ReadPage:
    """Determine the page's status from its HTTP status and the signals of a wall."""
    status = found.http_status or material.http_status
    signals = find_signals(found, material.url, material.final_url, status, material.headers)
    remarks = (*found.remarks, *map(str, signals))
    wall = decide_wall(signals)
    if status >= 400 and wall in (None, "soft_404", "empty"):
        title = found.window_title or found.title
        named = f" ({title[:100]})" if title else ""
        return _build_failure(material, "unfetchable", f"HTTP {status}{named}", media_type, remarks)
    if not found.text.strip():
        wall = wall or "empty"
    if wall is not None:
        reason = describe_wall(wall, remarks)
        return _build_failure(material, wall, reason, media_type, remarks, title=found.title)
    text = found.text
    if len(text) > bounds.most_characters:
        remarks = (f"cut: {len(text):,} characters, {bounds.most_characters:,} are kept", *remarks)
        text = text[: bounds.most_characters]
    return ReadPage(
        status="ok",
        title=found.title,
        text=text,
        language=found.language or parse_language(material.headers.get("content-language")),
        published_on=found.published_on,
        media_type=media_type,
        signals=remarks,
        reader=get_reader_version(),
    )


def _build_failure(
    material: FetchedContent,
    status: PageStatus,
    reason: str,
    media_type: str | None,
    signals: tuple[str, ...] = (),
    title: str | None = None,
) -> ReadPage:
    if material.http_status > LAST_STATUS:
        status, reason = "bot_wall", f"HTTP {material.http_status}, by which its server refuses"
    elif material.http_status >= 400 and status in ("unreadable", "empty"):
        status, reason = "unfetchable", f"HTTP {material.http_status}"
    return ReadPage(
        status=status,
        title=title,
        media_type=media_type,
        signals=signals,
        error=reason,
        reader=get_reader_version(),
    )


def parse_jina(text: str) -> ExtractedText:
    """Parse an answer of Jina Reader (github.com/jina-ai/reader): JSON, `{"data": {"title",
    "content", "warning", …}}`, or text that begins `Title:`, `URL Source:`, `Markdown Content:`.
    JSON of another shape counts as an answer without a page.

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
    head, mark, content = text.partition(_JINA_CONTENT)
    if not mark:
        return _build_text(text, None, None, None)
    fields = dict(_JINA_HEAD.findall(head))
    return _build_text(
        content, fields.get("Title"), fields.get("Published Time"), fields.get("Warning")
    )


def _build_text(content: str, title: object, published: object, warning: object) -> ExtractedText:
    warnings = [line for line in _clean(warning, "\n").split("\n") if line]
    status = next((int(m[1]) for line in warnings if (m := _JINA_STATUS.search(line))), None)
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


class PageReaders:
    """Reads `bounds.workers` pages at once; any number of callers may wait."""

    def __init__(self, bounds: ReadingBounds) -> None:
        self._bounds = bounds
        self._helpers = HelperProcesses(
            bounds.workers, megabytes=bounds.megabytes, calls_per_helper=PAGES_PER_HELPER
        )

    async def read(self, material: FetchedContent) -> ReadPage:
        """Read a page; its bytes are sent to a helper once one is free."""
        return await self._read_in_helper(read_page, material, self._bounds)

    async def read_stored(self, folder: Path, sha: str, material: FetchedContent) -> ReadPage:
        """Read a page whose bytes are in a PageStore; `material` comes without its content.

        Raises:
            DamagedWarehouse: the bytes are missing or damaged.
        """
        try:
            return await self._read_in_helper(_read_stored, folder, sha, material, self._bounds)
        except DamagedWarehouse as error:
            # A helper that a page has taken over may say so of any page.
            await asyncio.to_thread(PageStore(folder).get, sha)
            return _build_unreadable(f"its reader could not load it ({error})")

    async def close(self) -> None:
        """Stop the helpers, and cancel all pages under way."""
        await asyncio.to_thread(self._helpers.close)

    async def __aenter__(self) -> "PageReaders":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _read_in_helper(self, function: Callable[..., ReadPage], *arguments: Any) -> ReadPage:
        try:
            return await self._helpers.run(
                function, *arguments, seconds=self._bounds.seconds, raises=(DamagedWarehouse,)
            )
        except (LimitExceeded, HelperCrashed) as error:
            return _build_unreadable(f"reading it {error}")
        except HelperFailed as error:
            return _build_unreadable(f"its reader failed ({error})")


def _read_stored(
    folder: Path, sha: str, material: FetchedContent, bounds: ReadingBounds
) -> ReadPage:
    content = PageStore(folder).get(sha)
    return read_page(material.model_copy(update={"content": content}), bounds)


def _build_unreadable(reason: str) -> ReadPage:
    return ReadPage(status="unreadable", error=reason, reader=get_reader_version())
