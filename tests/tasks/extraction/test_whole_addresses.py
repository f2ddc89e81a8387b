"""Whether a report has an address as a whole: whoever accuses it of one must be sure of its end."""

import pytest
from docx.document import Document as OpenWord

from tasks.documents.reading import read_document
from tasks.extraction.links import stands_alone
from tasks.extraction.wrappers import is_wrapper
from tests.tasks.documents.builders import word
from tests.tasks.documents.test_docx import add_link

URL = "https://a.org/an-article"


@pytest.mark.parametrize(
    "text",
    [
        "{}", "See {} there.", "[it]({})", '[it]({} "title")', "<{}>", "[{}]",
        '<a href="{}">it</a>',
        "[1]: {}\r\n[2]: more", "URL: {}\n\nNext", "- {}\n- https://b.org", "1. {}\n2. other",
        "{}.\n\nAlso [it]({}).", "| {} |", "[^1]: Title. {}", "[1] Title. {}\n[2] Other.",
    ],
)  # fmt: skip
def test_an_address_between_blanks_or_in_brackets_of_its_own_is_whole(text: str) -> None:
    assert stands_alone(text.replace("{}", URL), URL)


@pytest.mark.parametrize(
    "text",
    [
        "", "See {}.", "[1] Title. {}.\n[2] Other.", "(source: {})",
        "{}, and", "{}…", "{}...", "{}/more", "{}-of-the-year", "({}.)", "{}x",
        "{}\nof-the-year", "{}\nand so on", "https://web.archive.org/{}", "https://b.org/?u={}",
        "{}）", "{}{{id}}", "*{}*", "'{}\"",
    ],
)  # fmt: skip
def test_an_address_with_a_sign_beside_it_may_have_been_cut(text: str) -> None:
    assert not stands_alone(text.replace("{}", URL), URL)


def test_links_of_html_and_word_files_are_whole() -> None:
    address, bare = f"{URL}?a=1&b=(c)_d", "https://b.org/the_other"
    html = f'<p>It is <a href="{address.replace("&", "&amp;")}">so</a>.</p><li>Title. {bare}</li>'

    def write(document: OpenWord) -> None:
        add_link(document.add_paragraph("It is "), "so", address)
        document.add_paragraph(f"Title. {bare}", style="List Bullet")

    for name, content in (("r.html", html.encode()), ("r.docx", word(write))):
        text = read_document(name, content).markdown
        assert stands_alone(text, address), text
        assert stands_alone(text, bare), text


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("https://t.co/aBc", True),
        ("https://vertexaisearch.cloud.google.com/grounding-api-redirect/AQ", True),
        ("https://www.google.com/url?q=https://a.org/x", True),
        ("https://web.archive.org/web/2020/https://a.org/x", True),
        ("https://archive.ph/AbCde", True),
        ("https://not.co/aBc", False),
        ("https://doi.org/10.1/2", False),
        ("https://www.google.com/about", False),
        (URL, False),
    ],
)
def test_redirects_and_copies_stand_for_another_page(url: str, is_one: bool) -> None:
    assert is_wrapper(url) is is_one
