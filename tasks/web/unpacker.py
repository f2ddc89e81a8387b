"""Decode the content codings of a body, piece by piece, within bounds.

Servers often name a coding that the body is not in: a charset, a media type, or the coding that a
proxy or an archive has already removed. Such bytes are the body.
"""

import sys
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import Any

import brotli

from tasks.web.errors import BodyTooLarge, FetchFailed
from tasks.web.kinds import detect_kind

if sys.version_info >= (3, 14):
    from compression.zstd import DecompressionParameter, ZstdDecompressor, ZstdError
else:
    from backports.zstd import DecompressionParameter, ZstdDecompressor, ZstdError

PIECE_BYTES = 65_536
"""Most bytes decoded at once; brotli gives up to half as many again."""
MAX_CODINGS = 2
"""Codings of one body, one within the other; those further in are left as they are."""
MAX_PARTS = 10_000
"""Parts of one body, packed one after the other."""
_NEXT_PART = (b"\x1f\x8b\x08", b"(\xb5/\xfd", *(bytes([n]) + b"*M\x18" for n in range(0x50, 0x60)))
"""How a part begins: in gzip and in zstd, where some hold no text."""
_ZSTD_BOUNDS: Mapping[int, int] = {DecompressionParameter.window_log_max: 23}
"""8 MB of memory, the most that RFC 9659 allows."""


class _Brotli:
    eof = False

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def decompress(self, data: bytes, /, max_length: int) -> bytes:
        piece = bytes(self._stream.process(data, output_buffer_limit=max_length))
        self.eof = self._stream.is_finished()
        return piece


def _inflate(first: bytes) -> Any:
    # Servers send both as `deflate`: with a head of zlib, and without.
    return zlib.decompressobj(zlib.MAX_WBITS * (1 if first[0] & 0x0F == zlib.DEFLATED else -1))


_OPEN: dict[str, Callable[[bytes], Any]] = {
    "gzip": lambda first: zlib.decompressobj(zlib.MAX_WBITS | 16),
    "deflate": _inflate,
    "br": lambda first: _Brotli(),
    "zstd": lambda first: ZstdDecompressor(options=_ZSTD_BOUNDS),
}
"""What decodes each coding, given the body's first bytes."""
ACCEPTED = ", ".join(_OPEN)
"""The `Accept-Encoding` header."""


def unpack(raw: AsyncIterator[bytes], coding: str, most_bytes: int) -> AsyncGenerator[bytes]:
    """Decode a body.

    coding: the `Content-Encoding` header as it came; unknown names in it are ignored. most_bytes:
    of the largest body allowed, both encoded and decoded.

    Raises:
        BodyTooLarge: more bytes than allowed.
        FetchFailed: the end is missing, or the bytes are not in that coding.
    """
    names = [part.strip().lower().removeprefix("x-") for part in coding.split(",")]
    body = _check_size(raw, most_bytes)
    for name in [name for name in reversed(names) if name in _OPEN][:MAX_CODINGS]:
        body = _check_size(_decode(body, _OPEN[name]), most_bytes)
    return body


async def _decode(
    raw: AsyncIterator[bytes], open_stream: Callable[[bytes], Any]
) -> AsyncGenerator[bytes]:
    """Decode one coding, of one part or of several that follow each other. What follows their end
    is ignored, as browsers do."""
    stream = None
    rest = b""
    first: bytearray | None = bytearray()  # what came before anything was decoded
    n_parts = 0
    reason = "the packed body broke off"
    async for data in raw:
        rest += data
        if first is not None:
            first += data
        try:
            while stream is None or not stream.eof or rest.startswith(_NEXT_PART):
                if stream is None or stream.eof:
                    stream, n_parts = open_stream(rest), n_parts + 1
                piece = stream.decompress(rest, max_length=PIECE_BYTES)
                # zlib returns what it has not looked at; the others keep it themselves.
                rest = getattr(stream, "unused_data" if stream.eof else "unconsumed_tail", b"")
                if piece:
                    first = None
                    yield piece
                elif not stream.eof:
                    break
                if n_parts > MAX_PARTS:
                    raise FetchFailed(f"the body has more than {MAX_PARTS:,} packed parts")
        except (zlib.error, brotli.error, ZstdError) as error:
            reason = f"the body cannot be unpacked ({error})"
            break
        if stream.eof and len(rest) >= len(_NEXT_PART[-1]):
            return
    if stream is None or stream.eof:
        return
    if first is None or detect_kind(bytes(first), None)[0] == "other":
        raise FetchFailed(reason, retryable=True)
    yield bytes(first)  # a text or a PDF: somebody has already decoded it
    async for data in raw:
        yield data


async def _check_size(pieces: AsyncIterator[bytes], most: int) -> AsyncGenerator[bytes]:
    n_bytes = 0
    async for piece in pieces:
        n_bytes += len(piece)
        if n_bytes > most:
            raise BodyTooLarge(f"the body has more than {most:,} bytes; it was left")
        yield piece
