"""Nine invented questions of the eight published categories, in the published format."""

import base64
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from tasks.benchmarks.livedrbench import SET, read_livedrbench
from tasks.imports.queries import QueriesSummary, import_queries
from tasks.warehouse.store import Warehouse

CANARY = "test canary, invented"
PAPER = "A set of lakes"
Question = tuple[str, str, list[Any], dict[str, Any] | None]
"""Key, category, ground truths, eval_info."""
QUESTIONS: tuple[Question, ...] = (
    ("mat", "scifacts-materials",
     [[{"material": ["zinc oxide", "ZnO"], "paper_title": ["Paper on zinc"]},
       {"material": ["gallium"], "paper_title": ["Paper on gallium"]}]], None),
    ("geo", "scifacts-geo",
     [[{"paper_title": ["Storm surge A", "Storm surge A (preprint)"]},
       {"paper_title": ["Flood B"]}]], None),
    ("ident", "novel-datasets-identification",
     [{"dataset": "LakeSet", "paper": PAPER}], {"main_claims": ["dataset"]}),
    ("extract", "novel-datasets-identi-extraction",
     [{"dataset": "LakeSet", "paper": PAPER},
      [{"model": "m1", "acc": 0.9, "url": "https://example.org/1"}, {"model": "m2", "acc": 0.8}]],
     {"main_claims": ["dataset"], "primary_keys": ["model"], "ignore_keys": ["url"],
      "evaluation_note": {"model": "Sizes may be left out."}}),
    ("peer", "novel-datasets-peer",
     [[{"name": "Peer One", "year": 2020}, {"name": "Peer Two", "year": 2021}]],
     {"primary_keys": ["name"]}),
    ("prior-1", "prior-art", [[{"title": "T One"}, {"title": "T Two"}]], None),
    ("prior-2", "prior-art", [[{"title": "T Three"}]], {}),
    ("entities", "entities", [["Ada Lovelace", "Mary Somerville", "Emmy Noether"]], None),
    ("flight", "flights",
     [{"flight": "X1", "date": "1999-01-02", "airline": "Air A"}], {"main_claims": ["flight"]}),
)  # fmt: skip
ERRING: dict[str, Any] = {
    "mat": [[{"material": "ZnO", "paper_title": "Another"},
             {"material": "Zinc  Oxide", "paper_title": "Paper on gallium"},
             {"material": "iron", "paper_title": "paper on gallium"}]],
    "geo": [[{"paper_title": "storm SURGE a"}, {"paper_title": "Storm surge A (preprint)"},
             {"paper_title": "Other"}]],
    "ident": [{"dataset": "LakeSet", "paper": "lakes [~]"}],
    "extract": [{"dataset": "LakeSet"},
                [{"model": "m1", "acc": "0.9"}, {"model": "m1", "acc": "0.7"},
                 {"model": "m3", "acc": "0.8", "url": "https://example.org/3"}]],
    "peer": [[{"name": "One Peer", "year": "2020"}]],
    "prior-1": [[{"title": "T One"}, {"title": "t one"}, {"title": "No"}]],
    "entities": [["Lovelace Ada", "Mary Somerville"]],
    "flight": [{"flight": "wrong", "date": "1999-01-02", "airline": "Air A"}],
}  # fmt: skip
"""Predictions with errors; the one for `prior-2` is a text that cannot be read."""


def obfuscate(text: str, canary: str) -> str:
    """The disguise of published texts: XOR with the canary's SHA-256, then base64."""
    data = text.encode()
    mask = sha256(canary.encode()).digest() * (len(data) // 32 + 1)
    return base64.b64encode(bytes(a ^ b for a, b in zip(data, mask, strict=False))).decode()


def rows(canary: str = CANARY, questions: Sequence[Question] = QUESTIONS) -> list[dict[str, Any]]:
    """The published rows: `misc` in disguise as a whole."""
    return [
        {
            "key": key,
            "category": category,
            "question": f"What is asked in {key}?",
            "ground_truths": obfuscate(json.dumps(truths), canary),
            "misc": obfuscate(json.dumps({"eval_info": info}), canary),
            "canary": canary,
        }
        for key, category, truths, info in questions
    ]


def write_questions(path: Path, **changes: Any) -> Path:
    path.write_text(json.dumps(rows(**changes)), "utf-8")
    return path


def import_questions(warehouse: Warehouse, path: Path, edition: str) -> QueriesSummary:
    return import_queries(warehouse, SET, read_livedrbench(path), edition)


def perfect() -> list[dict[str, Any]]:
    """Predictions that say what is true, the first of equivalent values."""
    return [
        {"key": key, "preds": [_first(item, category) for item in truths]}
        for key, category, truths, _ in QUESTIONS
    ]


def _first(item: Any, category: str) -> Any:
    if category.startswith("scifacts-"):
        return [{key: values[0] for key, values in row.items()} for row in item]
    return item


def erring() -> list[dict[str, Any]]:
    given: list[dict[str, Any]] = [{"key": key, "preds": preds} for key, preds in ERRING.items()]
    return [*given, {"key": "prior-2", "answer": "I am sorry, I found nothing [1]."}]


def write_answers(path: Path, predictions: Sequence[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(list(predictions)), "utf-8")
    return path
