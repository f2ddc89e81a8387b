"""PDFs without tags: what the layout tells is read, and pages without text are named."""

from collections.abc import Callable, Sequence
from io import BytesIO

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from tasks.documents.pdf import read
from tests.tasks.documents.builders import (
    LEFT,
    PITCH,
    TOP,
    both,
    lines,
    linked,
    pdf,
    picture,
    ruled_table,
    scan,
    spoilt,
)

PARAGRAPH = (
    "The bridge over the river was built in the spring of 1907 by the city, which",
    "had paid for it with a loan that was not repaid before the year 1950. It has",
    "three arches.",
)
WHOLE = " ".join(PARAGRAPH)


def text(*pages: Callable[[Canvas], None]) -> str:
    return read(pdf(*pages)).markdown.strip()


def test_lines_of_a_paragraph_are_joined_and_paragraphs_parted() -> None:
    second = lines(*PARAGRAPH, top=TOP - 4 * PITCH)
    assert text(both(lines(*PARAGRAPH), second)) == f"{WHOLE}\n\n{WHOLE}"


def test_a_line_that_ends_early_ends_the_paragraph() -> None:
    given = (
        *PARAGRAPH,
        "By the time it was torn down, nobody remembered who had wanted it or why,",
    )
    assert text(lines(*given)) == f"{WHOLE}\n\n{given[-1]}"


def test_larger_letters_make_headings_and_bold_lines_stay_bold() -> None:
    page = both(
        lines("The Bridge", size=22),
        lines("History", size=16, top=TOP - 40),
        lines("Early years", top=TOP - 70, bold=True),
        lines(*PARAGRAPH, top=TOP - 90),
    )
    assert text(page) == f"# The Bridge\n\n## History\n\n**Early years**\n\n{WHOLE}"


def test_items_stay_items() -> None:
    page = both(lines(*PARAGRAPH), lines("• one", "• two", "1. three", top=TOP - 80))
    assert text(page).endswith("\n\n- one\n- two\n1. three")


def test_a_page_cannot_smuggle_in_markup() -> None:
    page = both(lines(*PARAGRAPH), lines("# no heading", top=TOP - 80), lines("a <b> c", top=600))
    assert text(page).endswith("\n\n\\# no heading\n\na \\<b> c")


def test_running_heads_and_page_numbers_are_no_text() -> None:
    def page(number: int) -> Callable[[Canvas], None]:
        return both(
            lines("Bridges of the North", size=8, top=820),
            lines("North of the river stood a", " ".join(["bridge"] * number) + ".", top=700),
            lines(f"Page {number} of 4", size=8, top=20),
        )

    written = [f"North of the river stood a {' '.join(['bridge'] * n)}." for n in range(1, 5)]
    assert text(*map(page, range(1, 5))).split("\n\n") == written


def test_a_sentence_goes_on_over_the_end_of_a_page() -> None:
    pages = [both(lines(part), lines(str(n), top=20)) for n, part in enumerate(PARAGRAPH[:2], 1)]
    assert text(*pages) == " ".join(PARAGRAPH[:2])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("… and it was a recon-", "struction of the year", "reconstruction of the year"),
        ("… and it was a well-", "known reconstruction", "well-known reconstruction"),
        ("… from 1907-", "1950 and later", "1907-1950 and later"),
        (
            "see https://a.org/the-long-",
            "bridge.html for more",
            "https://a.org/the-long-bridge.html",
        ),
        ("see https://a.org/bridge", "and the city's own page", "https://a.org/bridge and the"),
        ("see https://a.org/bridge?", "id=7 or the city's", "https://a.org/bridge?id=7 or"),
    ],
)
def test_what_a_line_s_end_parted_is_joined(first: str, second: str, expected: str) -> None:
    # Lines as long as the longest, so that no end was meant; the whole words stand elsewhere.
    known = "A reconstruction is a bridge that is well-known as the one that stood there once."
    filled = f"{known[: len(known) - len(first) - 1]} {first}"
    assert expected in text(lines(known, filled, second))


def test_words_under_a_link_become_a_link() -> None:
    def page(canvas: Canvas) -> None:
        lines("Built by the city in 1907. See https://b.org/x for more of it.")(canvas)
        start = LEFT + canvas.stringWidth("Built by ", "Helvetica", 11)
        width = canvas.stringWidth("the city", "Helvetica", 11)
        canvas.linkURL("https://a.org/a (b)", (start, TOP - 3, start + width, TOP + 9))

    assert text(page) == (
        "Built by [the city](https://a.org/a%20(b)) in 1907. See https://b.org/x for more of it."
    )


