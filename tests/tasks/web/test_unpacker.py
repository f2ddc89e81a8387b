import gzip
import zlib
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.web.errors import BodyTooLarge, FetchFailed
from tasks.web.redirects import PIECE_BYTES, Unpacker


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress, "x-gzip": gzip.compress, "GZIP , identity": gzip.compress,
    "deflate": zlib.compress, "Deflate": raw_deflate, "": bytes, "identity": bytes, "none": bytes,
}  # fmt: skip


def unpacked(coding: str, raw: bytes, sizes: list[int], most: int = 10_000_000) -> bytes:
    unpacker = Unpacker(coding, most)
    body = b""
    start = 0
    for size in [*sizes, len(raw)]:
        piece = raw[start : start + size]
        start += size
        if piece:
            body += b"".join(unpacker.feed(piece))
    return body + unpacker.finish()


@pytest.mark.parametrize("coding", PACKED)
@given(body=st.binary(max_size=3000), sizes=st.lists(st.integers(1, 50), max_size=20))
def test_a_body_comes_out_as_it_went_in_however_it_was_cut(
    coding: str, body: bytes, sizes: list[int]
) -> None:
    assert unpacked(coding, PACKED[coding](body), sizes) == body


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
@given(raw=st.binary(max_size=300), sizes=st.lists(st.integers(1, 50), max_size=5))
def test_any_bytes_are_unpacked_or_said_to_be_no_such_thing(
    coding: str, raw: bytes, sizes: list[int]
) -> None:
    with suppress(FetchFailed):
        unpacked(coding, raw, sizes)


def test_a_bomb_goes_off_piece_by_piece_and_is_left() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    unpacker = Unpacker("gzip", 1_000_000)
    came = 0
    pieces = unpacker.feed(bomb)
    while came <= 1_000_000 - PIECE_BYTES:
        piece = next(pieces)
        assert 0 < len(piece) <= PIECE_BYTES
        came += len(piece)
    with pytest.raises(BodyTooLarge, match="more than 1,000,000 bytes"):
        next(pieces)


def test_more_bytes_than_may_come_are_left_unread() -> None:
    unpacker = Unpacker("", 10)
    assert list(unpacker.feed(b"123456789")) == [b"123456789"]
    with pytest.raises(BodyTooLarge):
        list(unpacker.feed(b"01"))


@pytest.mark.parametrize("cut", [1, 5, 9, 50])
def test_a_packed_body_that_breaks_off_is_a_failure_that_may_heal(cut: int) -> None:
    raw = gzip.compress(bytes(range(256)) * 20)
    with pytest.raises(FetchFailed, match="broke off") as failed:
        unpacked("gzip", raw[:-cut], [])
    assert failed.value.retryable


def test_what_follows_the_end_is_left_out() -> None:
    assert unpacked("gzip", gzip.compress(b"page") + b"rubbish" * 100, [7]) == b"page"


def test_a_body_packed_twice_or_in_another_way_is_named() -> None:
    for coding in ("br", "zstd", "gzip, gzip", "gzip, br", "ä\x00"):
        with pytest.raises(FetchFailed, match="not as gzip or deflate") as failed:
            Unpacker(coding, 10)
        assert not failed.value.retryable


def test_an_empty_body_needs_no_packing() -> None:
    assert unpacked("gzip", b"", []) == b""
