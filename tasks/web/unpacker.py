"""Decode the content codings of a body, piece by piece, within bounds.

Servers often name a coding that the body is not in: a charset, a media type, or the coding that a
proxy or an archive has already removed. Such bytes are the body.
"""

import codecs
import sys
import zlib
from collections.abc import Iterator, Mapping
from typing import Protocol

import brotli

from tasks.web.errors import BodyTooLarge, FetchFailed, printable

if sys.version_info >= (3, 14):
    from compression.zstd import DecompressionParameter, ZstdDecompressor, ZstdError
else:
    from backports.zstd import DecompressionParameter, ZstdDecompressor, ZstdError

PIECE_BYTES = 65_536
"""Most bytes decoded at once; brotli gives up to half as many again."""
ACCEPTED = "gzip, deflate, br, zstd"
"""The `Accept-Encoding` header."""
MAX_CODINGS = 4
"""Codings of one body, one within the other."""
GZIP, ZLIB, RAW_DEFLATE = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS
ZSTD_FRAME = b"\x28\xb5\x2f\xfd"
MAX_FRAMES = 1_000
"""Frames of one zstd body: each copies the bytes that follow it."""
_ZSTD_BOUNDS: Mapping[int, int] = {DecompressionParameter.window_log_max: 23}
"""8 MB of memory, the most that RFC 9659 allows."""
_ERRORS = (zlib.error, brotli.error, ZstdError)
_SAMPLE = 64


class _Stream(Protocol):
    """A decoder of one coding."""

    @property
    def is_done(self) -> bool: ...

    def decode(self, raw: bytes) -> bytes:
        """Decode some bytes, then none until nothing comes. What follows the end is ignored, as
        browsers do."""


class _Zlib:
    def __init__(self, window: int) -> None:
        self._stream = zlib.decompressobj(window)

    @property
    def is_done(self) -> bool:
        return self._stream.eof

    def decode(self, raw: bytes) -> bytes:
        if self._stream.eof:
            return b""
        return self._stream.decompress(self._stream.unconsumed_tail + raw, PIECE_BYTES)


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    @property
    def is_done(self) -> bool:
        return bool(self._stream.is_finished())

    def decode(self, raw: bytes) -> bytes:
        if self._stream.is_finished():
            return b""
        return bytes(self._stream.process(raw, output_buffer_limit=PIECE_BYTES))


class _Zstd:
    """A body may consist of several frames (RFC 8878)."""

    def __init__(self) -> None:
        self._stream = ZstdDecompressor(options=_ZSTD_BOUNDS)
        self._rest = b""
        """What followed the last frame."""
        self._n_frames = 1

    @property
    def is_done(self) -> bool:
        return self._stream.eof

    def decode(self, raw: bytes) -> bytes:
        if self._stream.eof:
            raw = self._rest + raw
            if not raw.startswith(ZSTD_FRAME):
                self._rest = raw[: len(ZSTD_FRAME)]
                return b""
            self._n_frames += 1
            if self._n_frames > MAX_FRAMES:
                raise ZstdError(f"more than {MAX_FRAMES:,} frames")
            self._stream = ZstdDecompressor(options=_ZSTD_BOUNDS)
        piece = self._stream.decompress(raw, PIECE_BYTES)
        self._rest = self._stream.unused_data
        return piece


def _open_stream(coding: str, raw: bytes) -> _Stream:
    """Return the decoder for a body that begins with `raw`."""
    if coding == "br":
        return _Brotli()
    if coding == "zstd":
        return _Zstd()
    if coding == "deflate":  # servers send both as that
        return _Zlib(ZLIB if raw[0] & 0x0F == zlib.DEFLATED else RAW_DEFLATE)
    return _Zlib(GZIP)


class Unpacker:
    """Decodes one body.

    Args:
        coding: The `Content-Encoding` header as it came; unknown names in it are ignored.
        most_bytes: Largest body allowed, both encoded and decoded.

    Raises:
        FetchFailed: too many codings.
    """

    def __init__(self, coding: str, most_bytes: int) -> None:
        names = [part.strip().lower().removeprefix("x-") for part in coding.split(",")]
        known = [name for name in names if name in ("gzip", "deflate", "br", "zstd")]
        if len(known) > MAX_CODINGS:
            raise FetchFailed(
                f"the body is packed as {printable(coding, 60)!r}: more than {MAX_CODINGS} times"
            )
        self._layers = [_Layer(name, most_bytes) for name in reversed(known)]
        self._most = most_bytes
        self._received = 0

    def feed(self, raw: bytes) -> Iterator[bytes]:
        """Decode some bytes, in pieces.

        Raises:
            BodyTooLarge: more bytes than allowed.
            FetchFailed: the bytes are not in the coding of the header.
        """
        self._received += len(raw)
        _check_size(self._received, self._most)
        yield from self._pass(raw, 0)

    def finish(self) -> bytes:
        """Return the last decoded bytes.

        Raises:
            FetchFailed: the end is missing.
        """
        last = bytearray()
        for number, layer in enumerate(self._layers, 1):
            for piece in self._pass(layer.finish(), number):
                last += piece
        return bytes(last)

    def _pass(self, raw: bytes, number: int) -> Iterator[bytes]:
        """Decode what comes out of the layer before."""
        if number == len(self._layers):
            if raw:
                yield raw
            return
        for piece in self._layers[number].feed(raw):
            yield from self._pass(piece, number + 1)


class _Layer:
    """One coding of a body."""

    def __init__(self, coding: str, most_bytes: int) -> None:
        self._coding = coding
        self._most = most_bytes
        self._stream: _Stream | None = None
        self._first = bytearray()
        """What came before anything could be decoded."""
        self._unpacked = 0
        self._is_plain = False

    def feed(self, raw: bytes) -> Iterator[bytes]:
        if self._is_plain:
            yield raw
            return
        if not raw:
            return
        if not self._unpacked:
            self._first += raw
        try:
            stream = self._stream = self._stream or _open_stream(self._coding, raw)
            while piece := stream.decode(raw):
                self._unpacked += len(piece)
                _check_size(self._unpacked, self._most)
                yield piece
                raw = b""
        except _ERRORS as error:
            if self._unpacked or not _reads_as_plain(self._first):
                raise FetchFailed(
                    f"the body cannot be unpacked ({error})", retryable=True
                ) from None
            self._is_plain = True
            yield bytes(self._first)

    def finish(self) -> bytes:
        if self._is_plain or self._stream is None or self._stream.is_done:
            return b""
        if not self._unpacked and _reads_as_plain(self._first):
            return bytes(self._first)
        raise FetchFailed("the packed body broke off", retryable=True)


def _reads_as_plain(first: bytearray) -> bool:
    """Return whether these bytes are a text or a PDF: then somebody has already decoded them."""
    sample = bytes(first[:_SAMPLE])
    if sample.startswith(b"%PDF-"):
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return not any(byte < 9 or 13 < byte < 32 for byte in sample)


def _check_size(n_bytes: int, most: int) -> None:
    if n_bytes > most:
        raise BodyTooLarge(f"the body has more than {most:,} bytes; it was left")
