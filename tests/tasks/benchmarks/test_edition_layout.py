"""Which files of an edition are read, and which are refused."""

import json
import os
from collections.abc import Callable
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


def a_clone(folder: Path) -> None:
    EditionBuilder(folder / "data" / "2025_Mar_Nov")


@pytest.mark.parametrize(
    ("prepare", "says"),
    [
        (lambda path: None, r"copy does not exist; expected.*wiki_data"),
        (lambda path: path.write_text("x"), "is not a folder"),
        (lambda path: (path / "wiki_data").mkdir(parents=True), "has no test_data folder"),
        (a_clone, r"Editions inside it: data/2025_Mar_Nov"),
    ],
    ids=["missing", "a file", "another layout", "a clone"],
)
def test_what_is_no_edition_is_refused_by_what_it_lacks(
    prepare: Callable[[Path], object], says: str, tmp_path: Path
) -> None:
    prepare(tmp_path / "copy")
    with pytest.raises(EditionError, match=says):
        Layout.open(tmp_path / "copy")


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


@pytest.mark.parametrize("content", ["{", "", "[" * 200_000, "9" * 10_000])
def test_json_that_cannot_be_parsed_is_unreadable_never_an_exception_of_the_parser(
    built: EditionBuilder, content: str
) -> None:
    built.write("x.json", content)
    with pytest.raises(UnreadableFileError, match=r"x\.json is not valid JSON"):
        Layout.open(built.root).read_json("x.json")


def test_good_files_are_read_as_they_are_through_links_and_without_byte_order_marks(
    built: EditionBuilder,
) -> None:
    built.write("x.json", json.dumps({"a": [1, None]}))
    built.write("bom.md", b"\xef\xbb\xbf# Ants")
    (built.root / "link.md").symlink_to(built.root / "bom.md")
    opened = Layout.open(built.root)
    assert opened.read_json("x.json") == {"a": [1, None]}
    assert opened.read_text("bom.md") == opened.read_text("link.md") == "# Ants"


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
