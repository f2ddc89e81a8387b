"""Recorded verdicts as items to fit the offline judge to, and to measure it against.

Positive are `Supported`, `consistent` and `support`; everything else is the other class.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.judges.offline.judge import TOP_K
from tasks.judges.offline.lexical import Pool
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.recorded import read_verifiability
from tasks.judges.text import readable, sentences

BLOCKS = 10
"""Where only one article is recorded, tenths of it (in its order) are held out in turn."""


@dataclass(frozen=True, slots=True)
class Item:
    """One recorded decision, seen through the features."""

    family: str
    group: str
    """Held out together: a question, a page, a tenth of an article."""
    row: tuple[float, ...]
    vetoed: bool
    positive: bool


def read_items(data: Path) -> list[Item]:
    """All recorded decisions below the shared data folder.

    Raises:
        OSError, ValueError, KeyError: a file is missing or not of the published layout.
    """
    return [*_key_points(data), *_citations(data), *_verifiability(data)]


def _key_points(data: Path) -> list[Item]:
    asked: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    for point in _records(data / "calibration" / "key_points.jsonl"):
        of_report = asked.setdefault((point["system"], point["question"]), [])
        of_report.append((point["key_point"], point["label"] == "Supported"))
    items = []
    for report in _records(data / "calibration" / "reports.jsonl"):
        pool = sentences(readable(report["report"]))
        wanted = asked.get((report["system"], report["question"]), [])
        group = f"question {report['question']}"
        items += _items("key_point_in_report", pool, wanted, [group] * len(wanted))
    return items


def _citations(data: Path) -> list[Item]:
    pages = json.loads((data / "calibration" / "citation_pages.json").read_text("utf-8"))
    claims: dict[str, list[tuple[str, bool]]] = {}
    for cited in _records(data / "calibration" / "citations.jsonl"):
        claims.setdefault(cited["page"], []).append((cited["claim"], cited["verdict"] == "support"))
    items = []
    for page, wanted in claims.items():
        groups = [f"page {page}"] * len(wanted)
        items += _items("claim_in_page", sentences(readable(pages[page])), wanted, groups)
    return items


def _verifiability(data: Path) -> list[Item]:
    recorded = read_verifiability(data / "wlc" / "recorded_verdicts" / "verifiability.json")
    facts = [(v.text, v.label == "consistent") for v in recorded if v.step == "coverage"]
    claims = [(v.text, v.label == "consistent") for v in recorded if v.step == "conflict"]
    report, article = [text for text, _ in claims], [text for text, _ in facts]
    return [
        *_items("fact_in_report", report, facts, _blocks("fact", len(facts))),
        *_items("claim_in_article", article, claims, _blocks("claim", len(claims))),
    ]


def _items(
    family: str, pool: Sequence[str], wanted: Sequence[tuple[str, bool]], groups: Sequence[str]
) -> list[Item]:
    index, evidence = Bm25(pool), Pool(pool)
    items = []
    for (claim, positive), group in zip(wanted, groups, strict=True):
        found = evidence.compare(claim, index.top(claim, TOP_K))
        vetoed = bool(found.missing_numbers)
        items.append(Item(family, group, found.features.row(), vetoed, positive))
    return items


def _blocks(name: str, n: int) -> list[str]:
    return [f"{name} block {index * BLOCKS // n}" for index in range(n)]


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
