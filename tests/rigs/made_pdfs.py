"""PDFs made for reading: prose, two columns, tables, many pages."""

from dataclasses import dataclass
from functools import cache
from io import BytesIO

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

PROSE = (
    "The Tolvane swing bridge reopened to traffic on Monday, eleven months after a coal barge "
    "struck its eastern pier in fog.",
    "Repairs cost 14.2 million pounds, some 3.1 million more than the county had set aside for "
    "the work in its budget of that year.",
    "Every one of the 212 rivets in the turning gear was replaced, and the pier now stands on 18 "
    "new piles of reinforced concrete.",
    "Lorries above 26 tonnes have to use the ring road until at least October of the next year, "
    "said the chief engineer.",
)
ROWS = (
    ("Maja Lindqvist", "SWE", "64.18 m"),
    ("Renata Kosova", "CZE", "63.95 m"),
    ("Adaeze Obi", "NGR", "60.31 m"),
    ("Li Wenyu", "CHN", "59.88 m"),
)


@dataclass(frozen=True)
class MadePdf:
    name: str
    content: bytes
    says: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


PDF_NAMES = ("prose", "two columns", "table with lines", "table without lines", "long")


@cache
def made_pdfs() -> list[MadePdf]:
    """Those of PDF_NAMES, in this order."""
    table = Table([("Athlete", "Nation", "Mark"), *ROWS])
    table.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.5, "black")]))
    bare = Table(list(ROWS), colWidths=150)
    made_of = (
        (made(paragraphs(PROSE)), ()),
        (made(paragraphs(PROSE * 6), columns=2), ()),
        (made([table, Spacer(1, 9), *paragraphs(PROSE)]), ROWS),
        (made([bare, Spacer(1, 9), *paragraphs(PROSE)]), ROWS),
        (made(paragraphs(PROSE * 400)), ()),
    )
    return [
        MadePdf(name, content, PROSE, rows)
        for name, (content, rows) in zip(PDF_NAMES, made_of, strict=True)
    ]


def made(parts: list[Flowable], columns: int = 1, title: str | None = None) -> bytes:
    """A PDF of these parts, A4, in one column or more."""
    buffer = BytesIO()
    width, height = A4
    gap, edge = 20, 60
    each = (width - 2 * edge - gap * (columns - 1)) / columns
    frames = [Frame(edge + n * (each + gap), edge, each, height - 2 * edge) for n in range(columns)]
    document = BaseDocTemplate(buffer, pagesize=A4, title=title)
    document.addPageTemplates(PageTemplate(frames=frames))
    document.build(parts)
    return buffer.getvalue()


def paragraphs(sentences: tuple[str, ...]) -> list[Flowable]:
    """One for each sentence."""
    style = getSampleStyleSheet()["BodyText"]
    return [Paragraph(sentence, style) for sentence in sentences]
