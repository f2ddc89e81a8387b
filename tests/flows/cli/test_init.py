"""`evergreen init` makes a project whose files are valid, examples in comments included."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli.main import app
from tasks.agents.registry import load_agents
from tasks.configuration.folders import PACKAGED, find_folders
from tasks.configuration.models import load_judges
from tasks.configuration.wikipedia import load_wikipedia
from tasks.doctor.configuration import check_configuration
from tasks.editions.refresh import load_refresh
from tasks.errors import ExpectedError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    answered = CliRunner().invoke(app, ["init", str(folder)])
    assert answered.exit_code == 0, answered.output
    assert f"cd {folder}" in answered.stderr
    return folder


def uncomment(path: Path, first: str) -> None:
    """Make a block of comments that begins with this line part of the file."""
    block = re.search(rf"(?m)^ *# {re.escape(first)}\n(?: *#  .*\n)*", path.read_text("utf-8"))
    assert block, f"{path} has no example {first!r}"
    plain = re.sub(r"(?m)^( *)# ", r"\1", block[0])
    path.write_text(path.read_text("utf-8").replace(block[0], plain), "utf-8")


def test_a_new_project_has_configurations_and_ignores_what_is_secret(project: Path) -> None:
    assert {str(path.relative_to(project)) for path in project.rglob("*") if path.is_file()} == {
        ".env.example", ".gitignore", "configs/agents.yaml", "configs/judges.yaml",
        "configs/refresh.yaml", "configs/wikipedia.yaml",
    }  # fmt: skip
    ignored = (project / ".gitignore").read_text("utf-8").splitlines()
    assert {".env", "*.key", "data/"} <= {*ignored}


def test_a_new_project_is_valid_and_adds_one_agent(project: Path) -> None:
    folders = find_folders(None, project)
    assert [each.status for each in check_configuration(folders)] == ["ok"]
    assert {*load_agents(folders).agents} == {*load_agents(PACKAGED).agents, "my_agent"}
    assert load_judges(folders) == load_judges(PACKAGED)
    assert load_wikipedia(folders) == load_wikipedia(PACKAGED)
    assert load_refresh(folders) == load_refresh(PACKAGED).model_copy(update={"articles": 100})


def test_no_setting_of_a_new_project_costs_money(project: Path) -> None:
    folders = find_folders(None, project)
    judge = load_judges(folders).judges[load_judges(folders).default]
    assert judge.kind == "offline"
    assert load_refresh(folders).agents == ("sources_baseline",)


@pytest.mark.parametrize("kind", ["command", "http"])
def test_the_examples_of_agents_are_valid(project: Path, kind: str) -> None:
    path = project / "configs" / "agents.yaml"
    text = path.read_text("utf-8")
    before, *blocks = re.split(r"(?m)(?=^    # ask:$)", text)
    [chosen] = [each for each in blocks if f"kind: {kind}" in each]
    path.write_text(before + chosen, "utf-8")
    uncomment(path, "ask:")
    ask = load_agents(find_folders(None, project)).agents["my_agent"].ask
    assert ask is not None
    assert ask.kind == kind
    assert ask.price


def test_the_example_of_a_judge_is_valid(project: Path) -> None:
    path = project / "configs" / "judges.yaml"
    path.write_text(path.read_text("utf-8").replace("judges: {}\n", ""), "utf-8")
    uncomment(path, "judges:")
    judge = load_judges(find_folders(None, project)).judges["my_model"]
    assert judge.kind == "openai_chat"


def test_files_that_are_there_stay_as_they_are(project: Path) -> None:
    own = project / "configs" / "agents.yaml"
    own.write_text("agents: {}", "utf-8")
    answered = CliRunner().invoke(app, ["init", str(project)])
    assert isinstance(answered.exception, ExpectedError)
    assert "already has" in str(answered.exception)
    assert own.read_text("utf-8") == "agents: {}"
