"""The article and its copies may not answer its question; other pages may."""

import pytest

from tasks.inversion.checks import SourceArticle
from tasks.inversion.context import build_surroundings, is_article_url
from tests.tasks.inversion.scripted import PAGE, SOURCE, TEXT, settings

HOSTS = ("wikipedia.org", "wikiwand.com")
URL = "https://en.wikipedia.org/wiki/Fall_River/New_Bedford_Line"
TITLE = "Fall River/New Bedford Line"


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "http://en.m.wikipedia.org/wiki/Fall_River%2FNew_Bedford_Line?action=raw#History",
        "https://en.wikipedia.org/w/index.php?title=Fall_River/New_Bedford_Line&oldid=7",
        "https://de.wikipedia.org/wiki/Fall_River/New_Bedford_Line",
        "https://www.wikiwand.com/en/articles/Fall%20River%2FNew%20Bedford%20Line",
        "https://www.wikiwand.com/en/Fall_River-New_Bedford_Line",
    ],
)
def test_an_address_of_the_article_is_known_on_every_host(url: str) -> None:
    assert is_article_url(url, URL, TITLE, HOSTS)


def test_the_article_itself_is_known_on_a_host_that_nobody_listed() -> None:
    assert is_article_url("http://wiki.example.org/x/", "https://wiki.example.org/x", TITLE, ())


@pytest.mark.parametrize(
    "url",
    [
        "https://en.wikipedia.org/wiki/Fall_River",
        "https://example.org/wiki/Fall_River/New_Bedford_Line",
        "https://notwikipedia.org/wiki/Fall_River/New_Bedford_Line",
        "https://wikipedia.org.example.org/wiki/Fall_River/New_Bedford_Line",
        "no address",
        "",
    ],
)
def test_another_page_is_not_the_article(url: str) -> None:
    assert not is_article_url(url, URL, TITLE, HOSTS)


def kept(*archived: tuple[str, str], source: SourceArticle = SOURCE) -> list[str]:
    around = build_surroundings(source, archived, (), settings())
    return [page.url for page in around.pages]


@pytest.mark.parametrize(
    "text",
    ["Home About Contact Imprint Terms Privacy. " * 4 + TEXT, " ".join(TEXT.split()[:25]),
     " ".join(f"remark {n}" for n in range(2_000)) + TEXT],
    ids=["with a menu", "a short excerpt", "within a long page"],
)  # fmt: skip
def test_a_page_that_holds_the_article_s_text_is_a_copy_wherever_it_lies(text: str) -> None:
    assert kept(("https://copy.example.org/x", text)) == []


def test_a_page_that_quotes_one_sentence_is_no_copy() -> None:
    own = " ".join(f"Remark number {n} about something else entirely." for n in range(60))
    assert kept(("https://news.example.org/z", f"{own} {TEXT.splitlines()[2]}")) != []


def test_the_others_stay_in_order() -> None:
    pages = (("https://a.example.org", PAGE), (SOURCE.url, "x"), ("https://b.example.org", PAGE))
    assert kept(*pages) == ["https://a.example.org", "https://b.example.org"]
