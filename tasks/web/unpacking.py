"""Undoing a body's content coding piece by piece, so that a bomb goes off a little at a time."""

import zlib
from collections.abc import Iterator

from tasks.web.errors import Failed, TooLarge, shown

PIECE_BYTES = 65_536
"""At most so much comes out at once, whatever was packed into it."""
GZIP, ZLIB, RAW_DEFLATE = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS
NAMES = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}


class Unpacker:
    """One body in one of the codings that we ask for, or in none.

    Args:
        coding: The header `Content-Encoding`, as it came.
        most_bytes: Of the body, as it comes and unpacked.

    Raises:
        Failed: it is another coding.
    """

    def __init__(self, coding: str, most_bytes: int) -> None:
        names = [name for name in (part.strip().lower() for part in coding.split(","))
                 if name not in ("", "identity", "none")]  # fmt: skip
        if len(names) > 1 or not set(names) <= set(NAMES):
            raise Failed(f"the body is packed as {shown(coding, 60)!r}, not as gzip or deflate")
        self._coding = NAMES[names[0]] if names else None
        self._most = most_bytes
        self._came = self._unpacked = 0
        self._stream: zlib._Decompress | None = None

    def feed(self, raw: bytes) -> Iterator[bytes]:
        """What these bytes hold, in pieces.

        Raises:
            TooLarge: more than may come.
            Failed: they are not what the header says.
        """
        self._came += len(raw)
        self._bound(self._came)
        if self._coding is None:
            yield raw
            return
        stream = self._stream = self._stream or zlib.decompressobj(self._window(raw))
        while raw and not stream.eof:  # what follows the end is left out, as browsers do
            try:
                piece = stream.decompress(raw, PIECE_BYTES)
            except zlib.error as error:
                raise Failed(f"the body cannot be unpacked ({error})", heals=True) from None
            self._unpacked += len(piece)
            self._bound(self._unpacked)
            yield piece
            raw = stream.unconsumed_tail

    def finish(self) -> bytes:
        """The last bytes.

        Raises:
            Failed: the end is missing.
        """
        if self._stream is None:
            return b""
        last = self._stream.flush()
        self._bound(self._unpacked + len(last))
        if not self._stream.eof:
            raise Failed("the packed body broke off", heals=True)
        return last

    def _window(self, raw: bytes) -> int:
        if self._coding == "gzip":
            return GZIP
        return ZLIB if raw[0] & 0x0F == zlib.DEFLATED else RAW_DEFLATE  # both are sent

    def _bound(self, n_bytes: int) -> None:
        if n_bytes > self._most:
            raise TooLarge(f"the body has more than {self._most:,} bytes; it was left")
