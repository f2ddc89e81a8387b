"""Decode the content codings of a body, piece by piece, within bounds.

Servers often name a coding that the body is not in: a charset, a media type, or the coding that a
proxy or an archive has already removed. Such bytes are the body.
"""

import codecs
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

import brotli

from tasks.web.errors import BodyTooLarge, FetchFailed, printable

if sys.version_info >= (3, 14):
    from compression.zstd import DecompressionParameter, ZstdDecompressor, ZstdError
else:
    from backports.zstd import DecompressionParameter, ZstdDecompressor, ZstdError

PIECE_BYTES = 65_536
"""Most bytes decoded at once; brotli gives up to half as many again."""
MAX_CODINGS = 4
"""Codings of one body, one within the other."""
ZSTD_FRAME = b"\x28\xb5\x2f\xfd"
MAX_FRAMES = 1_000
"""Frames of one zstd body: each copies the bytes that follow it."""
_ZSTD_BOUNDS: Mapping[int, int] = {DecompressionParameter.window_log_max: 23}
"""8 MB of memory, the most that RFC 9659 allows."""
_SAMPLE = 64


class _Coding(ABC):
    """One coding of a body."""

    is_done = False
    """Whether the end has come. What follows it is ignored, as browsers do."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._first = bytearray()
        """What came before anything could be decoded."""
        self._decoded = 0
        self._is_plain = False

    @abstractmethod
    def decode(self, raw: bytes) -> bytes:
        """Decode some bytes, then none until nothing comes."""

    def feed(self, raw: bytes) -> Iterator[bytes]:
        """Decode some bytes, in pieces."""
        if self._is_plain:
            yield raw
            return
        if not self._decoded:
            self._first += raw
        try:
            while piece := self.decode(raw):
                self._decoded += len(piece)
                _check_size(self._decoded, self._most)
                yield piece
                raw = b""
        except (zlib.error, brotli.error, ZstdError) as error:
            if self._decoded or not _reads_as_plain(self._first):
                raise FetchFailed(
                    f"the body cannot be unpacked ({error})", retryable=True
                ) from None
            self._is_plain = True
            yield bytes(self._first)

    def finish(self) -> bytes:
        """Return what is left: a body too short to tell that it is not in this coding."""
        if self.is_done or self._is_plain or not self._first:
            return b""
        if self._decoded or not _reads_as_plain(self._first):
            raise FetchFailed("the packed body broke off", retryable=True)
        return bytes(self._first)


class _Gzip(_Coding):
    _window = zlib.MAX_WBITS | 16
    _stream: "zlib._Decompress | None" = None

    def decode(self, raw: bytes) -> bytes:
        if self.is_done or not (raw or self._stream):
            return b""
        stream = self._stream = self._stream or zlib.decompressobj(self._find_window(raw))
        piece = stream.decompress(stream.unconsumed_tail + raw, PIECE_BYTES)
        self.is_done = stream.eof
        return piece

    def _find_window(self, raw: bytes) -> int:
        return self._window


class _Deflate(_Gzip):
    def _find_window(self, raw: bytes) -> int:
        # Servers send both as `deflate`: with a head of zlib, and without.
        return zlib.MAX_WBITS if raw[0] & 0x0F == zlib.DEFLATED else -zlib.MAX_WBITS


class _Brotli(_Coding):
    def __init__(self, most_bytes: int) -> None:
        super().__init__(most_bytes)
        self._stream = brotli.Decompressor()

    def decode(self, raw: bytes) -> bytes:
        if self.is_done:
            return b""
        piece = bytes(self._stream.process(raw, output_buffer_limit=PIECE_BYTES))
        self.is_done = self._stream.is_finished()
        return piece


class _Zstd(_Coding):
    """A body may consist of several frames (RFC 8878)."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(most_bytes)
        self._stream = ZstdDecompressor(options=_ZSTD_BOUNDS)
        self._n_frames = 1
        self._rest = b""

    def decode(self, raw: bytes) -> bytes:
        if self.is_done:
            raw = self._rest + raw
            if not raw.startswith(ZSTD_FRAME):
                self._rest = raw[: len(ZSTD_FRAME)]
                return b""
            self._n_frames += 1
            if self._n_frames > MAX_FRAMES:
                raise ZstdError(f"more than {MAX_FRAMES:,} frames")
            self._stream = ZstdDecompressor(options=_ZSTD_BOUNDS)
        piece = self._stream.decompress(raw, PIECE_BYTES)
        self.is_done, self._rest = self._stream.eof, self._stream.unused_data
        return piece


_CODINGS: dict[str, type[_Coding]] = {
    "gzip": _Gzip, "deflate": _Deflate, "br": _Brotli, "zstd": _Zstd,
}  # fmt: skip
ACCEPTED = ", ".join(_CODINGS)
"""The `Accept-Encoding` header."""


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
        self._codings = [_CODINGS[name](most_bytes) for name in names[::-1] if name in _CODINGS]
        if len(self._codings) > MAX_CODINGS:
            raise FetchFailed(
                f"the body is packed as {printable(coding, 60)!r}: more than {MAX_CODINGS} times"
            )
        self._most = most_bytes
        self._received = 0

    def feed(self, raw: bytes, number: int = 0) -> Iterator[bytes]:
        """Decode some bytes, in pieces.

        number: how many codings these bytes have passed.

        Raises:
            BodyTooLarge: more bytes than allowed.
            FetchFailed: the bytes are not in the coding of the header.
        """
        if number == 0:
            self._received += len(raw)
            _check_size(self._received, self._most)
        if number == len(self._codings):
            yield raw
        elif raw:
            for piece in self._codings[number].feed(raw):
                yield from self.feed(piece, number + 1)

    def finish(self) -> bytes:
        """Return the last decoded bytes.

        Raises:
            FetchFailed: the end is missing.
        """
        last = bytearray()
        for number, coding in enumerate(self._codings, 1):
            for piece in self.feed(coding.finish(), number):
                last += piece
        return bytes(last)


def _reads_as_plain(first: bytearray) -> bool:
    """Return whether these bytes are a text or a PDF: then somebody has already decoded them."""
    sample = bytes(first[:_SAMPLE])
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return sample.startswith(b"%PDF-")
    return not any(byte < 9 or 13 < byte < 32 for byte in sample)


def _check_size(n_bytes: int, most: int) -> None:
    if n_bytes > most:
        raise BodyTooLarge(f"the body has more than {most:,} bytes; it was left")
