"""What must not be used, read one way by all who heed it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extraction.bans import BanList, InvalidBan, is_host_or_subdomain, is_on_host, parse_bans
from tasks.extraction.urls import normalise_url


@pytest.mark.parametrize(
    "entry",
    ["src.example", "src.example/", "SRC.Example", "www.src.example", "src.example.",
     " src.example", "https://src.example", "http://src.example/", "HTTPS://WWW.SRC.EXAMPLE/",
     "src.example:8080", "Everything there: https://src.example"],
)  # fmt: skip
def test_a_host_is_one_however_it_is_written(entry: str) -> None:
    assert parse_bans([entry]) == BanList(hosts=("src.example",))


@pytest.mark.parametrize(
    "entry",
    ["https://src.example/p", "src.example/p", "http://www.SRC.example/p/#top",
     "https://src.example/p?utm_source=x", "The article: https://src.example/p"],
)  # fmt: skip
def test_a_page_is_one_however_it_is_written(entry: str) -> None:
    assert parse_bans([entry]) == BanList(pages=("https://src.example/p",))


def test_an_address_with_a_question_is_a_page() -> None:
    assert parse_bans(["src.example/?p=1"]) == BanList(pages=("https://src.example/?p=1",))


def test_entries_keep_their_order_and_other_scripts_their_hosts() -> None:
    said = parse_bans(["b.example", "https://a.example/2", "bücher.example", "a.example/1"])
    assert said.hosts == ("b.example", "xn--bcher-kva.example")
    assert said.pages == ("https://a.example/2", "https://a.example/1")


@pytest.mark.parametrize(
    "entry",
    ["", "   ", "wikipedia", "no address", "*.src.example", "ftp://src.example/p", "a..b",
     "https://", "/p", "https://one.example/p and https://two.example/p",
     "https://src.example/p (the mirror)", "https://src.example/Old Mill", "src.example, b.example",
     "<script>.example"],
)  # fmt: skip
def test_what_names_neither_is_refused_by_name_not_passed_over(entry: str) -> None:
    with pytest.raises(InvalidBan, match="Expected one page") as refused:
        parse_bans(["fine.example", entry])
    assert repr(entry) in str(refused.value)


@given(st.text(max_size=200) | st.text(alphabet="aw1m.:/*@-_[]?# ", max_size=20))
def test_any_entry_is_read_or_refused(entry: str) -> None:
    try:
        said = parse_bans([entry])
    except InvalidBan:
        return
    assert len(said.pages) + len(said.hosts) == 1
    assert all(normalise_url(page) == page for page in said.pages)
    assert all(said.matches(f"https://{host}/x") for host in said.hosts)


@pytest.mark.parametrize(
    ("url", "entry", "named"),
    [
        ("https://a.example/x", "https://a.example/x", True),
        ("https://a.example/x", "http://www.a.example/x/?utm_source=b#c", True),
        ("https://a.example/x", "a.example/x", True),
        ("https://a.example/xy", "https://a.example/x", False),
        ("https://news.a.example/x", "https://a.example", True),
        ("https://nota.example/x", "https://a.example", False),
        ("https://a.example/x", "Everything there: https://a.example", True),
        ("https://en.wikipedia.org/w/index.php?title=old_Mill",
         "https://en.wikipedia.org/wiki/Old_Mill", True),
        ("no address", "a.example", False),
        ("https://web.archive.org/web/2020/https://a.example/x", "https://a.example/x", True),
        ("https://r.jina.ai/https://news.a.example/y", "a.example", True),
        ("https://www.google.com/url?q=https://a.example/x", "https://a.example/x", True),
        ("https://web.archive.org/web/2020/https://a.example/x", "web.archive.org", True),
        ("https://a.example/x", "https://web.archive.org/web/2020/https://a.example/x", False),
    ],
)  # fmt: skip
def test_an_address_is_named_by_its_page_or_its_host(url: str, entry: str, named: bool) -> None:
    assert parse_bans([entry]).matches(url) is named


@pytest.mark.parametrize(
    ("host", "below"),
    [("en.wikipedia.org", True), ("wikipedia.org", True), ("notwikipedia.org", False),
     ("wikipedia.org.example", False)],
)  # fmt: skip
def test_a_host_owns_what_is_below_it(host: str, below: bool) -> None:
    assert is_host_or_subdomain(host, ["wikipedia.org"]) is below
    assert is_on_host(f"https://{host}/wiki/X", ["wikipedia.org"]) is below
