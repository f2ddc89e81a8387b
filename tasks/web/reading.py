"""The page that some bytes are: text, title, language, day, or why they do not count.

A pure function of what was fetched, so a page can be read again by a better reader without being
asked for again.
"""

from datetime import date
from functools import cache
from importlib.metadata import version

from tasks.base import Frozen
from tasks.configuration.web import ReadingBounds
from tasks.warehouse.rows import PageStatus, storable
from tasks.web.charsets import decoded
from tasks.web.html_text import language_code, read_html
from tasks.web.jina_text import read_jina
from tasks.web.kinds import Kind, kind_of
from tasks.web.page import Material, ReadPage
from tasks.web.pdf_text import UnreadPdf, read_pdf
from tasks.web.plain_text import read_json, read_text, read_xml
from tasks.web.walls import Seen, in_the_way, signals_of, wall_of

READER_VERSION = 1
"""Raised when the same bytes may give another outcome: pages are then read again."""
_LIBRARIES = ("html-to-markdown", "selectolax", "htmldate", "pypdfium2")


class _Text(Frozen):
    """What one of the readers found."""

    text: str
    title: str | None = None
    titles: tuple[str, ...] = ()
    language: str | None = None
    published_on: date | None = None
    markup: str = ""
    http_status: int | None = None
    """Of the page itself, where another than the answer's is known."""
    remarks: tuple[str, ...] = ()


class _Unreadable(Exception):
    """Says why; `status` is the page's."""

    def __init__(self, reason: str, status: PageStatus = "unreadable") -> None:
        super().__init__(reason)
        self.status: PageStatus = status


@cache
def reader_version() -> str:
    """What reads pages here: a page with another `reader` may be read again."""
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    return f"readable text {READER_VERSION} ({libraries})"


def read_page(material: Material, bounds: ReadingBounds) -> ReadPage:
    """What a page says. Never raises, whatever the page is; it may take long, so strangers'
    pages are read by `PageReaders`."""
    kind, media_type = kind_of(material.content, material.headers.get("content-type"))
    if material.source == "jina":
        kind = "jina"
    try:
        return _judged(material, _text_of(kind, material, bounds, media_type), bounds, media_type)
    except _Unreadable as error:
        return _failed(material, error.status, str(error), media_type)
    except MemoryError:
        return _failed(material, "unreadable", "reading it took too much memory", media_type)
    except Exception as error:  # foreign input: every library has errors of its own
        said = " ".join(str(error).split())[:200]
        reason = f"it is damaged, or not what it says ({type(error).__name__}: {said})"
        return _failed(material, "unreadable", storable(reason), media_type)


def _text_of(
    kind: Kind, material: Material, bounds: ReadingBounds, media_type: str | None
) -> _Text:
    if not material.content:
        raise _Unreadable("it has no content (0 bytes)", "empty")
    if kind == "other":
        raise _Unreadable(f"it is {media_type or 'of an unknown kind'}, which is not read as text")
    if kind == "pdf":
        return _of_pdf(material.content, bounds.most_pdf_pages)
    content = material.content
    remarks: tuple[str, ...] = ()
    if kind == "html" and len(content) > bounds.most_html_bytes:
        remarks = (f"cut: {len(content):,} bytes of HTML, {bounds.most_html_bytes:,} were read",)
        content = content[: bounds.most_html_bytes]
    text = decoded(content, material.headers.get("content-type"), is_html=kind in ("html", "xml"))
    if kind == "html":
        page = read_html(text)
        titles = tuple(dict.fromkeys(t for t in (page.window_title, page.title) if t))
        return _Text(text=page.text, title=page.title, titles=titles, language=page.language,
                     published_on=page.published_on, markup=text, remarks=remarks)  # fmt: skip
    if kind == "jina":
        return _of_jina(text)
    if kind == "xml":
        xml = read_xml(text)
        if xml.damage:
            remarks = (f"damaged XML, some of it may be missing: {storable(xml.damage)}",)
        return _Text(text=xml.text, title=xml.title, remarks=remarks)
    return _Text(text=read_json(text) if kind == "json" else read_text(text))


def _of_pdf(content: bytes, most_pages: int) -> _Text:
    try:
        pdf = read_pdf(content, most_pages)
    except UnreadPdf as error:
        raise _Unreadable(str(error)) from None
    if not pdf.text:
        raise _Unreadable(f"its {pdf.n_pages} pages hold no text: scanned or drawn")
    remarks = []
    if pdf.n_read < pdf.n_pages:
        remarks.append(f"cut: {pdf.n_pages:,} pages, {pdf.n_read:,} were read")
    if pdf.n_without_text:
        remarks.append(f"{pdf.n_without_text:,} of {pdf.n_read:,} pages hold no text")
    return _Text(
        text=pdf.text, title=pdf.title, published_on=pdf.published_on, remarks=tuple(remarks)
    )


def _of_jina(text: str) -> _Text:
    page = read_jina(text)
    if page.error:
        raise _Unreadable(f"Jina Reader: {page.error}", "unfetchable")
    return _Text(
        text=page.text,
        title=page.title,
        published_on=page.published_on,
        http_status=page.page_status,
        remarks=tuple(f"Jina Reader: {warning}" for warning in page.warnings),
    )


def _judged(
    material: Material, found: _Text, bounds: ReadingBounds, media_type: str | None
) -> ReadPage:
    """The page's status by its answer and by what stands in its way."""
    status = found.http_status or material.http_status
    titles = found.titles or ((found.title,) if found.title else ())
    signals = signals_of(
        Seen(
            url=material.url,
            final_url=material.final_url,
            http_status=status,
            headers=material.headers,
            titles=titles,
            text=found.text,
            markup=found.markup,
        )
    )
    said = (*found.remarks, *map(str, signals))
    wall = wall_of(signals)
    if status >= 400 and wall in (None, "soft_404", "empty"):
        named = f" ({titles[0][:100]})" if titles else ""
        return _failed(material, "unfetchable", f"HTTP {status}{named}", media_type, said)
    if not found.text.strip():
        wall = wall or "empty"
    if wall is not None:
        reason = in_the_way(wall, said)
        return _failed(material, wall, reason, media_type, said, title=found.title)
    text = found.text
    if len(text) > bounds.most_characters:
        said = (f"cut: {len(text):,} characters, {bounds.most_characters:,} are kept", *said)
        text = text[: bounds.most_characters]
    return ReadPage(
        status="ok",
        title=found.title,
        text=text,
        language=found.language or language_code(material.headers.get("content-language")),
        published_on=found.published_on,
        media_type=media_type,
        signals=said,
        reader=reader_version(),
    )


def _failed(
    material: Material,
    status: PageStatus,
    reason: str,
    media_type: str | None,
    signals: tuple[str, ...] = (),
    title: str | None = None,
) -> ReadPage:
    if material.http_status >= 400 and status in ("unreadable", "empty"):
        status, reason = "unfetchable", f"HTTP {material.http_status}"
    return ReadPage(
        status=status,
        title=title,
        media_type=media_type,
        signals=signals,
        error=reason,
        reader=reader_version(),
    )
