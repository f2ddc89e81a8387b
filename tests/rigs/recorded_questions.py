"""Decisions that others' judges have made, as questions for ours."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.judges.decisions import CONSISTENT, REFERENCE, SUPPORT, Criterion
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.questions.reports import CompareArticles
from tasks.judges.questions.verification import VerifyAgainstPage, VerifyClaims
from tasks.judges.text import split_sentences, strip_markdown
from tasks.protocols.registry import get_protocol
from tasks.protocols.wiki_writing import WikiWriting
from tests.rigs.recorded_verdicts import read_verifiability, read_writing

FOUND = 10
"""Sentences of evidence."""


BEGINNING = 3_000
"""Characters of an article that a model with a small window is shown."""


@dataclass(frozen=True)
class Question:
    """One recorded decision, to be asked again; both sides as one of two classes."""

    request: VerifyClaims | VerifyAgainstPage
    positive: bool


def verification(claim: str, pool: Sequence[str]) -> VerifyClaims:
    """With evidence retrieved as the protocol does."""
    found = tuple(Bm25(pool).top(claim, FOUND))
    return VerifyClaims(claims=(claim,), pool=tuple(pool), retrieved=(found,))


def on_page(claim: str, page: str) -> VerifyAgainstPage:
    """With the page cut to what retrieval finds, in the page's order."""
    pool = split_sentences(strip_markdown(page))
    cut = " ".join(pool[index] for index in sorted(Bm25(pool).top(claim, FOUND)))
    return VerifyAgainstPage(claims=(claim,), url="https://example.org/", page=cut or page[:500])


def recorded_questions(data: Path) -> dict[str, list[Question]]:
    """Everything that has been recorded, by family."""
    verdicts = read_verifiability(data / "wlc" / "recorded_verdicts" / "verifiability.json")
    found: dict[str, list[Question]] = {"sentence against sentences (Gemini 2.5)": []}
    for verdict in verdicts:
        pool = (verdict.evidence or "").split("\n")
        request = VerifyClaims(
            claims=(verdict.text,), pool=tuple(pool), retrieved=(tuple(range(len(pool))),)
        )
        positive = verdict.label == CONSISTENT
        found["sentence against sentences (Gemini 2.5)"].append(Question(request, positive))
    pages = json.loads((data / "calibration" / "citation_pages.json").read_text("utf-8"))
    found["claim against cited page (Gemini 2.5)"] = [
        Question(on_page(record["claim"], pages[record["page"]]), record["verdict"] == SUPPORT)
        for record in _records(data / "calibration" / "citations.jsonl")
    ]
    reports = {
        (record["system"], record["question"]): split_sentences(strip_markdown(record["report"]))
        for record in _records(data / "calibration" / "reports.jsonl")
    }
    found["key point in report (GPT-4.1-mini)"] = [
        Question(
            verification(record["key_point"], reports[record["system"], record["question"]]),
            record["label"] == "Supported",
        )
        for record in _records(data / "calibration" / "key_points.jsonl")
    ]
    return found


def comparisons(first: str, second: str) -> list[CompareArticles]:
    """Two articles, cut to their beginnings, by every criterion of our catalogue."""
    writing = get_protocol("wiki_writing")
    assert isinstance(writing, WikiWriting)
    return [
        CompareArticles(
            category=category.id,
            criteria=tuple(Criterion(id=c.id, text=c.text) for c in category.all_criteria),
            first=first[:BEGINNING],
            second=second[:BEGINNING],
        )
        for category in writing.criteria.categories
    ]


def recorded_comparison(data: Path) -> tuple[list[CompareArticles], dict[str, bool]]:
    """The recorded comparison of two articles: questions, and by criterion if Wikipedia won."""
    edition = data / "wlc" / "2025_Mar_Nov"
    name = "1982_Los_Angeles_Rams–Green_Bay_Packers_game.md"
    article = (edition / "wiki_data" / "cleaned_data" / "article" / name).read_text("utf-8")
    report = (edition / "test_data" / "gemini_2.5_pro" / "md_data" / name).read_text("utf-8")
    recorded = read_writing(data / "wlc" / "recorded_verdicts" / "writing.json")
    won = {verdict.item: verdict.label == REFERENCE for verdict in recorded}
    return comparisons(strip_markdown(article), strip_markdown(report)), won


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
