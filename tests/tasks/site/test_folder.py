"""A site's folder is written whole or not at all, and never over something else."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.files.checksums import SUMS, parse_sums
from tasks.site import folder as folders
from tasks.site.folder import SiteFolder, safe_file_name
from tasks.site.mark import MARK, UnwritableSite, check_target
from tests.tasks.site.texts import NAMES


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
    made = safe_file_name(name)
    assert 0 < len(made) <= 69
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert made.strip(".-") == made


@given(st.text(max_size=30), st.text(max_size=30))
def test_two_names_never_share_a_file(one: str, other: str) -> None:
    assert one == other or safe_file_name(one) != safe_file_name(other)


def test_a_name_made_to_look_like_another_ones_file_has_its_own() -> None:
    assert safe_file_name(safe_file_name("Été")) != safe_file_name("Été")


def test_a_name_takes_no_file_that_is_another_ones_or_no_file_at_all() -> None:
    """A name may be one that Windows keeps, or that we give to the second page of an article."""
    made = {name: safe_file_name(name) for name in (*NAMES, "CON", "con.x", "lpt1", "a-facts-2")}
    assert len(set(made.values())) == len(made)
    for name, file in made.items():
        assert file.split(".")[0] not in ("con", "lpt1"), name
        assert not re.search(r"-facts-\d+$", file)


def test_a_plain_name_stays_readable() -> None:
    assert safe_file_name("gemini_3_pro") == "gemini_3_pro"
    assert safe_file_name("Blix (Magic!)").startswith("blix-magic-")
    assert safe_file_name("..").startswith("x-")


def test_every_file_is_listed_with_its_sha(tmp_path: Path) -> None:
    site = tmp_path / "site"
    write(site, a="one", b="zwei ü")
    assert json.loads((site / MARK).read_text("utf-8")) == {"edition": "e", "masked_keys": 0}
    listed = [line.split("  ") for line in (site / SUMS).read_text("utf-8").splitlines()]
    assert [path for _, path in listed] == ["a/page.html", "b/page.html", MARK]
    assert [sha for sha, _ in listed] == [
        sha256((site / path).read_bytes()).hexdigest() for _, path in listed
    ]
    assert {*contents(site)} == {SUMS, *(path for _, path in listed)}


@pytest.mark.parametrize("in_place", [True, False])
def test_a_site_from_before_there_was_a_list_of_its_own_is_replaced(
    in_place: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its mark lists the files; Evergreen signed it and the manifest of its edition."""
    listed = ("a/page.html", "data/manifest.json", "data/manifest.json.minisig")
    mark = {"edition": "e", "signature": "C72433A85E892DFF", "files": dict.fromkeys(listed)}
    site = tmp_path / "site"
    for path in (*listed, "site.json.minisig", MARK):
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(json.dumps(mark))
    (site / "mine").write_text("mine")
    with pytest.raises(UnwritableSite, match="holds 'mine'"):
        write(site, b="new")
    (site / "mine").unlink()
    if in_place:
        monkeypatch.chdir(site)  # so that it cannot be renamed
    write(site, b="new")
    assert contents(site).keys() == {"b/page.html", MARK, SUMS}


def test_publishing_again_leaves_nothing_of_before(tmp_path: Path) -> None:
    write(tmp_path / "site", a="one", b="two")
    write(tmp_path / "site", a="other")
    assert contents(tmp_path / "site").keys() == {"a/page.html", MARK, SUMS}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_that_holds_something_else_is_refused_and_stays(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UnwritableSite, match=f"holds files and no {MARK}"):
        write(tmp_path, a="one")
    assert contents(tmp_path) == {"thesis.txt": "years of work"}


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


RENAME = Path.rename


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def stubborn(path: Path, target: Path) -> Path:
    """Nothing new takes the site's name; what was there before may."""
    if Path(target).name == "site" and not path.name.endswith("old") and "-old-" not in path.name:
        raise OSError(5, "Input/output error")
    return RENAME(path, target)


