"""Whether a report has an address as a whole: whoever accuses it of one must be sure of its end."""

import pytest

from tasks.extraction.links import stands_alone
from tasks.extraction.wrappers import is_wrapper

URL = "https://a.org/an-article"


@pytest.mark.parametrize(
    "text",
    [
        "{}", "See {} there.", "[it]({})", '[it]({} "title")', "<{}>", "[{}]",
        '<a href="{}">it</a>',
        "[1]: {}\r\n[2]: more", "URL: {}\n\nNext", "- {}\n- https://b.org", "1. {}\n2. other",
        "{}.\n\nAlso [it]({}).", "| {} |",
    ],
)  # fmt: skip
def test_an_address_between_blanks_or_in_brackets_of_its_own_is_whole(text: str) -> None:
    assert stands_alone(text.replace("{}", URL), URL)


@pytest.mark.parametrize(
    "text",
    [
        "", "See {}.", "{}, and", "{}…", "{}...", "{}/more", "{}-of-the-year", "({}.)", "{}x",
        "{}\nof-the-year", "{}\nand so on", "https://web.archive.org/{}", "https://b.org/?u={}",
        "{}）", "{}{{id}}", "*{}*", "'{}\"",
    ],
)  # fmt: skip
def test_an_address_with_a_sign_beside_it_may_have_been_cut(text: str) -> None:
    assert not stands_alone(text.replace("{}", URL), URL)


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