def test_a_raised_number_is_a_citation_and_an_exponent_is_not() -> None:
    def page(canvas: Canvas) -> None:
        lines("It was built in that year")(canvas)
        x = LEFT + canvas.stringWidth("It was built in that year", "Helvetica", 11)
        canvas.setFont("Helvetica", 7)
        canvas.drawString(x, TOP + 4, "12")
        lines("and covers 20 km", top=TOP - PITCH)(canvas)
        x = LEFT + canvas.stringWidth("and covers 20 km", "Helvetica", 11)
        canvas.setFont("Helvetica", 7)
        canvas.drawString(x, TOP - PITCH + 4, "2")

        lines("It cost 7×10 crowns", top=TOP - 2 * PITCH)(canvas)
        x = LEFT + canvas.stringWidth("It cost 7×10 crowns", "Helvetica", 11)
        canvas.setFont("Helvetica", 9)  # as browsers print it
        canvas.drawString(x, TOP - 2 * PITCH + 4, "1,3")
        canvas.drawString(x + 16, TOP - 2 * PITCH + 4, "4")

    found = text(page)
    assert "year[12]" in found
    assert "km2" in found
    assert "crowns[1,3] [4]" in found


def at_end(line: str, number: int, gap: float = 5) -> tuple[float, float]:
    """The place behind the line of a page with such a number, counted from 0."""
    return LEFT + stringWidth(line, "Helvetica", 11) + gap, TOP - number * PITCH + 3


@pytest.mark.parametrize("turn", [1, -1], ids=["after", "before"])
def test_numbers_drawn_apart_from_the_text_join_the_line_beside_which_they_stand(turn: int) -> None:
    """As programs draw that put citations into boxes of their own."""
    full = (
        "The quarry was closed in the year 1962 and has been a lake ever since then, fed by rain."
    )
    given = ("It is 40 m deep.", "", full, "", "Divers come from all of the country to see it.")
    draws = [
        lines(*given),
        linked("3", "https://a.org/3", *at_end(given[4], 4)),
        linked("1", "https://a.org/1", *at_end(given[0], 0)),
        linked("2", "https://a.org/2", LEFT + 4, TOP - 3 * PITCH + 3),  # had no room behind it
        linked("12", "https://a.org/2", LEFT + 20, TOP - 3 * PITCH + 3),
    ]
    assert text(both(*draws[::turn])).split("\n\n") == [
        "It is 40 m deep. [1](https://a.org/1)",
        f"{full} [2](https://a.org/2) [12](https://a.org/2)",
        "Divers come from all of the country to see it. [3](https://a.org/3)",
    ]


def test_entries_whose_numbers_are_drawn_last_are_one_line_each() -> None:
    page = both(
        lines(*PARAGRAPH),
        lines("The lake in the quarry", top=700),
        linked("https://a.org/lake", "https://a.org/lake", LEFT, 690, size=8),
        lines("https://a.org/divers", top=670),
        linked("https://a.org/divers", "https://a.org/divers", LEFT, 660, size=8),
        linked("1", "https://a.org/lake", LEFT - 24, 703),
        linked("4", "https://a.org/lake", LEFT - 10, 703),
        linked("2", "https://a.org/divers", LEFT - 10, 673),
    )
    assert text(page).split("\n\n") == [
        WHOLE,
        "[1](https://a.org/lake) [4](https://a.org/lake) The lake in the quarry "
        "<https://a.org/lake>",
        "[2](https://a.org/divers) https://a.org/divers <https://a.org/divers>",
    ]


def test_an_entry_that_spells_out_its_address_does_not_go_on_with_the_text_above() -> None:
    page = both(
        lines("They dive in the lake all year.", "https://a.org/lake"),
        linked("1", "https://a.org/lake", LEFT - 10, TOP - PITCH + 3),
    )
    assert text(page).endswith("all year.\n\n[1](https://a.org/lake) https://a.org/lake")


def test_bullets_drawn_last_are_items_and_counted_lines_are_no_citations() -> None:
    drawn = both(lambda canvas: canvas.translate(12, 0), lines("It is deep.", "It is cold."))
    bullets = both(lambda canvas: canvas.translate(-12, 0), lines("•", "•"))
    counts = both(lambda canvas: canvas.translate(-40, 0), lines("1", "2", size=6))
    assert text(both(drawn, bullets, counts)).startswith("- It is deep.\n- It is cold.\n")


def test_frames_around_words_of_a_sentence_are_no_cells() -> None:
    def framed(words: Sequence[str], line: int) -> Callable[[Canvas], None]:
        def draw(canvas: Canvas) -> None:
            canvas.setFont("Helvetica", 11)
            x = LEFT
            for word in words:
                width = canvas.stringWidth(word, "Helvetica", 11)
                canvas.roundRect(x, TOP - line * PITCH - 4, width + 4, PITCH, 2)
                canvas.drawString(x + 2, TOP - line * PITCH, word)
                canvas.drawString(x + width + 4, TOP - line * PITCH, ",")
                x += width + 11

        return draw

    page = both(
        lines("The keeper of the lake writes each morning what he measures into the files"),
        framed(["depth.csv", "rain.csv", "ice.csv"], 1),
        framed(["fish.csv", "divers.csv", "boats.csv"], 2),
        lines("and signs them.", top=TOP - 3 * PITCH),
    )
    assert text(page) == (
        "The keeper of the lake writes each morning what he measures into the files depth.csv, "
        "rain.csv, ice.csv, fish.csv, divers.csv, boats.csv, and signs them."
    )


