"""A rubric's file: what is wrong with one is told, and it is found by its name."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import PACKAGED
from tasks.configuration.rubrics import RUBRICS_VARIABLE, find_rubric_file, load_rubric
from tasks.protocols.cell import get_protocol_version
from tasks.protocols.registry import (
    available_protocols,
    get_protocol,
    get_protocol_title,
    resolve_name,
)

ITEM = {"id": "a", "text": "It says so."}


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUBRICS_VARIABLE, "")


def written(file: Path, items: Any = (ITEM,), **more: Any) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump({"title": "Mine", "items": [*items]} | more), "utf-8")
    return file


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([], r"`items`: expected a list of at least 1"),
        ([ITEM, ITEM], r"ids used twice: a"),
        ([ITEM | {"id": "a b"}], r"`items\.0\.id`"),
        ([ITEM | {"id": "a\nItem b"}], r"`items\.0\.id`"),
        ([{"id": "a"}], r"key `items\.0\.text` \(id 'a'\) is missing"),
        ([ITEM | {"wieght": 2}], r"unknown key `items\.0\.wieght`"),
        ([ITEM | {"allowed": [1]}], r"`items\.0\.allowed`"),
        ([ITEM | {"allowed": [1, 1]}], r"`allowed` has a value twice"),
        ([ITEM | {"allowed": [True, False]}], r"`items\.0\.allowed\.0`"),
        ([ITEM | {"allowed": ["0", "1"]}], r"`items\.0\.allowed\.0`"),
        ([ITEM | {"allowed": [0, float("inf")]}], r"`items\.0\.allowed\.1`"),
        ([ITEM | {"allowed": [0, 0.00001]}], r"`items\.0\.allowed\.1`"),
        ([ITEM | {"weight": 0}], r"`items\.0\.weight`"),
        ([ITEM | {"weight": float("nan")}], r"`items\.0\.weight`"),
        (
            [ITEM | {"check": "guess"}],
            r"`items\.0\.check` \(id 'a'\): expected one of grade, key_point, words",
        ),
        (  # both are told at once, and nothing of a list that is too short
            [ITEM | {"id": "a b", "check": "guess"}],
            r"`items\.0\.id` \(id 'a b'\): expected letters \(a to z\), digits and _ \. : -, 80 at "
            r"most; found 'a b'\.\n.*mine\.yaml: `items\.0\.check` \(id 'a b'\): [^\n]*$",
        ),
        ([ITEM | {"check": "flesch"}], r"a style figure needs `at_least` or `at_most`"),
        ([ITEM | {"at_least": 2}], r"a style figure needs `at_least` or `at_most`"),
        ([ITEM | {"check": "key_point", "allowed": [0, 2]}], r"are for items that a model grades"),
        ([ITEM | {"dimension": "Trust!"}], r"`items\.0\.dimension`"),
        ([ITEM | {"dimension": "score"}], r"`dimension` 'score' is the name of the overall score"),
        (
            [ITEM | {"check": "words", "at_least": 300, "at_most": 30}],
            r"no report has at least 300 and at most 30",
        ),
    ],
)
def test_what_is_wrong_is_told_with_file_and_key(items: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=rf"mine\.yaml: .*{says}"):
        load_rubric(written(tmp_path / "mine.yaml", items))


def test_a_file_that_is_no_yaml_or_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("title: [", "utf-8")
    with pytest.raises(ConfigurationError, match=r"x\.yaml: not valid YAML"):
        load_rubric(tmp_path / "x.yaml")
    with pytest.raises(ConfigurationError, match=r"gone\.yaml: there is no such file"):
        resolve_name(str(tmp_path / "gone.yaml"))


def test_the_smallest_rubric_has_a_title_and_an_item_with_id_and_text(tmp_path: Path) -> None:
    rubric = load_rubric(written(tmp_path / "mine.yaml"))
    [item] = rubric.items
    assert (item.allowed, item.weight, item.check, rubric.assignments) == (
        (0, 1),
        1,
        "grade",
        "both",
    )


def test_a_file_anywhere_is_found_by_its_name_from_then_on(tmp_path: Path) -> None:
    assert find_rubric_file("mine") is None
    assert resolve_name(str(written(tmp_path / "mine.yaml"))) == "mine"
    assert get_protocol("mine").kinds == ("write_article", "research")
    assert get_protocol_title("mine") == "Mine"
    assert resolve_name(str(tmp_path / "mine.yaml")) == "mine", "again is nothing new"


def test_a_name_is_left_as_it_is() -> None:
    assert [resolve_name(name) for name in ("wiki_fact", "reader", "nobody")] == [
        "wiki_fact", "reader", "nobody",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("wiki_fact", "the name 'wiki_fact' is a built-in protocol's"),
        ("reader", "is a rubric with the same name"),
        ("a b", "the name 'a b' cannot be a protocol's"),
        ("'; DROP", "cannot be a protocol's"),
        ("x" * 61, "cannot be a protocol's"),
        (".hidden", "cannot be a protocol's"),
    ],
)
def test_a_name_that_is_taken_or_unsafe_is_refused(name: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=says):
        resolve_name(str(written(tmp_path / f"{name}.yaml")))


def test_a_name_reaches_no_file_outside_of_its_folder(tmp_path: Path) -> None:
    configs = tmp_path / "configs"
    written(configs / "rubrics.yaml")
    (configs / "rubrics").mkdir()
    assert find_rubric_file("../rubrics", configs) is None


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    resolve_name(str(written(tmp_path / "one" / "mine.yaml")))
    with pytest.raises(ConfigurationError, match="Rename one of them"):
        resolve_name(str(written(tmp_path / "two" / "mine.yaml")))


def test_a_rubric_that_is_edited_is_read_anew_in_the_same_process(tmp_path: Path) -> None:
    file = written(tmp_path / "mine.yaml")
    resolve_name(str(file))
    before = get_protocol_version("mine", None).version
    written(file, [ITEM, {"id": "b", "text": "It proves it."}])
    assert get_protocol_version("mine", None).version != before
    assert get_protocol_version("wiki_fact", None) is get_protocol_version("wiki_fact", None)


def test_scores_are_shown_also_when_their_rubric_is_gone(tmp_path: Path) -> None:
    file = written(tmp_path / "mine.yaml")
    resolve_name(str(file))
    assert list(available_protocols(["wiki_fact", "mine"])) == ["mine", "wiki_fact"]
    file.unlink()
    assert list(available_protocols(["wiki_fact", "mine"])) == ["wiki_fact"]
    assert get_protocol_title("mine") == "mine"


def test_the_example_is_a_rubric_and_each_of_ours_loads() -> None:
    files = sorted((PACKAGED / "rubrics").glob("*.yaml"))
    assert "reader" in [file.stem for file in files]
    for file in files:
        assert get_protocol(file.stem).name == file.stem


def test_a_list_of_rubrics_that_names_no_file_is_told_where_one_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RUBRICS_VARIABLE, str(tmp_path))
    with pytest.raises(
        ConfigurationError, match=f"{RUBRICS_VARIABLE} lists files that do not exist: {tmp_path}"
    ):
        get_protocol("clear")
