"""Recorded verdicts as calibration items, to fit and to evaluate the offline judge.

`Supported`, `consistent` and `support` are positive; all other labels are negative.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.judges.offline.judge import TOP_K
from tasks.judges.offline.lexical import SentencePool
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.text import split_sentences, strip_markdown
from tests.rigs.recorded_verdicts import read_verifiability

N_BLOCKS = 10
"""Number of blocks, in text order, that are held out in turn if only one article is recorded."""


@dataclass(frozen=True, slots=True)
class CalibrationItem:
    """A recorded decision with its features."""

    family: str
    group: str
    """Items held out together: of a question, a page, a block of an article."""
    row: tuple[float, ...]
    vetoed: bool
    positive: bool


def load_items(data: Path) -> list[CalibrationItem]:
    """Load all recorded decisions below the shared data folder.

    Raises:
        OSError, ValueError, KeyError: a file is missing or lacks the published layout.
    """
    return [*_load_key_points(data), *_load_citations(data), *_load_verifiability(data)]


def _load_key_points(data: Path) -> list[CalibrationItem]:
    asked: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    for point in _load_records(data / "calibration" / "key_points.jsonl"):
        of_report = asked.setdefault((point["system"], point["question"]), [])
        of_report.append((point["key_point"], point["label"] == "Supported"))
    items = []
    for report in _load_records(data / "calibration" / "reports.jsonl"):
        pool = split_sentences(strip_markdown(report["report"]))
        wanted = asked.get((report["system"], report["question"]), [])
        group = f"question {report['question']}"
        items += _make_items("key_point_in_report", pool, wanted, [group] * len(wanted))
    return items


def _load_citations(data: Path) -> list[CalibrationItem]:
    pages = json.loads((data / "calibration" / "citation_pages.json").read_text("utf-8"))
    claims: dict[str, list[tuple[str, bool]]] = {}
    for cited in _load_records(data / "calibration" / "citations.jsonl"):
        claims.setdefault(cited["page"], []).append((cited["claim"], cited["verdict"] == "support"))
    items = []
    for page, wanted in claims.items():
        groups = [f"page {page}"] * len(wanted)
        items += _make_items(
            "claim_in_page", split_sentences(strip_markdown(pages[page])), wanted, groups
        )
    return items


def _load_verifiability(data: Path) -> list[CalibrationItem]:
    recorded = read_verifiability(data / "wlc" / "recorded_verdicts" / "verifiability.json")
    facts = [(v.text, v.label == "consistent") for v in recorded if v.step == "coverage"]
    claims = [(v.text, v.label == "consistent") for v in recorded if v.step == "conflict"]
    report, article = [text for text, _ in claims], [text for text, _ in facts]
    return [
        *_make_items("fact_in_report", report, facts, _name_blocks("fact", len(facts))),
        *_make_items("claim_in_article", article, claims, _name_blocks("claim", len(claims))),
    ]


def _make_items(
    family: str, pool: Sequence[str], wanted: Sequence[tuple[str, bool]], groups: Sequence[str]
) -> list[CalibrationItem]:
    index, evidence = Bm25(pool), SentencePool(pool)
    items = []
    for (claim, positive), group in zip(wanted, groups, strict=True):
        found = evidence.compare(claim, index.top(claim, TOP_K))
        vetoed = bool(found.missing_numbers)
        items.append(CalibrationItem(family, group, found.features.row(), vetoed, positive))
    return items


def _name_blocks(name: str, n: int) -> list[str]:
    return [f"{name} block {index * N_BLOCKS // n}" for index in range(n)]


def _load_records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
