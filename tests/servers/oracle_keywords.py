"""The oracle's answers about keywords: by how often each stands in the report."""

from typing import Any

from tests.servers.fences import Parsed

SCORES = ("1", "2", "3", "4", "5")


def rated(prompt: Parsed) -> dict[str, Any] | None:
    """What to answer to a prompt about keywords; None for any other prompt."""
    keywords = [block for block in prompt.blocks if block.name == "keyword"]
    if not keywords:
        return None
    report = prompt.texts("report")[0].casefold()
    counts = {block.number: report.count(block.text.casefold()) for block in keywords}
    return {
        "results": [
            {
                "keyword": number,
                "reason": f"It stands there {count} times.",
                "score": SCORES[min(count, len(SCORES) - 1)],
            }
            for number, count in counts.items()
        ]
    }
