"""Configurations of one's own come before those that are installed, and merge over them by name."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.agents.registry import get_agent_entry, load_agents
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import (
    PACKAGED,
    ConfigFolders,
    find_file,
    find_folders,
    find_packaged,
    list_files,
)
from tasks.configuration.loading import load_merged
from tasks.configuration.models import load_judges, load_protocol
from tasks.configuration.web import load_web
from tasks.configuration.wikipedia import load_wikipedia
from tasks.editions.refresh import load_refresh

ROOT = Path(__file__).resolve().parents[3]


def project(tmp_path: Path, **files: str) -> ConfigFolders:
    """A project whose own folder has these files: `agents` is agents.yaml."""
    for name, text in files.items():
        path = tmp_path / "configs" / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return find_folders(None, tmp_path)


def test_what_is_installed_is_the_project_in_a_checkout() -> None:
    assert PACKAGED == ROOT / "configs"
    assert find_packaged("sample") == ROOT / "data" / "sample"


def test_a_folder_named_by_the_variable_comes_first_then_the_working_folders(
    tmp_path: Path,
) -> None:
    first, second, own = (tmp_path / name for name in ("first", "second", "configs"))
    for folder in (first, second, own):
        folder.mkdir()
    found = find_folders(f"{first}{os.pathsep}{second}", tmp_path)
    assert found.all == (first, second, own, PACKAGED)
    assert find_folders(found.render(), Path("/")).all == found.all


def test_a_working_folder_without_configs_and_the_checkout_itself_add_nothing(
    tmp_path: Path,
) -> None:
    assert find_folders(None, tmp_path).all == (PACKAGED,)
    assert find_folders("", ROOT).all == (PACKAGED,)
    assert find_folders(str(PACKAGED), ROOT).all == (PACKAGED,)


def test_a_named_folder_that_does_not_exist_is_an_error_and_not_the_installed_one(
    tmp_path: Path,
) -> None:
    gone = find_folders(str(tmp_path / "gone"), tmp_path)
    with pytest.raises(ConfigurationError, match=r"EVERGREEN_CONFIGS: there is no folder .*gone"):
        load_judges(gone)


def test_a_missing_file_names_all_places(tmp_path: Path) -> None:
    folders = project(tmp_path, agents="agents: {}")
    with pytest.raises(ConfigurationError) as caught:
        find_file("prompts/none.md", folders)
    for folder in folders.all:
        assert str(folder / "prompts/none.md") in str(caught.value)


def test_an_agent_of_ones_own_joins_those_that_are_installed(tmp_path: Path) -> None:
    folders = project(tmp_path, agents="agents: {mine: {name: Mine}}")
    agents = load_agents(folders).agents
    assert {*agents} == {*load_agents(PACKAGED).agents, "mine"}
    assert load_agents(folders).clarification_reply == load_agents(PACKAGED).clarification_reply


def test_an_entry_replaces_one_of_the_same_name_as_a_whole(tmp_path: Path) -> None:
    assert get_agent_entry("gemini_deep_research", PACKAGED).ask
    folders = project(tmp_path, agents="agents: {gemini_deep_research: {name: Ours}}")
    entry = get_agent_entry("gemini_deep_research", folders)
    assert entry.name == "Ours"
    assert entry.ask is None, "nothing of the installed entry is left, above all no key"


def test_null_removes_an_entry(tmp_path: Path) -> None:
    folders = project(tmp_path, agents="agents: {openai: null}")
    assert {*load_agents(PACKAGED).agents} - {*load_agents(folders).agents} == {"openai"}
    with pytest.raises(ConfigurationError, match="openai"):
        get_agent_entry("openai", folders)


def test_a_setting_of_ones_own_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    folders = project(tmp_path, wikipedia="operator: me@example.org", web="allowed: {hosts: [a.b]}")
    assert load_wikipedia(folders) == load_wikipedia(PACKAGED).model_copy(
        update={"operator": "me@example.org"}
    )
    assert load_web(folders).allowed.hosts == ("a.b",)
    assert load_web(folders).allowed.ports == load_web(PACKAGED).allowed.ports


def test_a_default_of_ones_own_may_name_an_installed_judge(tmp_path: Path) -> None:
    folders = project(tmp_path, judges="default: gemini-3.8-flash")
    assert load_judges(folders).default == "gemini-3.8-flash"
    assert load_judges(folders).judges == load_judges(PACKAGED).judges


def test_a_month_may_name_an_agent_of_ones_own(tmp_path: Path) -> None:
    mine = "agents: {mine: {name: Mine, ask: {kind: command, command: [x]}}}"
    folders = project(tmp_path, agents=mine, refresh="agents: [mine]")
    assert load_refresh(folders).agents == ("mine",)


def test_a_protocols_settings_change_one_by_one(tmp_path: Path) -> None:
    before = load_protocol("wiki_fact", PACKAGED)
    folders = project(tmp_path, protocols__wiki_fact="parameters: {retriever: fused}")
    assert load_protocol("wiki_fact", folders).parameters == {
        **before.parameters, "retriever": "fused",
    }  # fmt: skip
    assert load_protocol("wiki_fact", folders).metrics == before.metrics


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "agents: {mine: {nmae: Mine}}",
            "unknown key `agents.mine.nmae`. Remove it, or cor",
        ),
        (
            "agents: {mine: {name: M, ask: {kind: http, url: 'http://a.org', kye_env: A}}}",
            "unknown key `agents.mine.ask.kye_env`. Remove it, or correct its spelling. "
            "Did you mean key_env",
        ),
        (
            "agents: {mine: {name: M, ask: {kind: http, url: 'http://a.org', limits: {a: 1}}}}",
            "unknown key `agents.mine.ask.limits.a`. Remove it, or correct its spelling. "
            "Known: concurrency, ",
        ),
        ("agents: {mine: {ask: 1}}", "key `agents.mine.name` is missing"),
        ("agnets: {}", "unknown key `agnets`"),
        (
            "agents: {mine: {name: M, ask: {kind: command}}}",
            "key `agents.mine.ask.command` is missing",
        ),
        (
            "agents: {mine: {name: M, ask: {kind: comand, command: [a]}}}",
            "`agents.mine.ask.kind`: there is no such kind, built in or in an installed package "
            "(did you mean command?); found 'comand'.",
        ),
        (
            "agents: {mine: {name: M, ask: {kind: command, command: [false]}}}",
            "`agents.mine.ask.command.0`: expected a text",
        ),
        ("agents: {mine: }", "`agents.mine`: expected a mapping of keys; found nothing"),
        (
            "mine: 1",
            "unknown key `mine`. Remove it, or correct its spelling. Known: ag",
        ),
        ("agents: [mine]", "`agents`: expected a mapping"),
    ],
)
def test_a_mistake_names_the_file_that_it_is_in(tmp_path: Path, text: str, said: str) -> None:
    folders = project(tmp_path, agents=text)
    with pytest.raises(ConfigurationError) as caught:
        load_agents(folders)
    assert f"{tmp_path / 'configs' / 'agents.yaml'}: {said}" in str(caught.value)
    assert str(PACKAGED) not in str(caught.value)


@pytest.mark.parametrize("text", ["", "# mine:\n", "agents:\n  # mine:\n"])
def test_a_file_of_comments_adds_nothing(tmp_path: Path, text: str) -> None:
    assert load_agents(project(tmp_path, agents=text)) == load_agents(PACKAGED)


def test_files_of_a_folder_are_those_of_all_folders(tmp_path: Path) -> None:
    folders = project(tmp_path, rubrics__clear="name: x")
    assert [*list_files("rubrics", [".yaml"], folders)] == ["clear.yaml", "reader.yaml"]


NAMES = st.sampled_from("abc")
ENTRIES = st.dictionaries(NAMES, st.one_of(st.none(), st.just({}), st.just({"n": 1})))


@given(st.lists(ENTRIES, min_size=1, max_size=3))
def test_the_first_file_that_has_an_entry_decides_about_it(
    tmp_path_factory: pytest.TempPathFactory, layers: list[dict[str, dict[str, int] | None]]
) -> None:
    from pydantic import BaseModel

    class Entries(BaseModel):
        entries: dict[str, dict[str, int] | None]

    folders = []
    for layer in layers:
        folder = tmp_path_factory.mktemp("layer")
        (folder / "x.yaml").write_text(f"entries: {layer}".replace("None", "null"), "utf-8")
        folders.append(folder)
    merged = load_merged("x.yaml", Entries, ConfigFolders((), tuple(folders))).entries
    for name in "abc":
        given_here = [layer[name] for layer in layers if name in layer]
        assert (merged.get(name) or None) == ((given_here or [None])[0] or None)
