"""Evergreen as a library, for notebooks and other programs.

    import evergreen

    warehouse = evergreen.open_warehouse("data/warehouse.duckdb")
    warehouse.leaderboard("2026-11")

Names are imported when they are first used. Beside the library lie the files that come with
Evergreen: `evergreen.configs` is the project's folder `configs`, `evergreen.sample` its
`data/sample`.
"""

from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evergreen.evaluation import EvaluationResult, evaluate
    from evergreen.extending import BaseAgentClient, BaseJudge
    from evergreen.results import WarehouseResults, open_warehouse
    from tasks.agents.agent import JobAnswer, JobRequest, JobStatus
    from tasks.errors import ExpectedError
    from tasks.judges.decisions import DecisionRequest, Judge, JudgeAnswer
    from tasks.judges.questions.check_citations import CheckCitations
    from tasks.judges.questions.check_points import CheckPoints
    from tasks.judges.questions.verify_against_page import VerifyAgainstPage
    from tasks.judges.questions.verify_claims import VerifyClaims
    from tasks.judges.questions.verify_support import VerifySupport
    from tasks.protocols.case import Case, Protocol

_MODULES = {
    "evergreen.evaluation": ("EvaluationResult", "evaluate"),
    "evergreen.extending": ("BaseAgentClient", "BaseJudge"),
    "evergreen.results": ("WarehouseResults", "open_warehouse"),
    "tasks.agents.agent": ("JobAnswer", "JobRequest", "JobStatus"),
    "tasks.errors": ("ExpectedError",),
    "tasks.judges.decisions": ("DecisionRequest", "Judge", "JudgeAnswer"),
    "tasks.judges.questions.check_citations": ("CheckCitations",),
    "tasks.judges.questions.check_points": ("CheckPoints",),
    "tasks.judges.questions.verify_against_page": ("VerifyAgainstPage",),
    "tasks.judges.questions.verify_claims": ("VerifyClaims",),
    "tasks.judges.questions.verify_support": ("VerifySupport",),
    "tasks.protocols.case": ("Case", "Protocol"),
}
_NAMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "BaseAgentClient",
    "BaseJudge",
    "Case",
    "CheckCitations",
    "CheckPoints",
    "DecisionRequest",
    "EvaluationResult",
    "ExpectedError",
    "JobAnswer",
    "JobRequest",
    "JobStatus",
    "Judge",
    "JudgeAnswer",
    "Protocol",
    "VerifyAgainstPage",
    "VerifyClaims",
    "VerifySupport",
    "WarehouseResults",
    "evaluate",
    "open_warehouse",
]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'evergreen' has no attribute {name!r}")
    _refuse_foreign_packages()
    return getattr(import_module(_NAMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def _refuse_foreign_packages() -> None:
    """Raise ImportError if Python finds somebody else's `tasks` or `flows` instead of ours."""
    home = Path(__file__).resolve().parents[1]
    for name in ("tasks", "flows"):
        spec = PathFinder.find_spec(name)
        found = Path(spec.origin) if spec and spec.origin else None
        if found and found.resolve() != home / name / "__init__.py":
            raise ImportError(
                f"Python finds {found} before {home / name}, a package that Evergreen needs. "
                "Rename that file, or start Python in another folder."
            )
