"""The bytes of pages: whole or not at all, once, and known when they are damaged."""

import gzip
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.warehouse.contents import FileStore, PageStore
from tasks.warehouse.errors import DamagedWarehouse, UnwritableWarehouse


def kept(store: PageStore, *pieces: bytes) -> str:
    with store.create() as page:
        for piece in pieces:
            page.write(piece)
        return page.keep()


@given(pieces=st.lists(st.binary(max_size=200), max_size=5))
def test_what_comes_in_pieces_is_given_back_whole(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    store = PageStore(tmp_path_factory.mktemp("pages"))
    sha = kept(store, *pieces)
    assert sha == sha256(b"".join(pieces)).hexdigest()
    assert store.get(sha) == b"".join(pieces)


def test_the_same_bytes_are_one_file_and_the_same_bytes_of_it(tmp_path: Path) -> None:
    store = PageStore(tmp_path)
    first = kept(store, b"a page")
    before = PageStore(tmp_path).path(first).read_bytes()
    assert kept(store, b"a ", b"page") == first
    assert PageStore(tmp_path).path(first).read_bytes() == before
    assert len([p for p in tmp_path.rglob("*") if p.is_file()]) == 1


def test_a_page_that_is_not_kept_leaves_nothing(tmp_path: Path) -> None:
    with PageStore(tmp_path).create() as page:
        page.write(b"half a page")
    assert list(tmp_path.rglob("*")) == []


def test_what_a_killed_run_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    store = PageStore(tmp_path)
    sha = kept(store, b"a page")
    left = store.create()
    left.write(b"half a page")
    store.remove_partial_files()
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == [f"{sha}.gz"]


def test_missing_cut_and_changed_bytes_are_told_apart_and_name_the_file(tmp_path: Path) -> None:
    store = PageStore(tmp_path)
    sha = kept(store, b"a page of some length" * 50)
    path = PageStore(tmp_path).path(sha)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DamagedWarehouse, match=f"{sha}.gz cannot be unpacked"):
        store.get(sha)
    path.write_bytes(gzip.compress(b"another page"))
    with pytest.raises(DamagedWarehouse, match="has changed since it was kept"):
        store.get(sha)
    path.unlink()
    with pytest.raises(DamagedWarehouse, match="missing"):
        store.get(sha)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(UnwritableWarehouse, match="could not be kept"):
        PageStore(tmp_path / "file").create()


def test_a_report_file_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    path = store.path(store.put(b"%PDF"))
    first = path.stat().st_ino
    store.put(b"%PDF")
    assert path.stat().st_ino == first
    path.write_bytes(b"%P")  # cut
    store.put(b"%PDF")
    assert path.read_bytes() == b"%PDF"
