"""What is taken out of saved pages, and which pages are told from what was cited.

    python -m tests.rigs.readable_pages [--edition FOLDER] [--large 5]

Compares readers of HTML on `page_layouts` (40 layouts, with what a claim could rest on), readers
of PDF on generated ones, then judges walls, honest pages that look like walls, and the published
page texts. `--large` is the size in megabytes of the page whose peak of memory is taken. Exits
with 1 where our own reader loses something or a wall is misjudged.
"""

import argparse
import time
from collections import Counter
from pathlib import Path

from tasks.configuration.web import ReadingBounds
from tasks.processes.helper import LimitExceeded, run_bounded
from tasks.web.kinds import decode_page
from tasks.web.readers import read_page
from tasks.web.walls import classify_text
from tests.rigs.extractors import extractors, read_large
from tests.rigs.made_pdfs import PDF_READERS, made_pdfs
from tests.rigs.published_texts import EDITION, published_texts
from tests.rigs.saved_pages import Layout, bare, layouts, near_misses, page, walls

LARGE_SECONDS, LARGE_MEGABYTES = 120, 8_000


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--edition", type=Path, default=EDITION)
    arguments.add_argument("--large", type=int, default=5, help="megabytes; 0 leaves it out")
    options = arguments.parse_args()
    lost = compare_html(layouts(), options.large)
    compare_pdf()
    wrong = judge_walls()
    judge_published(options.edition)
    raise SystemExit(1 if lost or wrong else 0)


def compare_html(saved: list[Layout], large: int) -> int:
    """Print a table of readers; how much our own one lost."""
    gold = sum(len(layout.says) + len(layout.rows) for layout in saved)
    furniture = sum(len(layout.furniture) for layout in saved)
    print(f"{len(saved)} saved pages: {gold} sentences and rows to take out, {furniture} pieces")
    print(f"of furniture to leave. Time and memory of one page of {large} MB in its own process.\n")
    print("| reader | taken out | furniture left in | ms a page | large page | MB |")
    print("| --- | --- | --- | --- | --- | --- |")
    pages = {layout.name: decode_page(layout.content, "text/html") for layout in saved}
    own = 0
    for name, extract in extractors():
        begun = time.perf_counter()
        texts = {layout.name: extract(pages[layout.name]) for layout in saved}
        milliseconds = 1000 * (time.perf_counter() - begun) / len(saved)
        lost = sum(len(layout.lost(texts[layout.name])) for layout in saved)
        kept = sum(len(layout.kept(texts[layout.name])) for layout in saved)
        own = own if name != "this project" else lost
        print(
            f"| {name} | {1 - lost / gold:.1%} | {kept / furniture:.0%} | {milliseconds:.1f} | "
            f"{_large(name, large) if large else '– | –'} |",
            flush=True,
        )
    for layout in saved:
        if missing := layout.lost(read_page(page(layout.content), ReadingBounds()).text or ""):
            print(f"lost of {layout.name}: {missing}")
    return own


def compare_pdf() -> None:
    print("\n| PDF reader | document | taken out | rows on a line | ms a page |")
    print("| --- | --- | --- | --- | --- |")
    for document in made_pdfs():
        for name, read in PDF_READERS.items():
            begun = time.perf_counter()
            text = read(document.content)
            milliseconds = 1000 * (time.perf_counter() - begun) / document.n_pages
            said = bare(text)
            lines = [bare(line) for line in text.split("\n")]
            taken = sum(bare(sentence) in said for sentence in document.says)
            rows = sum(any(bare("".join(row)) in line for line in lines) for row in document.rows)
            print(
                f"| {name} | {document.name} | {taken} of {len(document.says)} | "
                f"{rows} of {len(document.rows)} | {milliseconds:.1f} |"
            )


def judge_walls() -> int:
    """Print what was misjudged; how many."""
    wrong = 0
    for kind, answers in (("walls", walls()), ("honest pages that look like walls", near_misses())):
        misjudged = [
            (answer, read)
            for answer in answers
            if (read := read_page(answer.material(), ReadingBounds())).status != answer.status
        ]
        print(f"\n{len(answers) - len(misjudged)} of {len(answers)} {kind} told rightly.")
        for answer, read in misjudged:
            print(f"  {answer.name}: {read.status}, not {answer.status}: {list(read.signals)}")
        wrong += len(misjudged)
    return wrong


def judge_published(edition: Path) -> None:
    texts = published_texts(edition)
    if not texts:
        print(f"\n{edition}: no published pages here.")
        return
    begun = time.perf_counter()
    judged = [(text, *classify_text(text.url, text.title, text.text or "")) for text in texts]
    seconds = time.perf_counter() - begun
    urls = {text.url: status for text, status, _ in judged}
    print(
        f"\n{len(texts):,} published copies of {len(urls):,} pages, "
        f"{1000 * seconds / len(texts):.0f} ms each:"
    )
    for status, n in Counter(status for _, status, _ in judged).most_common():
        n_urls = len({text.url for text, said, _ in judged if said == status})
        print(f"  {status}: {n:,} copies of {n_urls:,} pages")
    for text, status, signals in sorted(judged, key=lambda item: (item[1], item[0].url)):
        if status != "ok":
            said = "; ".join(s for s in signals if s.startswith(status))
            print(f"    {text.url} ({text.title}): {said}")


def _large(name: str, megabytes: int) -> str:
    try:
        seconds, peak = run_bounded(
            read_large, name, megabytes, seconds=LARGE_SECONDS, megabytes=LARGE_MEGABYTES
        )
    except LimitExceeded as error:
        return f"{error} | –"
    return f"{seconds:.1f} s | {peak:,.0f}"


if __name__ == "__main__":
    main()
