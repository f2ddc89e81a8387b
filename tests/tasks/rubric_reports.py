"""Reports written from a known part of a rubric's texts, as Markdown and as PDF."""

import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer

from tasks.benchmarks.research import PublishedQuery
from tests.servers.oracle_rubrics import MOST, words_of

TASKS = Path(__file__).parents[3] / "shared/data/drb2/tasks_and_rubrics_100.jsonl"
CHINESE = "STSong-Light"
_ENDS = re.compile(r"[.!?](?=\s|$)|[。！？\n]")


def sentences(query: PublishedQuery) -> list[str]:
    """What every second item asks for, a sentence each, in its own words; every tenth sentence
    names an address of the blocked work."""
    blocked = query.settings.blocked
    cited = f" ({blocked.urls[0]})" if blocked else ""
    return [
        _ENDS.sub(",", item.text).rstrip(", ") + (cited if number % 10 == 9 else "")
        for number, item in enumerate(query.items[::2])
    ]


def grades(query: PublishedQuery, said: Sequence[str]) -> dict[str, str]:
    """What the oracle must find: an item is met by the first of the sentences that hold most of
    its words (rubrics repeat themselves: that is more than half of them)."""
    blocked = query.settings.blocked
    there = [words_of(sentence) for sentence in said]
    found = {}
    for item in query.items:
        wanted = words_of(item.text)
        shares = [len(wanted & words) / len(wanted) for words in there]
        best = shares.index(max(shares))
        cites = blocked is not None and any(url in said[best] for url in blocked.urls)
        found[item.item] = "0" if shares[best] < MOST else "-1" if cites else "1"
    return found


def markdown(query: PublishedQuery, said: Sequence[str]) -> str:
    end = "。" if query.settings.language == "zh" else "."
    return f"# {query.key}\n\n" + "".join(f"{sentence}{end}\n\n" for sentence in said)


def pdf(query: PublishedQuery, said: Sequence[str]) -> bytes:
    """With a paragraph a sentence, wrapped as print is."""
    chinese = query.settings.language == "zh"
    pdfmetrics.registerFont(UnicodeCIDFont(CHINESE))
    style = ParagraphStyle(
        "body", fontName=CHINESE if chinese else "Helvetica", fontSize=11, leading=15,
        wordWrap="CJK" if chinese else None,
    )  # fmt: skip
    end = "。" if chinese else "."
    file = BytesIO()
    story = [
        part
        for sentence in said
        for part in (Paragraph(escape(sentence) + end, style), Spacer(1, 8))
    ]
    SimpleDocTemplate(file, pagesize=A4).build(story)
    return file.getvalue()
