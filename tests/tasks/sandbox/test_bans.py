"""What an assignment must not use."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extraction.banned import UnreadableBan
from tasks.sandbox.bans import Copies, ban_of, united
from tasks.sandbox.errors import SandboxError
from tasks.sandbox.snapshot import snapshot_bans
from tests.tasks.sandbox.archives import ARTICLE, WIKI, write_snapshot


def test_addresses_with_a_path_are_pages_and_others_hosts() -> None:
    ban = ban_of("a", ["https://www.x.example/p?b=1", "y.example", "https://z.example/"])
    assert (ban.pages, ban.hosts) == (("https://x.example/p?b=1",), ("y.example", "z.example"))
    assert ban.articles == ("a",)
    assert ban_of("", []).articles == ()
    with pytest.raises(UnreadableBan, match="'no such' is to be banned"):
        ban_of("a", ["y.example", "no such"])


def test_each_assignment_of_an_edition_has_its_ban(tmp_path: Path) -> None:
    bans = snapshot_bans(write_snapshot(tmp_path / "e"))
    assert bans == {"harrow": ban_of("harrow", [WIKI]), "bread": ban_of("", ["bread.example"])}


def test_what_an_assignment_bans_unreadably_is_named_with_it(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="assignment 'bread': 'the bakers' is to be banned"):
        snapshot_bans(write_snapshot(tmp_path / "e", banned="the bakers"))


def test_bans_unite() -> None:
    both = united([ban_of("b", ["x.example"]), ban_of("a", ["https://y.example/p"])])
    assert both == ban_of("a", ["x.example", "https://y.example/p"]).model_copy(
        update={"articles": ("a", "b")}
    )


COPIES = Copies({"harrow": ARTICLE, "other": "Nothing of it stands in any page. " * 20}, 8, 0.3)


@pytest.mark.parametrize(
    "text",
    [
        ARTICLE,
        ARTICLE.upper().replace(" ", "\n"),
        f"{'Something else is said here first. ' * 300}{ARTICLE}",
        ARTICLE[: len(ARTICLE) // 2],
    ],
    ids=["itself", "otherwise set", "within a long page", "an excerpt"],
)
def test_a_page_that_is_largely_the_article_is_a_copy(text: str) -> None:
    assert COPIES.of(text) == ["harrow"]


@pytest.mark.parametrize(
    "text", ["", "short", "Harrow Point Lighthouse was built by Oskar Lindqvist in 1874. " * 5]
)
def test_a_page_on_the_same_subject_is_none(text: str) -> None:
    assert COPIES.of(text) == []


@given(st.text(max_size=500))
def test_any_text_can_be_compared(text: str) -> None:
    assert COPIES.of(text) == []
    assert Copies({}, 8, 0.3).of(text) == []
