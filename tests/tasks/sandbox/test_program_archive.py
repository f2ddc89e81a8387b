"""The copy of an edition's pages that programs get: what is in it, and what becomes of it."""

import os
import shutil
import stat
from pathlib import Path

import polars as pl
import pytest

from tasks.configuration.inversion import load_inversion
from tasks.files import checksums
from tasks.sandbox import program_archive
from tasks.sandbox.page import SandboxError
from tasks.sandbox.program_archive import make_program_archive
from tasks.sandbox.snapshot import read_pages
from tests.tasks.sandbox.archives import (
    COPY,
    KEEPER,
    MOVED,
    PAGES,
    TOWERS,
    WIKI,
    WRECKS,
    page,
    write_seeds,
    write_snapshot,
)

TWICE_MOVED = page("https://older.example/h", "An older address.", final_url=MOVED)
MIRROR = page("https://www.wikiwand.com/en/Tolmen", "Tolmen is a village of bakers.")
TO_MIRROR = page("https://short.example/t", "A short address.", final_url=MIRROR.url)
TO_MIRROR_TWICE = page("https://older.example/t", "An older one.", final_url=TO_MIRROR.url)
GONE = "https://gone.example/"


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    pages = (*PAGES, TWICE_MOVED, MIRROR, TO_MIRROR, TO_MIRROR_TWICE)
    return write_snapshot(tmp_path / "exports" / "e", pages)


def made(snapshot: Path, *, given_sources: bool = False) -> Path:
    parent = snapshot.parents[1] / "archives"
    # The articles of these tests are too short for the share that holds for real ones.
    inversion = load_inversion().model_copy(update={"mirror_share": 0.3})
    return make_program_archive(snapshot, parent, inversion, given_sources=given_sources)


def urls(archive: Path) -> set[str]:
    return set(pl.read_parquet(archive / "pages.parquet")["url"])


def test_it_holds_the_pages_that_no_assignment_bans_as_they_are(snapshot: Path) -> None:
    archive = made(snapshot)
    assert [path.name for path in archive.iterdir()] == ["pages.parquet"]
    assert urls(archive) == {TOWERS, WRECKS, KEEPER, GONE}
    ours = pl.read_parquet(snapshot / "pages.parquet")
    kept = ours.filter(pl.col("url").is_in([TOWERS, WRECKS, KEEPER, GONE]))
    assert pl.read_parquet(archive / "pages.parquet").equals(kept)
    shown = (archive / "pages.parquet").read_bytes()
    for banned in (WIKI, COPY, MOVED, "bread.example", "wikiwand"):
        assert banned.encode() not in shown


@pytest.mark.parametrize("moved_to", [MIRROR.url, "https://en.wikipedia.org/wiki/Not_Archived"])
def test_what_leads_to_an_encyclopedia_is_left_out_whether_or_not_that_is_archived(
    snapshot: Path, moved_to: str
) -> None:
    pages = (*PAGES, page("https://short.example/w", "A short address.", final_url=moved_to))
    assert urls(made(write_snapshot(snapshot, pages))) == {TOWERS, WRECKS, KEEPER, GONE}


def test_pages_that_an_agent_is_given_are_its_own_until_one_that_searches_cites_them(
    snapshot: Path,
) -> None:
    write_seeds(snapshot, {"given": TOWERS, "also_given": WIKI}, {"given": TOWERS})
    assert urls(made(snapshot)) == {WRECKS, KEEPER, GONE}
    assert TOWERS not in {page.url for page in read_pages(snapshot)}
    assert urls(made(snapshot, given_sources=True)) == {TOWERS}  # WIKI is banned for all
    write_seeds(snapshot, {"given": TOWERS}, {"given": TOWERS, "searches": TOWERS})
    assert urls(made(snapshot)) == {TOWERS, WRECKS, KEEPER, GONE}
    assert TOWERS in {page.url for page in read_pages(snapshot)}


def test_nothing_written_to_it_reaches_the_snapshot_and_it_is_made_again(snapshot: Path) -> None:
    pages = made(snapshot) / "pages.parquet"
    before = (snapshot / "pages.parquet").read_bytes()
    assert not pages.samefile(snapshot / "pages.parquet")
    assert pages.stat().st_nlink == 1
    assert stat.S_IMODE(pages.stat().st_mode) == 0o444
    assert stat.S_IMODE(pages.parent.stat().st_mode) == 0o555
    good = pages.read_bytes()
    pages.parent.chmod(0o755)
    pages.chmod(0o644)
    pages.write_bytes(b"forged")
    (pages.parent / "notes.txt").write_text("for the next program")
    assert (snapshot / "pages.parquet").read_bytes() == before
    again = made(snapshot)
    assert [path.name for path in again.iterdir()] == ["pages.parquet"]
    assert (again / "pages.parquet").read_bytes() == good


def test_it_is_used_again_while_pages_and_bans_are_the_same(
    snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = made(snapshot)
    copy = snapshot.with_name("exported-again")
    shutil.copytree(snapshot, copy)
    with monkeypatch.context() as patched:
        patched.delattr(program_archive, "_write_copy")
        assert made(copy) == archive
    write_snapshot(copy, PAGES, banned="keepers.example")
    other = made(copy)
    assert other != archive
    assert KEEPER not in urls(other)
    assert archive.is_dir()  # of programs that are still running


def test_older_copies_are_removed(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_archive, "KEPT_COPIES", 2)
    archives = []
    for number, url in enumerate((TOWERS, WRECKS, KEEPER)):
        archives.append(made(write_snapshot(snapshot, PAGES, banned=url)))
        os.utime(archives[-1], (number, number))
    assert [archive.exists() for archive in archives] == [False, True, True]
    left = {path.name for path in archives[0].parent.iterdir()}
    assert left == {".lock", *(f"{archive.name}{end}" for archive in archives[1:]
                               for end in ("", ".sha256"))}  # fmt: skip


def test_one_who_was_killed_leaves_no_half_of_it(
    snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(path: Path) -> str:
        if path.parent.name.startswith(".fresh-"):
            raise KeyboardInterrupt
        return hashed(path)

    hashed = checksums.hash_file
    monkeypatch.setattr(program_archive, "hash_file", killed)
    with pytest.raises(KeyboardInterrupt):
        made(snapshot)
    monkeypatch.undo()
    assert urls(made(snapshot)) == {TOWERS, WRECKS, KEEPER, GONE}


def test_a_ban_that_cannot_be_read_is_named_and_nothing_is_made(snapshot: Path) -> None:
    with pytest.raises(SandboxError, match="assignment 'bread': 'the bakers' is to be banned"):
        made(write_snapshot(snapshot, banned="the bakers"))
    assert not (snapshot.parents[1] / "archives").exists()
