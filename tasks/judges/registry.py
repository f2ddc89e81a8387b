"""Judges by name, as `configs/judges.yaml` sets them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.extensions import load_extension
from tasks.configuration.folders import CONFIGS, ConfigSource, find_file
from tasks.configuration.models import (
    ExtensionJudgeEntry,
    JudgeEntry,
    LlmJudgeEntry,
    OfflineJudgeEntry,
    load_judges,
)
from tasks.errors import suggest_names
from tasks.models.errors import Misconfigured

if TYPE_CHECKING:
    from tasks.judges.decisions import Judge
    from tasks.judges.llm.requests import RequestSender


OFFLINE = "offline"
"""The extractor that calls no model."""


def load_judge_entry(
    name: str | None = None, configs: ConfigSource = CONFIGS
) -> tuple[str, JudgeEntry]:
    """Return name and settings of the judge `name`, or of the default judge.

    Raises:
        ConfigurationError: the judge is unknown; the message lists the known ones.
    """
    known = load_judges(configs)
    wanted = name or known.default
    if wanted not in known.judges:
        raise ConfigurationError(
            f"There is no judge {wanted!r} in {find_file('judges.yaml', configs)}. "
            f"{suggest_names(wanted, known.judges)}"
        )
    return wanted, known.judges[wanted]


def resolve_extractor(judge: str | None, extractor: str | None) -> str:
    """Return who extracts facts and claims: a judge that calls a model, or OFFLINE.

    judge: the run's judge; None: the default one.
    extractor: who was named; None: the run's judge, if it calls a model.

    Raises:
        ConfigurationError: the judge is unknown; the message lists the known ones.
    """
    if extractor == OFFLINE:
        return OFFLINE
    name, entry = load_judge_entry(extractor or judge)
    return name if isinstance(entry, LlmJudgeEntry) else OFFLINE


def list_judges(judge: str | None, extractor: str | None) -> list[str]:
    """Return the judges that a run uses, as `resolve_extractor` takes them: the judge, and the one
    that extracts if it is another."""
    by = resolve_extractor(judge, extractor)
    return list(dict.fromkeys([load_judge_entry(judge)[0], *([] if by == OFFLINE else [by])]))


def load_model_entry(name: str, purpose: str) -> tuple[str, LlmJudgeEntry]:
    """Return name and settings of an LLM judge, which `purpose` ("make questions") needs.

    Raises:
        ConfigurationError: the judge is unknown; the message lists the known ones.
        Misconfigured: the judge calls no model.
    """
    wanted, entry = load_judge_entry(name)
    if not isinstance(entry, LlmJudgeEntry):
        raise Misconfigured(
            f"The judge {wanted} cannot {purpose}: it calls no model. Name another with "
            "--judge; `evergreen judges` lists them."
        )
    return wanted, entry


def load_judge(name: str | None = None, sender: "RequestSender | None" = None) -> "Judge":
    """Load the judge `name`, or the default judge.

    sender: sends an LLM judge's requests; without one it knows its version and prompts, but cannot
        decide.

    Raises:
        ConfigurationError: the judge is unknown; the message lists the known ones.
    """
    wanted, entry = load_judge_entry(name)
    # Imported here: each judge loads much that the other does not need.
    if isinstance(entry, OfflineJudgeEntry):
        from tasks.judges.offline.judge import OfflineJudge

        return OfflineJudge(find_file(entry.weights))
    if isinstance(entry, ExtensionJudgeEntry):
        own: Judge = load_extension("evergreen.judges", entry.kind)(wanted, entry.settings)
        return own
    from tasks.judges.llm.judge import LlmJudge

    return LlmJudge(wanted, entry, sender or NoModel())


class NoModel:
    """The sender of judges without an open session."""

    async def ask(self, request: Any, read: Callable[[str], Any]) -> Any:
        raise RuntimeError(
            "This judge has no session with its model; open one (tasks.judging.session)."
        )