@pytest.mark.parametrize(
    ("method", "failing", "said", "left"),
    [
        ("write_bytes", full, r"No space left on device.*untouched", ["site"]),
        ("rename", stubborn, "could not be moved to its place", None),
    ],
)
def test_what_the_system_refuses_is_told_and_leaves_the_old_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, failing: Callable[..., Any],
    said: str, left: list[str] | None,
) -> None:  # fmt: skip
    write(tmp_path / "site", a="old")
    before = contents(tmp_path / "site")
    monkeypatch.setattr(Path, method, failing)
    with pytest.raises(UnwritableSite, match=said):
        write(tmp_path / "site", a="new")
    monkeypatch.undo()
    assert contents(tmp_path / "site") == before
    assert left is None or [path.name for path in tmp_path.iterdir()] == left


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UnwritableSite, match="Name another one with --to"):
        write(tmp_path / "site", a="one")


def test_a_site_that_holds_something_of_ones_own_is_refused_and_stays(tmp_path: Path) -> None:
    site = tmp_path / "site"
    write(site, a="one")
    for path, named in ((".git/HEAD", ".git"), ("CNAME", "CNAME"), ("a/notes.txt", "a/notes.txt")):
        (site / path).parent.mkdir(exist_ok=True)
        (site / path).write_text("mine")
        before = contents(site)
        with pytest.raises(UnwritableSite, match=f"holds '{named}'.*Move it elsewhere, or name"):
            write(site, a="two")
        assert contents(site) == before
        shutil.rmtree(site / named) if (site / named).is_dir() else (site / named).unlink()
    (site / "drafts").mkdir()
    with pytest.raises(UnwritableSite, match="holds 'drafts'"):
        check_target(site)


@pytest.mark.parametrize(
    "mark",
    [
        '{"name": "x", "masked_keys": 0}',
        '{"name": "a web framework\'s own"}',
        "[]",
        "<html>",
        '{"files": {"../../x": {}}}',
    ],
)
def test_a_mark_of_another_program_makes_no_site(tmp_path: Path, mark: str) -> None:
    (tmp_path / MARK).write_text(mark)
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UnwritableSite, match="Evergreen did not write it"):
        write(tmp_path, a="one")
    assert contents(tmp_path) == {MARK: mark, "thesis.txt": "years of work"}


def test_a_link_to_a_folder_stays_one_and_the_site_is_where_it_leads(tmp_path: Path) -> None:
    link = tmp_path / "current"
    link.symlink_to(tmp_path / "sites" / "one")
    for text in ("old", "new"):
        write(link, a=text)
        assert link.is_symlink()
        assert contents(tmp_path / "sites" / "one")["a/page.html"] == text
    assert {path.name for path in tmp_path.iterdir()} == {"current", "sites"}


def test_the_folder_one_stands_in_stays_the_same_and_gets_the_new_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    write(site, a="old", b="gone")
    inode = site.stat().st_ino
    monkeypatch.chdir(site)
    write(Path(), a="new", c="more")
    assert site.stat().st_ino == inode
    assert contents(site).keys() == {"a/page.html", "c/page.html", MARK, SUMS}
    assert (site / "a" / "page.html").read_text() == "new"
    assert {*parse_sums((site / SUMS).read_bytes())} == {"a/page.html", "c/page.html", MARK}
    assert sorted(path.name for path in site.iterdir()) == [SUMS, "a", "c", MARK]


def test_a_folder_that_the_system_does_not_rename_gets_the_new_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "site", a="old", b="gone")

    def mounted(path: Path, target: Path) -> Path:
        if path.name == "site":
            raise OSError(16, "Device or resource busy")
        return RENAME(path, target)

    monkeypatch.setattr(Path, "rename", mounted)
    write(tmp_path / "site", a="new")
    monkeypatch.undo()
    assert contents(tmp_path / "site").keys() == {"a/page.html", MARK, SUMS}
    assert (tmp_path / "site" / "a" / "page.html").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@contextmanager
