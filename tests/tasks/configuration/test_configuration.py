"""Configuration refuses what it does not know and says where."""

from pathlib import Path

import pytest

from tasks.agents.registry import load_agents
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import load_config
from tasks.configuration.models import Judges, load_protocol
from tasks.protocols.declarations import parse_parameters
from tasks.protocols.registry import PROTOCOLS, get_protocol
from tasks.protocols.rigorous.parameters import RigorousParameters


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "judges.yaml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_a_protocol_and_its_file_agree(name: str) -> None:
    made = get_protocol(name)
    assert made.name == name == load_protocol(name).name
    assert made.version.startswith(f"{load_protocol(name).version}-")
    assert made.metrics


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("default: x\njudges: {}\nspeed: fast\n", "unknown key `speed`"),
        ("judges: {}\n", "key `default` is missing"),
        ("default: 3\njudges: {}\n", "`default`: expected a text (put it in quotes); found '3'"),
        ("[1, 2]\n", "expected a mapping"),
        ("default: [\n", "not valid YAML"),
        ("", "expected a mapping"),
    ],
)
def test_a_wrong_file_is_explained_by_file_key_and_expectation(
    tmp_path: Path, text: str, said: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigurationError) as caught:
        load_config(path, Judges)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


def test_an_agent_that_is_given_the_sources_cannot_be_ranked(tmp_path: Path) -> None:
    path = tmp_path / "agents.yaml"
    entry = "a: {name: A, ask: {kind: command, command: [x], archive: references}}"
    path.write_text(f"clarification_reply: Go on.\nagents:\n  {entry}\n", "utf-8")
    with pytest.raises(ConfigurationError, match=r"agents\.a.*expected a reason under `unranked`"):
        load_agents(tmp_path)


def test_a_folder_in_the_place_of_a_file_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(
        ConfigurationError, match=r"folder\.yaml: cannot be read .*\(Is a directory\)"
    ):
        load_config(tmp_path / "folder.yaml", Judges)


def test_wrong_parameters_of_a_protocol_are_all_named_in_our_own_words() -> None:
    entry = load_protocol("rigorous").model_copy(update={"parameters": {"domains": 1, "more": 2}})
    with pytest.raises(ConfigurationError) as found:
        parse_parameters(entry, RigorousParameters)
    assert "configs/protocols/rigorous.yaml: `parameters.domains`: expected a" in str(found.value)
    assert "configs/protocols/rigorous.yaml: unknown key `parameters.more`" in str(found.value)
    assert "Value error" not in str(found.value)
