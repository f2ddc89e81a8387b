"""Report files made on the spot: Word files, PDFs, pictures, and broken ones of each."""

from collections.abc import Callable, Sequence
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

from docx import Document as WordDocument
from docx.document import Document as OpenWord
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

LEFT, TOP, PITCH = 60.0, 780.0, 14.0
"""Where the text of a page begins, and from line to line, in points from below."""


def picture(
    form: str = "PNG", size: tuple[int, int] = (20, 10), mode: str = "RGB", colour: str | int = 0
) -> bytes:
    """A picture in one colour."""
    file = BytesIO()
    Image.new(mode, size, colour).save(file, form)
    return file.getvalue()


def tiff(*sizes: tuple[int, int], mode: str = "L") -> bytes:
    """A TIFF with a page of each size."""
    file = BytesIO()
    first, *others = [Image.new(mode, size) for size in sizes]
    first.save(file, "TIFF", save_all=True, append_images=others)
    return file.getvalue()


def wide_bmp(width: int, height: int) -> bytes:
    """A small file that says it is a BMP of so many pixels."""
    content = picture("BMP")
    size = width.to_bytes(4, "little") + height.to_bytes(4, "little")
    return content[:18] + size + content[26:]


def word(write: Callable[[OpenWord], object]) -> bytes:
    """A Word file."""
    document, file = WordDocument(), BytesIO()
    write(document)
    document.save(file)
    return file.getvalue()


def with_part(docx: bytes, name: str, content: bytes) -> bytes:
    """A Word file with one part more, or another in its place."""
    file = BytesIO()
    with ZipFile(BytesIO(docx)) as old, ZipFile(file, "w", ZIP_DEFLATED) as new:
        for part in old.namelist():
            if part != name:
                new.writestr(part, old.read(part))
        new.writestr(name, content)
    return file.getvalue()


def pdf(*pages: Callable[[Canvas], None], password: str | None = None) -> bytes:
    """A PDF without tags, drawn page by page."""
    file = BytesIO()
    locked = StandardEncryption(password) if password else None
    canvas = Canvas(file, pagesize=A4, encrypt=locked)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def lines(
    *texts: str, size: float = 11, top: float = TOP, bold: bool = False
) -> Callable[[Canvas], None]:
    """Draws lines of text one below the other."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica-Bold" if bold else "Helvetica", size)
        for number, text in enumerate(texts):
            canvas.drawString(LEFT, top - number * PITCH, text)

    return draw


def linked(text: str, url: str, x: float, y: float, size: float = 6) -> Callable[[Canvas], None]:
    """Draws a word with a link at a place of the page."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", size)
        canvas.drawString(x, y, text)
        width = canvas.stringWidth(text, "Helvetica", size)
        canvas.linkURL(url, (x, y - 1, x + width, y + size))

    return draw


def both(*draws: Callable[[Canvas], None]) -> Callable[[Canvas], None]:
    """Draws several things on one page."""

    def draw(canvas: Canvas) -> None:
        for one in draws:
            one(canvas)

    return draw


def scan(canvas: Canvas) -> None:
    """Draws a page that is a picture."""
    canvas.drawInlineImage(Image.new("RGB", (200, 280), "white"), 50, 100, 400, 560)


def ruled_table(
    rows: Sequence[Sequence[str]], top: float = TOP, width: float = 120, height: float = 20
) -> Callable[[Canvas], None]:
    """Draws a table with lines around its cells."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        for r, row in enumerate(rows):
            for c, text in enumerate(row):
                x, y = LEFT + c * width, top - (r + 1) * height
                canvas.rect(x, y, width, height)
                canvas.drawString(x + 4, y + 6, text)

    return draw


def spoilt(content: bytes) -> bytes:
    """A PDF whose last page has no readable content any more."""
    end = content.rindex(b"endstream")
    begin = content.rindex(b"stream\n", 0, end) + len(b"stream\n")
    return content[:begin] + b"z" * (end - begin - 2) + b"~>" + content[end:]
