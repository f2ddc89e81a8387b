"""Implicit caching as providers count it: a prompt that begins as an earlier one did."""

from hashlib import sha256

_STEP = 1024
"""Bytes; beginnings are remembered in steps of it."""


class PrefixCache:
    """Beginnings of prompts seen so far, for as long as the server lives."""

    def __init__(self, from_tokens: int) -> None:
        """`from_tokens`: shorter common beginnings do not count."""
        self._from_bytes = from_tokens * 4
        self._seen: set[bytes] = set()

    def cached_tokens(self, text: bytes) -> int:
        """Tokens of the longest beginning that an earlier prompt had too; this one is kept."""
        if len(text) < self._from_bytes:
            return 0
        common = 0
        state = sha256()
        for end in range(_STEP, len(text) + 1, _STEP):
            state.update(text[end - _STEP : end])
            if end < self._from_bytes:
                continue
            digest = state.digest()
            if digest in self._seen:
                common = end
            self._seen.add(digest)
        return common // 4
