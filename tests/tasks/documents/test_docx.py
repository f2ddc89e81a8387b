"""Word files keep headings, tables, links, notes and their pictures."""

from io import BytesIO
from zipfile import ZipFile

import pytest
from docx.document import Document as OpenWord
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph

from tasks.documents.document import UnreadableDocument
from tasks.documents.docx import read
from tasks.documents.reading import read_document
from tasks.extraction.claims import extract_claims
from tests.tasks.documents.builders import picture, with_part, word

NOTES = """<?xml version="1.0" encoding="UTF-8"?>
<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:footnote w:id="2"><w:p><w:r><w:t>See https://a.org/one for it.</w:t></w:r></w:p></w:footnote>
</w:footnotes>"""
NOTES_TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"


def add_link(paragraph: Paragraph, words: str, url: str) -> None:
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(url, RELATIONSHIP_TYPE.HYPERLINK, True))
    run = paragraph.add_run(words)._r
    link.append(run)
    paragraph._p.append(link)


def write_report(document: OpenWord) -> None:
    document.add_heading("The Bridge", 0)
    document.add_heading("History", 1)
    paragraph = document.add_paragraph("The bridge was built in 1907 by ")
    add_link(paragraph, "the city", "https://a.org/city")
    paragraph.add_run(".")
    document.add_paragraph("first", style="List Bullet")
    document.add_paragraph("second", style="List Bullet")
    document.add_picture(BytesIO(picture()))
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ["Year", "What", "1907", "built"], strict=True):
        cell.text = text


def test_a_word_file_keeps_its_structure_and_pictures() -> None:
    document = read(word(write_report))
    blocks = document.markdown.strip().split("\n\n")
    assert blocks[:4] == [
        "# The Bridge",
        "# History",
        "The bridge was built in 1907 by [the city](https://a.org/city).",
        "- first\n- second",
    ]
    assert "![](image-1.png)" in document.markdown
    assert "| 1907 | built |" in document.markdown
    assert [(p.name, p.media_type, p.content) for p in document.pictures] == [
        ("image-1.png", "image/png", picture())
    ]


def test_footnotes_become_footnotes_that_claims_can_follow() -> None:
    def write(document: OpenWord) -> None:
        paragraph = document.add_paragraph("The bridge was built in the spring of 1907.")
        note = OxmlElement("w:footnoteReference")
        note.set(qn("w:id"), "2")
        paragraph.add_run()._r.append(note)

    plain = word(write)
    types = b'<Override PartName="/word/footnotes.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"/></Types>'  # noqa: E501
    relation = f'<Relationship Id="rIdN" Type="{NOTES_TYPE}" Target="footnotes.xml"/>'.encode()
    with ZipFile(BytesIO(plain)) as parts:
        listed = parts.read("[Content_Types].xml").replace(b"</Types>", types)
        related = parts.read("word/_rels/document.xml.rels").replace(
            b"</Relationships>", relation + b"</Relationships>"
        )
    noted = with_part(plain, "word/footnotes.xml", NOTES.encode())
    noted = with_part(noted, "[Content_Types].xml", listed)
    noted = with_part(noted, "word/_rels/document.xml.rels", related)
    text = read(noted).markdown
    assert "1907.[^1]" in text
    assert "[^1]: See https://a.org/one for it." in text
    [claim] = extract_claims("", text).claims
    assert [c.url for c in claim.citations] == ["https://a.org/one"]


def test_raised_numbers_cite_and_exponents_do_not() -> None:
    def write(document: OpenWord) -> None:
        paragraph = document.add_paragraph("The bridge was opened in 1932.")
        for words, raised in (("1,3", True), (" It covers 5 km", False), ("2", True)):
            paragraph.add_run(words).font.superscript = raised

    assert (
        read(word(write)).markdown.strip() == "The bridge was opened in 1932.[1,3] It covers 5 km2"
    )


def test_text_that_word_hides_is_no_text() -> None:
    def write(document: OpenWord) -> None:
        document.styles.add_style("Unseen", WD_STYLE_TYPE.CHARACTER).font.hidden = True
        paragraph = document.add_paragraph("seen ")
        paragraph.add_run("not seen ").font.hidden = True
        paragraph.add_run("by style ", "Unseen")
        paragraph.add_run("shown all the same", "Unseen").font.hidden = False

    assert read(word(write)).markdown.strip() == "seen shown all the same"


def test_equations_keep_their_letters_and_code_is_code() -> None:
    def write(document: OpenWord) -> None:
        document.styles.add_style("Source Code", WD_STYLE_TYPE.PARAGRAPH)
        paragraph = document.add_paragraph("They grow as ")
        equation, letters = OxmlElement("m:oMath"), OxmlElement("m:t")
        letters.text = "a+b"
        equation.append(letters)
        paragraph._p.append(equation)
        paragraph.add_run(" says.")
        for line in ("x = ants[1]", "y = ants[2]"):
            document.add_paragraph(line, "Source Code")

    found = read(word(write)).markdown.strip()
    assert found == "They grow as a+b says.\n\n```\nx = ants[1]\ny = ants[2]\n```"


def test_a_word_file_of_pictures_alone_counts_as_scanned() -> None:
    document = read(word(lambda opened: opened.add_picture(BytesIO(picture()))))
    assert document.scanned
    assert len(document.pictures) == 1


def test_a_picture_that_is_not_in_the_file_is_remarked_on() -> None:
    whole = word(lambda opened: opened.add_picture(BytesIO(picture())))
    with ZipFile(BytesIO(whole)) as parts:
        related = parts.read("word/_rels/document.xml.rels").replace(b"media/image1", b"media/gone")
    document = read(with_part(whole, "word/_rels/document.xml.rels", related))
    assert document.pictures == ()
    assert "1 of its pictures" in document.remarks[0]


def test_a_word_file_nested_too_deep_is_a_clear_error() -> None:
    depth = 2_000
    body = "<w:tbl><w:tr><w:tc>" * depth + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * depth
    xml = (
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f"<w:body>{body}</w:body></w:document>"
    )
    plain = word(lambda opened: opened.add_paragraph("x"))
    with pytest.raises(UnreadableDocument, match=r"too deep|damaged|more than"):
        read_document("a.docx", with_part(plain, "word/document.xml", xml.encode()))
