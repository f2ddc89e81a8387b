"""What ends is said before, with what follows it; what has ended is asked no more."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tasks.agents.endings import find_agent_ending, list_coming_ends
from tasks.agents.kinds.chat import ChatAsk
from tasks.agents.registry import AgentEntry, get_agent_entry, load_agents
from tasks.configuration.endings import find_judge_ending, load_endings
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.models import LlmJudgeEntry, load_judges
from tasks.jobs import sessions
from tasks.jobs.sessions import check_agents, load_ask_entry
from tasks.judging.session import check_judge
from tasks.models.errors import Misconfigured
from tests.changed_configs import copy_configs

SONAR = {
    "kind": "perplexity_async", "model": "sonar-deep-research", "citations": "numbered",
    "key_env": "PERPLEXITY_API_KEY",
}  # fmt: skip


def own_judge(**changed: Any) -> LlmJudgeEntry:
    shipped = load_judges().judges["gpt-5.5"]
    assert isinstance(shipped, LlmJudgeEntry)
    return shipped.model_copy(update=changed)


def own_agent(**ask: Any) -> AgentEntry:
    entry = get_agent_entry("openai_gpt_5_5")
    assert entry.ask
    return entry.model_copy(update={"ask": entry.ask.model_copy(update=ask)})


@pytest.mark.parametrize(
    ("changed", "ends", "successor"),
    [
        ({"model": "gpt-5"}, date(2026, 12, 11), "gpt-6.1-sol"),  # as the shipped judge says
        ({"model": "gpt-4o-mini"}, date(2027, 1, 14), "gpt-6-luna"),  # as endings.yaml says
        ({"model": "gpt-4o-mini-2024-07-18"}, date(2027, 1, 14), "gpt-6-luna"),
        ({"model": "gpt-4o-2024-05-13"}, date(2026, 10, 23), "gpt-5.6-sol"),
        ({"model": "gpt-5", "retires": date(2030, 1, 1)}, date(2030, 1, 1), None),
    ],
)
def test_a_judge_of_one_s_own_ends_with_its_model(
    changed: dict[str, Any], ends: date, successor: str | None
) -> None:
    ending = find_judge_ending(own_judge(**changed))
    assert ending
    assert (ending.ends, ending.successor) == (ends, successor)


@pytest.mark.parametrize("changed", [{}, {"model": "gpt-5", "provider": "azure"}])
def test_no_end_is_known_of_others(changed: dict[str, Any]) -> None:
    assert find_judge_ending(own_judge(**changed)) is None


def test_an_ended_judge_is_refused_with_its_successor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    mine = own_judge(model="gpt-4o-mini")
    check_judge("mine", mine, None, date(2027, 1, 13))
    with pytest.raises(Misconfigured, match="Choose gpt-6-luna, its successor, or another"):
        check_judge("mine", mine, None, date(2027, 1, 14))


def test_an_agent_ends_with_its_model_at_its_maker_s_own_address() -> None:
    ending = find_agent_ending(own_agent(model="o3-deep-research"))
    assert ending
    assert (str(ending.ends), ending.successor) == ("2026-07-23", "gpt-5.6-sol")
    elsewhere = own_agent(model="o3-deep-research", base_url="https://gateway.example.org/v1")
    assert find_agent_ending(elsewhere) is None
    chat = ChatAsk(kind="chat", model="sonar-deep-research", base_url="https://api.perplexity.ai")
    assert find_agent_ending(AgentEntry(name="Mine", ask=chat))
    later = own_agent(model="o3-deep-research").model_copy(update={"retires": date(2030, 1, 1)})
    assert str(getattr(find_agent_ending(later), "ends", None)) == "2030-01-01"


def use_entry(configs: Path, monkeypatch: pytest.MonkeyPatch, **entry: Any) -> None:
    """Add the agent `mine` to the agents that are asked."""
    copy_configs(configs, agents=lambda file: file["agents"].update(mine={"name": "Mine", **entry}))
    agents = load_agents(configs / "configs")
    monkeypatch.setattr(sessions, "get_agent_entry", agents.agents.__getitem__)


def test_an_agent_of_an_ended_kind_gets_a_sentence_and_disturbs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_entry(tmp_path, monkeypatch, ask=SONAR, retires=date(2030, 1, 1))  # it does not help
    monkeypatch.setenv("PERPLEXITY_API_KEY", "k")
    check_agents(["lexical_baseline", "perplexity_high"], 1.0)
    said = (
        r"mine was retired on 2026-09-27; its successor is perplexity_high\..*reports and jobs stay"
    )
    for ask in (lambda: load_ask_entry("mine"), lambda: check_agents(["mine"], None)):
        with pytest.raises(ConfigurationError, match=said):
            ask()


def test_an_agent_of_an_ended_model_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_entry(tmp_path, monkeypatch, ask={"kind": "openai_responses", "model": "o3-deep-research"})
    with pytest.raises(ConfigurationError, match=r"mine was retired.*gpt-5\.6-sol"):
        check_agents(["mine"], None)


@pytest.mark.parametrize(
    ("names", "today", "said"),
    [
        (["gpt-5", "gpt-5"], date(2026, 11, 28),
         ["gpt-5 retires on 2026-12-11, in 13 days; its successor is gpt-6.1-sol."]),
        (["gpt-5"], date(2026, 12, 10),
         ["gpt-5 retires on 2026-12-11, tomorrow; its successor is gpt-6.1-sol."]),
        (["gpt-5", "offline", "gpt-5.5", "lexical_baseline", "nobody"], date(2026, 10, 1), []),
    ],
)  # fmt: skip
def test_what_ends_soon_is_told_before_money_is_spent(
    names: list[str], today: date, said: list[str]
) -> None:
    assert list_coming_ends(names, today) == said


def test_every_known_successor_that_is_a_judge_here_has_not_ended_before() -> None:
    judges = load_judges().judges
    for name, entry in judges.items():
        successor = judges.get(getattr(entry, "successor", None) or "")
        ending, after = find_judge_ending(entry), successor and find_judge_ending(successor)
        assert not (ending and after) or after.ends > ending.ends, name
    assert all("/" in name for name in load_endings().models)


def test_so_is_the_end_of_a_judge_s_fallback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configs = copy_configs(
        tmp_path, judges=lambda s: s["judges"]["gemini-3.8-flash"].update(fallback="gpt-5")
    )
    monkeypatch.setattr(load_judges, "__defaults__", (configs,))
    [said] = list_coming_ends(["gemini-3.8-flash"], date(2026, 12, 10))
    assert said.startswith("gpt-5 retires on 2026-12-11")
