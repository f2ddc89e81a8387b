"""A site's folder is written whole or not at all, and never over something else."""

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.site.folder import MARK, SiteFolder, UnwritableSite, file_name


def write(target: Path, **files: str) -> None:
    with SiteFolder(target) as folder:
        for name, text in files.items():
            folder.add(f"{name}/page.html", text)
        folder.finish({"edition": "e"})


def contents(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text("utf-8")
            for p in sorted(folder.rglob("*")) if p.is_file()}  # fmt: skip


@given(st.text(max_size=100))
def test_a_file_name_is_safe_everywhere_whatever_it_is_of(name: str) -> None:
    made = file_name(name)
    assert 0 < len(made) <= 69
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert made.strip(".-") == made


@given(st.text(max_size=30), st.text(max_size=30))
def test_two_names_never_share_a_file(one: str, other: str) -> None:
    assert one == other or file_name(one) != file_name(other)


def test_a_name_made_to_look_like_another_ones_file_has_its_own() -> None:
    assert file_name(file_name("Été")) != file_name("Été")


def test_a_plain_name_stays_readable() -> None:
    assert file_name("gemini_3_pro") == "gemini_3_pro"
    assert file_name("Blix (Magic!)").startswith("blix-magic-")
    assert file_name("..").startswith("x-")


def test_the_mark_lists_every_file_with_its_size_and_sha(tmp_path: Path) -> None:
    write(tmp_path / "site", a="one", b="zwei ü")
    mark = json.loads((tmp_path / "site" / MARK).read_text("utf-8"))
    assert mark["edition"] == "e"
    data = "zwei ü".encode()
    assert mark["files"]["b/page.html"] == {"bytes": len(data), "sha256": sha256(data).hexdigest()}
    assert {*mark["files"], MARK} == {*contents(tmp_path / "site")}


def test_publishing_again_leaves_nothing_of_before(tmp_path: Path) -> None:
    write(tmp_path / "site", a="one", b="two")
    write(tmp_path / "site", a="other")
    assert contents(tmp_path / "site").keys() == {"a/page.html", MARK}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_that_holds_something_else_is_refused_and_stays(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UnwritableSite, match=f"holds files and no {MARK}"):
        write(tmp_path, a="one")
    assert contents(tmp_path) == {"thesis.txt": "years of work"}


def test_a_file_in_the_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("a file")
    with pytest.raises(UnwritableSite, match="is a file"):
        write(tmp_path / "site", a="one")


def test_an_empty_or_a_missing_folder_is_used(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "new", "deep/er"):
        write(tmp_path / name, a="one")
        assert (tmp_path / name / "a" / "page.html").is_file()


@pytest.mark.parametrize("error", [RuntimeError("broken"), KeyboardInterrupt()])
def test_what_fails_in_the_middle_leaves_the_old_site_and_nothing_beside_it(
    tmp_path: Path, error: BaseException
) -> None:
    write(tmp_path / "site", a="old")
    before = contents(tmp_path / "site")

    def fail() -> None:
        with SiteFolder(tmp_path / "site") as folder:
            folder.add("a/page.html", "new")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert contents(tmp_path / "site") == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_full_disk_is_told_and_leaves_the_old_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "site", a="old")
    before = contents(tmp_path / "site")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UnwritableSite, match=r"No space left on device.*untouched"):
        write(tmp_path / "site", a="new")
    monkeypatch.undo()
    assert contents(tmp_path / "site") == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_site_that_cannot_be_put_in_its_place_is_told_and_the_old_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "site", a="old")
    before = contents(tmp_path / "site")
    rename = Path.rename

    def stubborn(path: Path, target: Path) -> Path:
        if (
            Path(target).name == "site"
            and not path.name.endswith("old")
            and "-old-" not in path.name
        ):
            raise OSError(16, "Device or resource busy")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", stubborn)
    with pytest.raises(UnwritableSite, match="could not be put in its place"):
        write(tmp_path / "site", a="new")
    monkeypatch.undo()
    assert contents(tmp_path / "site") == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UnwritableSite, match="Name another one with --to"):
        write(tmp_path / "site", a="one")


def test_a_place_below_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    with pytest.raises(UnwritableSite, match="Name another one with --to"):
        write(tmp_path / "file" / "site", a="one")


def test_what_a_killed_run_left_is_removed_and_a_live_ones_is_not(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    left, kept = tmp_path / f".site-{ended.pid}-abc_1", tmp_path / f".site-{os.getppid()}-abc_2"
    for folder in (left, kept):
        folder.mkdir()
        (folder / "index.html").write_text("half")
    with SiteFolder(tmp_path / "site") as folder_of_ours:
        folder_of_ours.add("index.html", "whole")
        folder_of_ours.finish({})
    assert sorted(path.name for path in tmp_path.iterdir()) == [kept.name, "site"]
