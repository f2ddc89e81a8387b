"""How fast the parts that compute are: `make bench`, on ../shared where it is there.

Prints one line a part; nothing is asserted, machines differ.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from tasks.benchmarks.wlc import read_agent, read_wlc
from tasks.configuration.criteria import load_words_to_watch
from tasks.extraction.claims import extract_claims
from tasks.extraction.shape import measure_styles
from tasks.judges.decisions import JudgeAnswer
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.questions.verify_against_page import VerifyAgainstPage
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.judges.registry import load_judge
from tasks.wikipedia.markdown import to_markdown
from tests.tasks.wikipedia.rendered_pages import LEGACY

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT.parent / "shared" / "data" / "wlc" / "2025_Mar_Nov"
HOSTILE = ("[", "(", " ", "](http://", "【1†", "!", "(.", "* ", "| a ")


def timed(name: str, unit: str, work: Callable[[], int]) -> None:
    """Run `work`, which returns how many units it did, and print what it took."""
    started = time.perf_counter()
    done = work()
    seconds = time.perf_counter() - started
    print(f"{name:<44}{seconds:8.2f} s {done:10,} {unit:<12}{done / seconds:12,.0f}/s")


def main() -> int:
    source = PUBLISHED if PUBLISHED.exists() else ROOT / "data" / "sample"
    print(f"on {source.name}, one process")
    edition = read_wlc(source, "bench")
    names = [article.article for article in edition.articles]
    agents = {a.agent: read_agent(source, "bench", a.agent, names) for a in edition.agents}
    texts = [report.text for read in agents.values() for report in read.reports]
    pages = [p.text for read in agents.values() for p in read.pages if p.text][:300]
    facts = [fact.text for fact in edition.facts]
    pool = [sentence.text for sentence in extract_claims("", texts[0]).claims]
    offline = load_judge("offline")

    def verify() -> int:
        retrieved = Bm25(pool).top_many(facts, 10)
        request = VerifyClaims(claims=tuple(facts), pool=tuple(pool), retrieved=retrieved)
        return len(asyncio.run(_answers(offline.decide(request))))

    def verify_pages() -> int:
        for page in pages:
            request = VerifyAgainstPage(claims=tuple(facts[:5]), url="", page=page)
            asyncio.run(_answers(offline.decide(request)))
        return sum(map(len, pages))

    timed("extract claims", "reports", lambda: len([extract_claims("", t) for t in texts]))
    timed("style figures", "texts", lambda: len(measure_styles(texts, load_words_to_watch())))
    timed("offline judge: facts in one report", "facts", verify)
    timed("offline judge: five claims a page", "characters", verify_pages)
    timed("wiki HTML to Markdown: 10 MB", "characters", convert)
    for piece in HOSTILE:
        timed(f"extract claims: 1 MB of {piece!r}", "characters", partial(extract, piece))
    return 0


def extract(piece: str) -> int:
    """Extract the claims of a megabyte of `piece`."""
    text = piece * (1_000_000 // len(piece))
    extract_claims("", text)
    return len(text)


def convert() -> int:
    """Convert a page of ten million characters, of the markup that wikis make."""
    html = LEGACY * (10_000_000 // len(LEGACY))
    to_markdown(html, "T")
    return len(html)


async def _answers(answers: Awaitable[Sequence[JudgeAnswer]]) -> Sequence[JudgeAnswer]:
    return await answers


if __name__ == "__main__":
    sys.exit(main())
