"""Judges by name, as `configs/judges.yaml` sets them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS
from tasks.configuration.models import JudgeEntry, LlmJudgeEntry, OfflineJudgeEntry, load_judges
from tasks.models.errors import Misconfigured

if TYPE_CHECKING:
    from tasks.judges.decisions import Judge
    from tasks.judges.llm.requests import Asker


def judge_entry(name: str | None = None, configs: Path = CONFIGS) -> tuple[str, JudgeEntry]:
    """Name and settings of the judge `name`, or of the default one.

    Raises:
        ConfigurationError: unknown, naming those that are known.
    """
    known = load_judges(configs)
    wanted = name or known.default
    if wanted not in known.judges:
        raise ConfigurationError(
            f"{configs / 'judges.yaml'}: no judge is called {wanted!r}; known: "
            f"{', '.join(sorted(known.judges))}. Choose one, or add an entry."
        )
    return wanted, known.judges[wanted]


def model_entry(name: str, purpose: str) -> tuple[str, LlmJudgeEntry]:
    """Name and settings of a judge that is a model, which `purpose` ("make questions") needs.

    Raises:
        ConfigurationError: unknown, naming those that are known.
        Misconfigured: it calls no model.
    """
    wanted, entry = judge_entry(name)
    if not isinstance(entry, LlmJudgeEntry):
        raise Misconfigured(
            f"The judge {wanted} cannot {purpose}: it calls no model. Name another with "
            "--judge; `evergreen judges` lists them."
        )
    return wanted, entry


def judge(
    name: str | None = None, asker: "Asker | None" = None, configs: Path = CONFIGS
) -> "Judge":
    """The judge `name`, or the default one.

    asker: what an LLM judge puts its requests to; without one it can be asked what it is and
        what its verdicts rest on, but decides nothing.

    Raises:
        ConfigurationError: unknown, naming those that are known.
    """
    wanted, entry = judge_entry(name, configs)
    if isinstance(entry, OfflineJudgeEntry):  # each loads much that the other does not need
        from tasks.judges.offline.judge import OfflineJudge

        return OfflineJudge(configs / entry.weights)
    from tasks.judges.llm.judge import LlmJudge

    return LlmJudge(wanted, entry, asker or NoModel(), configs)


class NoModel:
    """Stands where no session with a model has been opened."""

    async def ask(self, request: Any, read: Callable[[str], Any]) -> Any:
        raise RuntimeError(
            "This judge has no session with its model; open one (tasks.judging.session)."
        )
