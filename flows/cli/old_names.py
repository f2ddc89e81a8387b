"""What commands, options and arguments were called before, and what they are called now."""

from collections.abc import Mapping

OLD_NAMES: Mapping[str, str] = {
    "agreement": "compare judges",
    "analyse --to": "analyse --output FILE",
    "annotate make --pairs": "annotate make --items N",
    "ask AGENT": "ask --agent AGENT",
    "backfill AGENT": "backfill --agent AGENT",
    "breakdown": "leaderboard --by theme",
    "calls --export": "calls --output FILE",
    "collect --from": "collect --since DATE",
    "collect --to": "collect --until DATE",
    "compare --edition": "compare protocols",
    "compare-extraction": "compare extraction",
    "differences": "compare agents",
    "estimate": "evaluate --estimate",
    "explain --report": "explain AGENT/TITLE",
    "import answers": "import reports",
    "import deepresearch_bench": "import drb",
    "import rigorous-draft": "draft import",
    "keys new --out": "keys new --to FOLDER",
    "pages export --to": "pages export --output FILE",
    "refresh --from": "refresh --since DATE",
    "refresh --to": "refresh --until DATE",
    "rejudge --publish": "rejudge --to FOLDER",
    "restore": "backup restore",
    "sandbox-token": "sandbox token",
    "tokens": "calls --by agent",
}
"""By what was typed before, what to type now."""