def test_a_table_with_lines_around_its_cells_stays_a_table() -> None:
    rows = [["Year", "What"], ["1907", "built | opened"], ["1950", "torn down"]]
    for width in (120, 78):  # at which the longest words fill their cell
        table = ruled_table(rows, top=TOP - 60, width=width)
        assert text(both(lines(*PARAGRAPH), table, lines("After it.", top=600))) == (
            f"{WHOLE}\n\n| Year | What |\n| --- | --- |\n| 1907 | built \\| opened |\n"
            "| 1950 | torn down |\n\nAfter it."
        )


def test_a_table_goes_on_on_the_next_page() -> None:
    head, one, two = ["Year", "What"], ["1907", "built"], ["1950", "torn down"]
    pages = [ruled_table([head, one]), ruled_table([head, two])]
    assert text(*pages) == "| Year | What |\n| --- | --- |\n| 1907 | built |\n| 1950 | torn down |"


def test_pages_without_text_are_named_and_the_rest_is_read() -> None:
    document = read(pdf(lines(*PARAGRAPH), scan, scan, lambda canvas: None, scan))
    assert document.markdown.strip() == WHOLE
    assert (document.n_pages, [p.number for p in document.unread_pages]) == (5, [2, 3, 5])
    assert document.page_remarks == ("pages 2-3, 5 of 5 not read: no text, 1 picture",)
    assert not document.scanned


def test_a_pdf_of_pictures_counts_as_scanned() -> None:
    document = read(pdf(scan, scan))
    assert document.scanned
    assert document.markdown.strip() == ""


def test_a_broken_page_is_named_and_leaves_the_others() -> None:
    document = read(spoilt(pdf(lines("One two three."), lines(*PARAGRAPH * 9))))
    assert document.markdown.strip() == "One two three."
    assert document.page_remarks == ("page 2 of 2 not read: its content cannot be decoded",)


def drawn(content: bytes, side: float = 100) -> Callable[[Canvas], None]:
    """Draws a picture as it is in its file."""
    return lambda canvas: canvas.drawImage(ImageReader(BytesIO(content)), 60, 300, side, side)


def opened(content: bytes) -> tuple[str | None, tuple[int, int]]:
    with Image.open(BytesIO(content)) as image:
        return image.format, image.size


def test_pictures_beside_text_are_kept_each_once_in_order() -> None:
    jpeg, png = picture("JPEG", (60, 40), colour="red"), picture(size=(50, 90))
    first, second = lines("A chart shows the fall."), lines("Another shows the spring.", top=700)
    document = read(pdf(both(first, drawn(png)), both(second, drawn(jpeg), drawn(png))))
    assert [(p.name, p.media_type) for p in document.pictures] == [
        ("image-1.png", "image/png"),
        ("image-2.jpg", "image/jpeg"),
    ]
    assert opened(document.pictures[0].content) == ("PNG", (50, 90))
    assert document.pictures[1].content == jpeg
    assert document.remarks == ()


def test_icons_are_no_pictures_and_print_colours_become_png() -> None:
    cmyk, icon = picture("JPEG", (60, 40), "CMYK"), picture(size=(16, 16))
    document = read(pdf(both(lines("A chart."), drawn(icon), drawn(cmyk))))
    assert [opened(p.content) for p in document.pictures] == [("PNG", (60, 40))]


def test_a_picture_is_kept_as_the_page_shows_it_on_white_and_turned() -> None:
    chart = Image.new("RGBA", (80, 40), (0, 0, 0, 0))  # all of it black below its mask
    chart.paste((0, 0, 0, 255), (0, 0, 40, 40))

    def draw(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(chart), 60, 500, 80, 40, mask="auto")
        canvas.translate(300, 500)
        canvas.rotate(90)
        canvas.drawImage(ImageReader(chart.convert("RGB")), 0, 0, 80, 40)

    masked, turned = read(pdf(both(lines("A chart."), draw))).pictures
    with Image.open(BytesIO(masked.content)) as shown:
        assert (shown.size, shown.mode) == ((80, 40), "RGB")
        assert (shown.getpixel((20, 20)), shown.getpixel((60, 20))) == ((0, 0, 0), (255, 255, 255))
    assert opened(turned.content) == ("PNG", (40, 80))


def test_a_scan_s_pictures_are_in_the_pdf_that_is_shown() -> None:
    assert read(pdf(drawn(picture(size=(500, 700))))).pictures == ()


@pytest.mark.parametrize("size", [b"20000", b"2000000000"])
def test_a_picture_of_too_many_pixels_is_left_out_and_the_text_stays(size: bytes) -> None:
    content = pdf(both(lines("A chart."), drawn(picture(size=(61, 41)))))
    assert b"/Width 61" in content
    content = content.replace(b"/Width 61", b"/Width " + size)
    document = read(content.replace(b"/Height 41", b"/Height " + size))
    assert document.markdown.strip() == "A chart."
    assert document.pictures == ()
    assert "1 of its pictures are left out" in document.remarks[0]
