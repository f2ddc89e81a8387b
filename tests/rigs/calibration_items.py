"""Recorded verdicts as calibration items, to fit and to evaluate the offline judge.

`Supported`, `consistent` and `support` are positive; all other labels are negative.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from tasks.judges.offline.judge import TOP_K
from tasks.judges.offline.lexical import SentencePool
from tasks.judges.offline.retrieval import Bm25
from tasks.judges.text import split_sentences, strip_markdown
from tests.rigs.recorded_verdicts import read_verifiability

N_BLOCKS = 10
"""Number of blocks, in text order, that are held out in turn if only one article is recorded."""

RECORDED = "1982 Los Angeles Rams–Green Bay Packers game"
"""The title of the article whose facts and claims were judged."""


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


def load_padded_key_points(data: Path) -> list[CalibrationItem]:
    """Load the key points, in the order of `load_items`, with nine times as many sentences of
    reports on other questions added to each report."""
    return _load_key_points(data, padded=True)


def _load_key_points(data: Path, padded: bool = False) -> list[CalibrationItem]:
    asked: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    for point in _load_records(data / "calibration" / "key_points.jsonl"):
        of_report = asked.setdefault((point["system"], point["question"]), [])
        of_report.append((point["key_point"], point["label"] == "Supported"))
    reports = _load_records(data / "calibration" / "reports.jsonl")
    split = [split_sentences(strip_markdown(report["report"])) for report in reports]
    items = []
    for place, report in enumerate(reports):
        pool = _pad(place, reports, split) if padded else split[place]
        wanted = asked.get((report["system"], report["question"]), [])
        group = f"question {report['question']}"
        items += _make_items("key_point_in_report", pool, wanted, [group] * len(wanted))
    return items


def _pad(
    place: int, reports: Sequence[dict[str, Any]], split: Sequence[Sequence[str]]
) -> list[str]:
    """Return a report's sentences and those of other reports, on other questions, repeated
    if they do not suffice."""
    others = [
        sentence
        for step in range(1, len(reports))
        if reports[place - step]["question"] != reports[place]["question"]
        for sentence in split[place - step]
    ]
    return [*split[place], *islice(cycle(others), 9 * len(split[place]))]


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
        *_make_items("fact_in_report", report, facts, _name_blocks("fact", len(facts)), RECORDED),
        *_make_items(
            "claim_in_article", article, claims, _name_blocks("claim", len(claims)), RECORDED
        ),
    ]


def _make_items(
    family: str,
    pool: Sequence[str],
    wanted: Sequence[tuple[str, bool]],
    groups: Sequence[str],
    subject: str = "",
) -> list[CalibrationItem]:
    index, evidence = Bm25(pool), SentencePool(pool)
    items = []
    for (claim, positive), group in zip(wanted, groups, strict=True):
        found = evidence.compare(claim, index.top(claim, TOP_K), subject)
        vetoed = found.veto is not None
        items.append(CalibrationItem(family, group, found.features.row(), vetoed, positive))
    return items


def _name_blocks(name: str, n: int) -> list[str]:
    return [f"{name} block {index * N_BLOCKS // n}" for index in range(n)]


def _load_records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
