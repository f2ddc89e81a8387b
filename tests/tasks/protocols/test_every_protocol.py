"""What holds of every protocol: its settings, its version, and whether words alone decide it."""

from typing import Any

import pytest

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.models import load_protocol
from tasks.judges.offline.judge import OfflineJudge
from tasks.protocols.case import Protocol
from tasks.protocols.registry import PROTOCOLS, get_protocol

OFFLINE = {"wiki_fact", "research_gym", "fact", "rigorous"}
"""What the offline judge decides at least in part."""


def changed(name: str, parameters: dict[str, Any]) -> Protocol:
    entry = load_protocol(name)
    changed = entry.model_copy(update={"parameters": entry.parameters | parameters})
    return type(get_protocol(name))(changed)  # type: ignore[call-arg]


def test_the_offline_judge_is_asked_by_those_that_words_decide() -> None:
    supporting = {name for name in PROTOCOLS if get_protocol(name).supports(OfflineJudge())}
    assert supporting == OFFLINE


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("claim_discovery", {"compat_profiles": False}),
        ("race", {"order": "both"}),
        ("research_gym", {"quality_calls": "one"}),
        ("research_gym", {"clarity": "short"}),
        ("rigorous", {"focus_epsilon": 2}),
        ("rubric_bench", {"chunk_size": 49}),
        ("rubric_bench", {"max_chars": 9}),
        ("rubric_bench", {"compat_echo": True}),
        ("wiki_fact", {"whole_text_chars": 0}),
        ("wiki_writing", {"order_policy": "random"}),
        ("wiki_writing", {"order_policy": "both"}),
        ("wiki_writing", {"criteria": "full"}),
    ],
)
def test_a_setting_that_changes_verdicts_or_figures_is_part_of_the_version(
    name: str, parameters: dict[str, Any]
) -> None:
    assert changed(name, parameters).version != get_protocol(name).version


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("rigorous", {"domains": {"07": "Technology"}}), ("rubric_bench", {"attachments": False})],
)
def test_other_settings_are_no_part_of_it(name: str, parameters: dict[str, Any]) -> None:
    assert changed(name, parameters).version == get_protocol(name).version


@pytest.mark.parametrize(
    ("name", "parameters", "says"),
    [
        ("rigorous", {"focus_epsilon": 0}, "focus_epsilon.*greater than 0"),
        ("wiki_fact", {"top_k": 0}, r"parameters\.top_k"),
        ("rigorous", {"query_weight": 1.5}, "query_weight.*less than or equal to 1"),
        ("rigorous", {"relevance": "half"}, "relevance.*'ratio' or 'linear'"),
        ("rigorous", {"host_mode": "both"}, "host_mode.*'algorithm' or 'formula'"),
        ("rigorous", {"domains": {"7": "Law"}}, r"domains.*\^\\d\{2\}"),
        ("rubric_bench", {"chunk_size": -1}, "`parameters.chunk_size`"),
        ("rubric_bench", {"max_chars": 0}, "`parameters.max_chars`"),
        *((name, {"epsilon": 3}, "unknown key `parameters.epsilon`") for name in PROTOCOLS),
    ],
)
def test_a_setting_that_is_wrong_is_named(name: str, parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"{name}\.yaml: .*{says}"):
        changed(name, parameters)
