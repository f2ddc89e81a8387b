"""The 69 published articles: our Markdown of their HTML holds the words that were published.

The HTML comes from a real MediaWiki that holds the articles' wikitext but lacks most templates.
What counts as written by a missing template, and so cannot be had there, is said in
`tests/tasks/wikipedia/word_comparison.py`.
"""

from collections.abc import Mapping
from statistics import median

import httpx
import pytest

from tasks.benchmarks.catalogue import read_articles
from tasks.benchmarks.layout import Layout
from tasks.benchmarks.wlc import ARTICLES
from tasks.wikipedia.markdown import to_markdown
from tests.tasks.published import EDITION, MARKS
from tests.tasks.wikipedia.word_comparison import Compared, compare, with_gaps

pytestmark = [*MARKS, pytest.mark.rig]
TIMEOUT_SECONDS = 120
BARE_CITATIONS = {
    "Brave_Bunnies",
    "Vorlesungen_über_die_Entwicklung_der_Mathematik_im_19._Jahrhundert",
    "Joy_Laking",
}
"""Articles that list books by citation templates, of which the rig's write only the title."""


@pytest.fixture(scope="module")
def compared(mediawiki: str) -> dict[str, Compared]:
    """Every article of the edition by its id."""
    layout = Layout.open(EDITION)
    with httpx.Client(timeout=TIMEOUT_SECONDS) as client:
        return {
            name: compare(
                layout.read_text(f"{ARTICLES}/{name}.md"),
                to_markdown(with_gaps(page_html(client, mediawiki, entry.title)), entry.title),
            )
            for name, entry in read_articles(layout).items()
        }


def page_html(client: httpx.Client, api: str, title: str) -> str:
    """A page as the wiki renders it."""
    asked = {
        "action": "parse", "page": title, "prop": "text", "format": "json", "formatversion": "2",
        "disablelimitreport": "1", "disableeditsection": "1",
    }  # fmt: skip
    return str(client.get(api, params=asked).json()["parse"]["text"])


def pooled(compared: Mapping[str, Compared]) -> tuple[float, float, float]:
    """Over the words of all articles: recall and precision in order, share by templates."""
    every = compared.values()
    expected = [c.n_published - c.n_by_templates for c in every]
    kept = sum((c.recall or 0) * n for c, n in zip(every, expected, strict=True))
    return (
        kept / sum(expected),
        sum((c.precision or 0) * c.n_ours for c in every) / sum(c.n_ours for c in every),
        sum(c.n_by_templates for c in every) / sum(c.n_published for c in every),
    )


def test_every_article_is_compared(compared: dict[str, Compared]) -> None:
    assert len(compared) == 69
    assert all(article.n_ours > 900 for article in compared.values())


def test_nearly_every_published_word_is_there_in_order(compared: dict[str, Compared]) -> None:
    recall, precision, by_templates = pooled(compared)
    assert recall >= 0.993
    assert precision >= 0.992
    assert by_templates <= 0.035  # or the rule would explain too much away


def test_half_of_the_articles_hold_exactly_the_published_words(
    compared: dict[str, Compared],
) -> None:
    for share in ("recall", "precision", "bag_recall", "bag_precision"):
        assert median(getattr(article, share) for article in compared.values()) == 1


def test_no_article_loses_words_of_its_own(compared: dict[str, Compared]) -> None:
    poor = {name for name, article in compared.items() if (article.bag_recall or 0) < 0.995}
    # Its score table is set by templates within templates.
    assert poor - BARE_CITATIONS <= {"2025_Tour_Championship"}
