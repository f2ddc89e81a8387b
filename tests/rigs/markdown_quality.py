"""Compare our Markdown of the 69 published articles with the published cleaned text.

    python -m tests.rigs.markdown_quality [--worst 5] [--api URL] [--edition FOLDER]

The HTML comes from a real MediaWiki (one of its own, unless --api names another) that holds the
articles' wikitext but lacks most templates.
What counts as written by a missing template, and so cannot be had there, is said in
`tests/tasks/wikipedia/word_comparison.py`. Prints a table, the medians, the pooled shares, and
the worst articles with their differences side by side.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import httpx

from tasks.benchmarks.catalogue import read_articles
from tasks.benchmarks.layout import Layout
from tasks.benchmarks.wlc import ARTICLES
from tasks.wikipedia.markdown import to_markdown
from tests.rigs.mediawiki.pages import read_pages
from tests.rigs.mediawiki.running import missing, running
from tests.tasks.wikipedia.word_comparison import Compared, compare, with_gaps

EDITION = Path(__file__).resolve().parents[3] / "shared" / "data" / "wlc" / "2025_Mar_Nov"
SHARES = ("recall", "precision", "bag_recall", "bag_precision")
TIMEOUT_SECONDS = 120


def page_html(client: httpx.Client, api: str, title: str) -> str:
    """A page as the wiki renders it."""
    answer = client.get(
        api,
        params={
            "action": "parse",
            "page": title,
            "prop": "text",
            "format": "json",
            "formatversion": 2,
            "disablelimitreport": 1,
            "disableeditsection": 1,
        },
    ).json()
    if "parse" not in answer:
        raise SystemExit(f"{api} has no page {title!r}: {answer.get('error')}. Load the 69 pages.")
    return str(answer["parse"]["text"])


def compare_all(root: Path, api: str) -> dict[str, Compared]:
    """Every article of the edition by its id, one request after the other."""
    layout = Layout.open(root)
    with httpx.Client(timeout=TIMEOUT_SECONDS) as client:
        return {
            name: compare(
                layout.read_text(f"{ARTICLES}/{name}.md"),
                to_markdown(with_gaps(page_html(client, api, entry.title)), entry.title),
            )
            for name, entry in read_articles(layout).items()
        }


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


def ranked(compared: Mapping[str, Compared]) -> list[tuple[str, Compared]]:
    """The articles, the worst first."""
    return sorted(
        compared.items(), key=lambda item: min(item[1].recall or 0, item[1].precision or 0)
    )


def _table(compared: Mapping[str, Compared]) -> None:
    print(f"{'article':45}{'words':>7}{'templ.':>7}" + "".join(f"{s:>15}" for s in SHARES))
    for name, c in ranked(compared):
        shares = "".join(f"{_percent(getattr(c, share)):>15}" for share in SHARES)
        print(f"{name[:44]:45}{c.n_published:7}{c.n_by_templates:7}{shares}")
    for share in SHARES:
        values = [getattr(c, share) for c in compared.values()]
        print(f"median {share}: {_percent(median(v for v in values if v is not None))}")
    recall, precision, by_templates = pooled(compared)
    print(
        f"pooled recall {_percent(recall)}, precision {_percent(precision)}; "
        f"{_percent(by_templates)} of the published words are missing templates' and not counted"
    )


def _side_by_side(name: str, compared: Compared, longest: int = 8) -> None:
    unexplained = [d for d in compared.differences if not d.by_template]
    unexplained.sort(key=lambda d: -max(len(d.published), len(d.ours)))
    print(f"\n{name}: {len(unexplained)} differences that no missing template explains")
    for difference in unexplained[:longest]:
        print(f"  published: {_shortened(difference.published)}")
        print(f"  ours:      {_shortened(difference.ours)}\n")


def _shortened(words: str, width: int = 300) -> str:
    return words if len(words) <= width else f"{words[:width]} … ({len(words):,} characters)"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--api")
    parser.add_argument("--pages", type=Path, default=EDITION.parents[1] / "mediawiki_pages")
    parser.add_argument("--edition", type=Path, default=EDITION)
    parser.add_argument("--worst", type=int, default=5)
    options = parser.parse_args()
    if options.api:
        compared = compare_all(options.edition, options.api)
    elif reason := missing():
        raise SystemExit(reason)
    else:
        pages = read_pages(options.pages)
        with TemporaryDirectory() as folder, running(Path(folder), pages) as wiki:
            compared = compare_all(options.edition, wiki.api)
    _table(compared)
    for name, article in ranked(compared)[: options.worst]:
        _side_by_side(name, article)


if __name__ == "__main__":
    main()
