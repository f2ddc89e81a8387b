"""Decode a body's content coding in bounded pieces, so that decompression bombs are caught."""

import zlib
from collections.abc import Iterator

from tasks.web.errors import BodyTooLarge, FetchFailed, printable

PIECE_BYTES = 65_536
"""Most bytes decoded at once."""
GZIP, ZLIB, RAW_DEFLATE = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS
NAMES = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}


class Unpacker:
    """Decodes one body in gzip, deflate or no content coding.

    Args:
        coding: The `Content-Encoding` header as it came.
        most_bytes: Largest body allowed, both encoded and decoded.

    Raises:
        FetchFailed: another coding.
    """

    def __init__(self, coding: str, most_bytes: int) -> None:
        names = [
            name
            for name in (part.strip().lower() for part in coding.split(","))
            if name not in ("", "identity", "none")
        ]
        if len(names) > 1 or not set(names) <= set(NAMES):
            raise FetchFailed(
                f"the body is packed as {printable(coding, 60)!r}, not as gzip or deflate"
            )
        self._coding = NAMES[names[0]] if names else None
        self._most = most_bytes
        self._received = self._unpacked = 0
        self._stream: zlib._Decompress | None = None

    def feed(self, raw: bytes) -> Iterator[bytes]:
        """Decode some bytes, in pieces.

        Raises:
            BodyTooLarge: more bytes than allowed.
            FetchFailed: the bytes are not in the coding of the header.
        """
        self._received += len(raw)
        self._check_size(self._received)
        if self._coding is None:
            yield raw
            return
        stream = self._stream = self._stream or zlib.decompressobj(self._window(raw))
        while raw and not stream.eof:  # ignore what follows the end, as browsers do
            try:
                piece = stream.decompress(raw, PIECE_BYTES)
            except zlib.error as error:
                raise FetchFailed(
                    f"the body cannot be unpacked ({error})", retryable=True
                ) from None
            self._unpacked += len(piece)
            self._check_size(self._unpacked)
            yield piece
            raw = stream.unconsumed_tail

    def finish(self) -> bytes:
        """Return the last decoded bytes.

        Raises:
            FetchFailed: the end is missing.
        """
        if self._stream is None:
            return b""
        last = self._stream.flush()
        self._check_size(self._unpacked + len(last))
        if not self._stream.eof:
            raise FetchFailed("the packed body broke off", retryable=True)
        return last

    def _window(self, raw: bytes) -> int:
        if self._coding == "gzip":
            return GZIP
        # Servers send both as `deflate`.
        return ZLIB if raw[0] & 0x0F == zlib.DEFLATED else RAW_DEFLATE

    def _check_size(self, n_bytes: int) -> None:
        if n_bytes > self._most:
            raise BodyTooLarge(f"the body has more than {self._most:,} bytes; it was left")
