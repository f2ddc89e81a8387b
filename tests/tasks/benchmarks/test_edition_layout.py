"""Which files of an edition are read, and which are refused."""

import json
import os
from pathlib import Path
from unicodedata import normalize

import pytest

from tasks.benchmarks import layout as layout_module
from tasks.benchmarks.errors import EditionError, UnreadableFileError
from tasks.benchmarks.layout import Issues, Layout, article_id
from tests.tasks.benchmarks.edition_builder import EditionBuilder


@pytest.fixture
def built(tmp_path: Path) -> EditionBuilder:
    return EditionBuilder(tmp_path / "edition")


def test_a_missing_folder_is_named_with_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(EditionError, match=r"nowhere does not exist; expected.*wiki_data"):
        Layout.open(tmp_path / "nowhere")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "edition.zip"
    path.write_text("x")
    with pytest.raises(EditionError, match="is not a folder"):
        Layout.open(path)


def test_a_folder_of_another_layout_is_refused_by_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "wiki_data").mkdir()
    with pytest.raises(EditionError, match="has no test_data folder"):
        Layout.open(tmp_path)


def test_the_root_of_a_clone_is_refused_with_the_editions_inside_it(tmp_path: Path) -> None:
    EditionBuilder(tmp_path / "data" / "2025_Mar_Nov")
    with pytest.raises(EditionError, match=r"Editions inside it: data/2025_Mar_Nov"):
        Layout.open(tmp_path)


def test_agents_are_the_folders_with_markdown_reports(built: EditionBuilder) -> None:
    built.report("beta", "X")
    (built.root / "test_data" / "notes").mkdir()
    assert Layout.open(built.root).list_agents() == ["alpha", "beta"]


def test_a_decomposed_file_name_is_found_under_its_composed_form(built: EditionBuilder) -> None:
    name = "Diego_García_Miravete"
    built.report("alpha", normalize("NFD", name))
    assert name in Layout.open(built.root).list_files("test_data/alpha/md_data", ".md")


def test_hidden_files_are_passed_over(built: EditionBuilder) -> None:
    built.report("alpha", "._Parasitic_ant", b"\x00\x05\x16\x07")
    assert list(Layout.open(built.root).list_files("test_data/alpha/md_data", ".md")) == [
        "Parasitic_ant"
    ]


def test_a_symbolic_link_out_of_the_edition_is_refused(
    built: EditionBuilder, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (built.root / "link.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(UnreadableFileError, match="leads out of") as caught:
        Layout.open(built.root).read_text("link.md")
    assert caught.value.kind == "outside"


def test_a_symbolic_link_inside_the_edition_is_read(built: EditionBuilder) -> None:
    built.write("real.md", "text")
    (built.root / "link.md").symlink_to(built.root / "real.md")
    assert Layout.open(built.root).read_text("link.md") == "text"


@pytest.mark.parametrize("kind", ["loop", "pipe", "folder", "missing"])
def test_what_is_no_regular_file_is_unreadable_and_never_waited_for(
    built: EditionBuilder, kind: str
) -> None:
    path = built.root / "odd.md"
    if kind == "loop":
        path.symlink_to(path)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    with pytest.raises(UnreadableFileError, match=r"odd\.md"):
        Layout.open(built.root).read_text("odd.md")


def test_a_file_above_the_size_limit_is_refused_with_both_sizes(
    built: EditionBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout_module, "MAX_FILE_BYTES", 1_000)
    built.write("big.md", "x" * 1_001)
    with pytest.raises(UnreadableFileError, match=r"1,001 bytes; at most 1,000"):
        Layout.open(built.root).read_text("big.md")


def test_a_byte_order_mark_is_no_part_of_the_text(built: EditionBuilder) -> None:
    built.write("bom.md", b"\xef\xbb\xbf# Ants")
    assert Layout.open(built.root).read_text("bom.md") == "# Ants"


@pytest.mark.parametrize("content", ["{", "", "[" * 200_000, "9" * 10_000])
def test_json_that_cannot_be_parsed_is_unreadable_never_an_exception_of_the_parser(
    built: EditionBuilder, content: str
) -> None:
    built.write("x.json", content)
    with pytest.raises(UnreadableFileError, match=r"x\.json is not valid JSON"):
        Layout.open(built.root).read_json("x.json")


def test_good_json_is_returned_as_it_is(built: EditionBuilder) -> None:
    built.write("x.json", json.dumps({"a": [1, None]}))
    assert Layout.open(built.root).read_json("x.json") == {"a": [1, None]}


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Fall_River/New_Bedford_Line", "Fall_River_New_Bedford_Line"),
        ("Tony Hawk's Pro Skater 2", "Tony_Hawk's_Pro_Skater_2"),
        (normalize("NFD", "Bellmer_La_Poupée"), "Bellmer_La_Poupée"),
    ],
)
def test_a_title_becomes_its_file_name(title: str, name: str) -> None:
    assert article_id(title) == name


def test_the_first_of_two_issues_with_one_path_and_kind_is_kept() -> None:
    issues = Issues("e")
    issues.add_remark("a", "odd", "first")
    issues.add_remark("a", "odd", "second")
    assert [row.message for row in issues.rows()] == ["first"]