def copied_at_each_step(folder: Path, to: Path) -> Iterator[list[Path]]:
    """Within the block the folder is copied before anything is renamed, removed or a new folder:
    what a kill at that moment would leave."""
    copies: list[Path] = []
    copying = False

    def watched(do: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any, **named: Any) -> Any:
            nonlocal copying
            if not copying:
                copying = True
                copies.append(shutil.copytree(folder, to / str(len(copies))))
                copying = False
            return do(*given, **named)

        return step

    with pytest.MonkeyPatch.context() as patch:
        for name in ("mkdir", "rename", "replace", "rmdir", "unlink"):
            patch.setattr(os, name, watched(getattr(os, name)))
        yield copies


def test_a_site_is_the_old_one_or_the_new_one_wherever_its_run_is_killed(tmp_path: Path) -> None:
    place = tmp_path / "place"
    write(place / "site", a="old", z="old")
    old = contents(place / "site")
    with copied_at_each_step(place, tmp_path / "copies") as copies:
        write(place / "site", a="new", b="new")
    new = contents(place / "site")
    moved_away = [copy for copy in copies if not (copy / "site").exists()]
    for copy in copies:
        assert copy in moved_away or contents(copy / "site") in (old, new)
        with SiteFolder(copy / "site"):  # the next one puts it back, and is ended before it is done
            pass
        assert contents(copy / "site") in (old, new)
        assert [path.name for path in copy.iterdir()] == ["site"]
        write(copy / "site", c="newest")
        assert contents(copy / "site").keys() == {"c/page.html", MARK, SUMS}
        assert [path.name for path in copy.iterdir()] == ["site"]
    assert len(moved_away) == 1  # between the two renames


def test_a_run_follows_one_that_was_killed_while_it_replaced_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    write(site, a="old", z="old")
    monkeypatch.chdir(site)  # so that it cannot be renamed
    with copied_at_each_step(site, tmp_path / "copies") as copies:
        write(site, a="new", b="new", c="new")
    unfinished = 0
    for copy in copies:
        unfinished += json.loads((copy / MARK).read_text()).get("unfinished", False)
        monkeypatch.chdir(copy)
        write(copy, a="newer")
        assert contents(copy).keys() == {"a/page.html", MARK, SUMS}
        assert sorted(path.name for path in copy.iterdir()) == [SUMS, "a", MARK]
    assert unfinished > 3


def test_what_a_killed_run_left_is_removed_and_nothing_that_is_called_alike(
    tmp_path: Path,
) -> None:
    left, kept = tmp_path / ".site.evergreen-abcd_123", tmp_path / ".site-personal"
    for folder in (left, kept):
        folder.mkdir()
        (folder / "index.html").write_text("half")
    write(tmp_path / "site", a="whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [kept.name, "site"]


def test_two_runs_do_not_write_one_site_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "WAIT_SECONDS", 0)
    with SiteFolder(tmp_path / "site") as first:
        first.add("index.html", "first")
        with pytest.raises(UnwritableSite, match="being written by another run"):
            write(tmp_path / "site", a="second")
        first.finish({})
    assert contents(tmp_path / "site").keys() == {"index.html", MARK, SUMS}
    write(tmp_path / "site", a="second")
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_of_ours_in_one_of_others_gets_the_new_files(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    tmp_path.chmod(0o500)
    for text in ("old", "new"):
        write(tmp_path / "site", **{text: text})
    assert contents(tmp_path / "site").keys() == {"new/page.html", MARK, SUMS}


def test_a_place_that_cannot_hold_a_site_is_told_beforehand(tmp_path: Path) -> None:
    check_target(tmp_path / "new" / "deeper")
    (tmp_path / "file").write_text("a file")
    # Root may write to /proc, as far as rights go.
    for place, said in (
        (tmp_path / "file", r"is a file\..*--to"),
        (tmp_path / "file" / "site", "cannot be written to.*--to"),
        (Path("/proc/site"), "--to"),
    ):
        with pytest.raises(UnwritableSite, match=said):
            check_target(place)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
