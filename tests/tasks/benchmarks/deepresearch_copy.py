"""A copy of DeepResearch Bench's files as they are published, with three tasks of our own."""

import json
from pathlib import Path
from typing import Any

QUESTIONS = {
    1: "Why was the Eddystone Lighthouse built four times?",
    2: "How do the seven bridges of Königsberg lead to graph theory?",
    51: "What is known of the interior of the planet Mercury?",
}
REFERENCE = (
    "# The tower\n\nThe first tower of 1698 was swept away by the storm of 1703. The second burned "
    "down in 1755. The third stood on rock that the sea had worn away, so the fourth was built on "
    "a reef beside it by James Douglass and finished in 1882."
)


def criteria(dimension: str) -> list[dict[str, Any]]:
    return [
        {"criterion": f"{what} {dimension}", "explanation": asked, "weight": weight}
        for what, asked, weight in (
            ("Depth of", "Is there enough of it?", 0.75),
            ("Care with", "Is it exact?", 0.25),
        )
    ]


def measure(number: int) -> dict[str, Any]:
    dimensions = ("comprehensiveness", "insight", "instruction_following", "readability")
    return {
        "id": number,
        "prompt": QUESTIONS[number],
        "dimension_weight": dict(zip(dimensions, (0.3, 0.4, 0.2, 0.1), strict=True)),
        "criterions": {dimension: criteria(dimension) for dimension in dimensions},
    }


def task(number: int) -> dict[str, Any]:
    return {"id": number, "topic": "History", "language": "en", "prompt": QUESTIONS[number]}


def write_copy(folder: Path, **instead: list[Any]) -> Path:
    """The three files in the folders of the published repository.

    instead: other rows of `tasks`, `measures` or `references`.
    """
    references = [{"id": n, "prompt": QUESTIONS[n], "article": REFERENCE} for n in (2, 1)]
    files: dict[str, tuple[str, list[Any]]] = {
        "tasks": ("prompt_data/query", [task(n) for n in QUESTIONS]),
        "measures": ("criteria_data/criteria", [measure(n) for n in (51, 1, 2)]),
        "references": ("test_data/cleaned_data/reference", references),
    }
    for kind, (name, rows) in files.items():
        file = folder / "data" / f"{name}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(row, ensure_ascii=False) for row in instead.get(kind, rows)]
        file.write_text("\n".join(lines) + "\n", "utf-8")
    return folder
