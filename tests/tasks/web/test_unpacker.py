"""Content codings: what went in comes out, however it was cut; nothing goes off."""

import gzip
import sys
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.web.errors import BodyTooLarge, FetchFailed
from tasks.web.unpacker import PIECE_BYTES, unpack

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress, "x-gzip": gzip.compress, "GZIP , identity": gzip.compress,
    "deflate": zlib.compress, "Deflate": raw_deflate, "": bytes, "identity": bytes, "none": bytes,
    "br": lambda body: brotli.compress(body, quality=1),
    "zstd": zstd.compress, "gzip, BR": lambda body: brotli.compress(gzip.compress(body), quality=1),
    "zstd,identity,gzip": lambda body: gzip.compress(zstd.compress(body)),
    "utf-8": bytes, "text/html": bytes, "aws-chunked, gzip": gzip.compress, "compress": bytes,
}  # fmt: skip


async def cut(raw: bytes, sizes: list[int]) -> AsyncIterator[bytes]:
    start = 0
    for size in [*sizes, len(raw)]:
        if piece := raw[start : start + size]:
            yield piece
        start += size


def pieces(coding: str, raw: bytes, sizes: list[int], most: int) -> Iterator[bytes]:
    """Unpack without an event loop: nothing here waits."""
    body = unpack(cut(raw, sizes), coding, most)
    while True:
        try:
            anext(body).send(None)
        except StopIteration as piece:
            yield piece.value
        except StopAsyncIteration:
            return


def unpacked(coding: str, raw: bytes, sizes: list[int]) -> bytes:
    return b"".join(pieces(coding, raw, sizes, 10_000_000))


@pytest.mark.parametrize("coding", PACKED)
@given(body=st.binary(max_size=3000), sizes=st.lists(st.integers(1, 50), max_size=20))
def test_a_body_comes_out_as_it_went_in_however_it_was_cut(
    coding: str, body: bytes, sizes: list[int]
) -> None:
    assert unpacked(coding, PACKED[coding](body), sizes) == body


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, br"])
@given(raw=st.binary(max_size=300), sizes=st.lists(st.integers(1, 50), max_size=5))
def test_any_bytes_are_unpacked_or_said_to_be_no_such_thing(
    coding: str, raw: bytes, sizes: list[int]
) -> None:
    with suppress(FetchFailed):
        unpacked(coding, raw, sizes)


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "zstd, br", "gzip, gzip"])
def test_a_bomb_goes_off_piece_by_piece_and_is_left(coding: str) -> None:
    bomb = bytes(5_000_000)
    for name in coding.split(", "):
        bomb = {"gzip": gzip, "br": brotli, "zstd": zstd}[name].compress(bomb)
    came: list[int] = []
    with pytest.raises(BodyTooLarge, match="more than 1,000,000 bytes"):
        came.extend(len(piece) for piece in pieces(coding, bomb, [], 1_000_000))
    assert 0 < max(came) <= 2 * PIECE_BYTES
    assert 500_000 < sum(came) <= 1_000_000


def test_more_bytes_than_may_come_are_left_unread() -> None:
    body = pieces("", b"12345678901", [9], 10)
    assert next(body) == b"123456789"
    with pytest.raises(BodyTooLarge):
        next(body)


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "gzip, BR"])
@pytest.mark.parametrize("cut", [1, 5, 9, 50])
def test_a_packed_body_that_breaks_off_is_a_failure_that_may_heal(coding: str, cut: int) -> None:
    raw = PACKED[coding](bytes(range(256)) * 20)
    with pytest.raises(FetchFailed, match="broke off") as failed:
        unpacked(coding, raw[:-cut], [])
    assert failed.value.retryable


@pytest.mark.parametrize("sizes", [[], [7], [1] * 200])
def test_what_follows_the_end_is_left_out(sizes: list[int]) -> None:
    for pack, coding in ((gzip.compress, "gzip"), (zstd.compress, "zstd")):
        for rubbish in (b"rubbish" * 100, b"\0", b"\x1f"):
            assert unpacked(coding, pack(b"page") + rubbish, sizes) == b"page"


@pytest.mark.parametrize("sizes", [[], [7], [1] * 200])
def test_a_body_packed_in_parts_is_whole(sizes: list[int]) -> None:
    skipped = b"\x50*M\x18\x03\0\0\0abc"
    for pack, coding, before in ((gzip.compress, "gzip", b""), (zstd.compress, "zstd", skipped)):
        parts = [before, pack(b"page "), before, pack(b"by "), pack(b""), pack(b"page" * 50_000)]
        raw = b"".join(parts)
        assert unpacked(coding, raw, sizes) == b"page by " + b"page" * 50_000
        with pytest.raises(FetchFailed, match="broke off"):
            unpacked(coding, raw[:-1], sizes)


def test_a_body_of_very_many_parts_is_left() -> None:
    with pytest.raises(FetchFailed, match="more than 10,000 packed parts"):
        unpacked("gzip", gzip.compress(b"a") * 10_001, [3000] * 300)


def test_a_part_whose_size_nobody_names_is_unpacked() -> None:
    packer = zstd.ZstdCompressor()
    assert unpacked("zstd", packer.compress(b"page" * 999) + packer.flush(), [3]) == b"page" * 999


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "br, gzip"])
@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE html><title>Swing bridge</title>" * 40,
        '\ufeff\n{"br\u00fccke": 1931}'.encode(),
        b"%PDF-1.4\n%\xe2\xe3\xcf\xd3 and so on",
        b"ok",
    ],
)
def test_a_body_that_somebody_has_already_decoded_is_the_body(coding: str, body: bytes) -> None:
    assert unpacked(coding, body, [3, 20]) == body
    assert unpacked(coding, body, []) == body


def test_a_body_packed_once_though_two_codings_are_named_is_unpacked_once() -> None:
    page = b"<!DOCTYPE html><title>Swing bridge</title>" * 40
    assert unpacked("gzip, gzip", gzip.compress(page), []) == page


def test_bytes_that_are_neither_packed_nor_a_text_are_a_failure_that_may_heal() -> None:
    for coding in ("gzip", "zstd", "br"):
        with pytest.raises(FetchFailed, match="cannot be unpacked") as failed:
            unpacked(coding, b"\x1f\x8b\x99\x00" + bytes(range(200)), [])
        assert failed.value.retryable


def test_a_body_packed_over_and_over_is_unpacked_twice() -> None:
    once = gzip.compress(b"page")
    assert unpacked("gzip, " * 999, gzip.compress(gzip.compress(once)), []) == once


def test_an_empty_body_needs_no_packing() -> None:
    for coding in ("gzip", "br", "zstd", "gzip, br"):
        assert unpacked(coding, b"", []) == b""
