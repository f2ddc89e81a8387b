"""Every file that cannot be read says why in a line; none takes the import with it."""

import re
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from docx.document import Document as OpenWord
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tasks.documents import reading
from tasks.documents.document import KINDS, OLE, UnreadableDocument
from tasks.documents.picture import PictureCollector
from tasks.documents.reading import read_by_kind, read_document
from tests.tasks.documents.builders import (
    lines,
    pdf,
    picture,
    scan,
    spoilt,
    tiff,
    wide_bmp,
    with_part,
    word,
)

WORD = word(lambda document: document.add_paragraph("A bridge was built in 1907."))
PDF = pdf(lines("A bridge was built in 1907."))
PAGE = b"<!doctype html><p>A bridge was built in 1907.</p>"

# Pillow warns of pictures that these tests spoil or make too large.
pytestmark = pytest.mark.filterwarnings("ignore:Image size", "ignore:Corrupt EXIF data")


@pytest.fixture(autouse=True)
def read_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read in this process; that there are bounds is for those tests that are about them."""
    if "given_up" not in request.function.__name__:
        monkeypatch.setattr(reading, "run_bounded", lambda call, *given, **_: call(*given))


def zipped(**parts: bytes) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.md", b"", "it is empty"),
        ("a.md", b" \n\n ", "no text and no pictures"),
        ("a.md", "Müller".encode("latin-1"), "not UTF-8 (byte 1)"),
        ("a.txt", b"\xff\xfea", "not UTF-16"),
        ("a.txt", b"a\x00b", "null characters"),
        ("a.md", PDF, "its content is a PDF"),
        ("a.md", lambda: b"x" * 50_000_001, "50,000,001 bytes; at most 50,000,000"),
        ("a.html", WORD, "its content is an Office file or ZIP"),
        ("a.html", b"<meta charset=klingon><p>a", "not the klingon that it says it is"),
        ("a.html", b"<p>caf\xe9</p>", "not the utf-8 that it says it is"),
        ("a.html", lambda: b"<div>" * 20_000 + b"x", "more than 400 deep"),
        ("a.html", b"<html><script>alert(1)</script></html>", "no text and no pictures"),
        ("a.pdf", PAGE, "name ends in .pdf, but its content is HTML"),
        ("a.pdf", b"nothing of the kind", "name ends in .pdf, but its content is not"),
        ("a.pdf", b"%PDF-1.7\nbroken", "it is damaged"),
        ("a.pdf", PDF[:400], "it is damaged"),
        ("a.pdf", lambda: pdf(lines("secret"), password="x"), "locked with a password"),
        ("a.pdf", lambda: pdf(*[lambda canvas: None] * 500), "it has 500 pages; at most 200"),
        ("a.pdf", lambda: pdf(lambda canvas: None), "no text and no pictures"),
        (
            "a.pdf",
            lambda: spoilt(pdf(lines(*[f"Line {n} of the page." for n in range(40)]))),
            "page 1 of 1 not read: its content cannot be decoded. Export it afresh",
        ),
        ("a.docx", PDF, "name ends in .docx, but its content is a PDF"),
        ("a.docx", WORD[:1000], "it is damaged"),
        ("a.docx", lambda: zipped(a=b"b"), "a ZIP archive, not a Word file"),
        ("a.docx", OLE + "EncryptedPackage".encode("utf-16-le"), "locked with a password"),
        ("a.docx", OLE + b"\x00" * 600, "an old Word file (.doc)"),
        ("a.docx", lambda: with_part(WORD, "word/b.xml", b"\0" * 31_000_000), "it unpacks to"),
        ("a.docx", lambda: with_part(WORD, "word/b.png", b"\0" * 201_000_000), "it unpacks to"),
        ("a.docx", lambda: with_part(WORD, "word/document.xml", b"<w:"), "it is damaged"),
        ("a.png", PAGE, "name ends in .png, but its content is HTML"),
        ("a.png", lambda: picture()[:45], "it is damaged"),
        ("a.png", lambda: picture(size=(12_000, 12_000), mode="1"), "12,000 by 12,000 pixels"),
        ("a.gif", b"GIF89a", "begins like a picture"),
        ("a.bmp", PAGE, "name ends in .bmp, but its content is HTML"),
        ("a.bmp", lambda: picture("BMP")[:80], "it is damaged"),
        ("a.bmp", lambda: wide_bmp(20_000, 20_000), "it is damaged"),
        ("a.bmp", lambda: wide_bmp(12_000, 12_000), "12,000 by 12,000 pixels"),
        ("a.tif", lambda: picture("TIFF", (90, 90))[:-99], "it is damaged"),
        ("a.tif", b"II*\0" + bytes(20), "begins like a picture"),
        ("a.tiff", lambda: picture("TIFF", (12_000, 12_000), "1"), "12,000 by 12,000 pixels"),
        ("a.tiff", lambda: tiff(*[(9, 9)] * 201), "it has more than 200 pages"),
        ("a.doc", b"x", "files that end in .doc are not read; expected one of .md"),
        ("README", b"x", "files that end in nothing are not read"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(
    name: str, content: bytes | Callable[[], bytes], says: str
) -> None:
    with pytest.raises(UnreadableDocument, match=re.escape(says)) as caught:
        read_document(name, content() if callable(content) else content)
    assert len(str(caught.value)) < 500
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.md", "b.TXT", "c.html", "d.htm", "e.docx", "f.pdf"])
def test_every_format_gives_its_text(name: str) -> None:
    ending = name.rpartition(".")[2].lower()
    content = {"docx": WORD, "pdf": PDF, "html": PAGE, "htm": PAGE}.get(ending)
    document = read_document(name, content or b"A bridge was built in 1907.")
    assert document.markdown.strip() == "A bridge was built in 1907."
    assert not document.scanned
    assert document.reader


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_text_in_any_encoding_of_unicode_is_read(encoding: str) -> None:
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    read_back = read_document("a.txt", (mark + "Über 椒麻堂会").encode(encoding)).markdown
    assert read_back == "Über 椒麻堂会"


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_is_kept_without_a_text(form: str) -> None:
    document = read_document("a.png", picture(form))  # the bytes tell, not the ending
    assert document.scanned
    assert document.media_type == f"image/{form.lower()}"
    assert document.page_remarks == ("page 1 of 1 not read: a picture",)


def shown(content: bytes) -> tuple[str | None, tuple[int, int], object]:
    """Format, size and upper left corner of a picture."""
    with Image.open(BytesIO(content)) as image:
        return image.format, image.size, image.convert("RGB").getpixel((0, 0))


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK", "I;16", "F"])
def test_a_tiff_becomes_a_png_for_each_page(mode: str) -> None:
    document = read_document("a.tif", tiff((30, 20), (15, 40), mode=mode))
    assert (document.scanned, document.media_type, document.n_pages) == (True, "image/tiff", 2)
    assert [(p.name, p.media_type) for p in document.pictures] == [
        ("page-1.png", "image/png"),
        ("page-2.png", "image/png"),
    ]
    assert [shown(p.content)[:2] for p in document.pictures] == [
        ("PNG", (30, 20)),
        ("PNG", (15, 40)),
    ]


def test_a_bmp_becomes_a_png_that_shows_the_same() -> None:
    content = picture("BMP", colour="red")
    document = read_document("a.bmp", content)
    assert (document.media_type, document.n_pages) == ("image/bmp", 1)
    assert [shown(p.content) for p in document.pictures] == [("PNG", (20, 10), (255, 0, 0))]
    assert read_document("a.bmp", content) == document, "the same bytes at each import"


def test_a_text_that_begins_like_a_bmp_is_a_text() -> None:
    assert read_document("a.md", b"BMI is weight by height squared.").markdown.startswith("BMI")


def test_pictures_in_a_word_file_that_no_judge_reads_become_png() -> None:
    def write(document: OpenWord) -> None:
        document.add_paragraph("A chart:")
        document.add_picture(BytesIO(picture("TIFF", colour="red")))
        document.add_picture(BytesIO(picture("BMP")))
        document.add_picture(BytesIO(picture("JPEG")))

    document = read_document("a.docx", word(write))
    assert [p.media_type for p in document.pictures] == ["image/png", "image/png", "image/jpeg"]
    assert shown(document.pictures[0].content) == ("PNG", (20, 10), (255, 0, 0))
    assert "image-1.png" in document.markdown


def test_a_picture_in_a_word_file_that_is_too_large_to_convert_stays_as_it_is() -> None:
    collector = PictureCollector()
    assert collector.add("image/tiff", picture("TIFF", (12_000, 12_000), "1")) == "image-1.tiff"
    assert [each.media_type for each in collector.pictures] == ["image/tiff"]


def test_a_file_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(UnreadableDocument, match=r"more than 0\.3 seconds"):
        read_document("a.pdf", pdf(*[lines(*["word " * 15] * 50)] * 50), seconds=0.3)


def test_a_file_that_takes_too_much_memory_is_given_up() -> None:
    content = pdf(*[scan] * 2)
    with pytest.raises(UnreadableDocument, match=r"MB of memory|broke the process"):
        read_document("a.pdf", content, megabytes=60)


@pytest.mark.parametrize("kind", sorted(set(KINDS.values())))
@given(content=st.binary(max_size=300), head=st.sampled_from([b"", b"%PDF-1.4\n", b"PK\x03\x04",
       b"<html>", b"\x89PNG\r\n\x1a\n", b"II*\0", picture("BMP")[:40], PDF[:300],
       WORD[:200]]))  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_no_bytes_are_more_than_unreadable(kind: str, content: bytes, head: bytes) -> None:
    with suppress(UnreadableDocument):
        assert read_by_kind(kind, head + content).reader
