"""Counts of tokens in the usage of any API, under the names that makers and gateways give them."""

import re
from typing import Any

MAX_COUNT = 2**63 - 1
CACHED = re.compile(
    r"(prompt|input|num|total)?cache(d|hit|read)(input|prompt|prompttext|content)?token(s|count)|cachen"
)
"""How makers and gateways call the tokens read from a prompt cache, without case and `_`; the last
is llama.cpp's name, among its `timings`."""
WRITTEN = re.compile(r"cached?_?(creation|write).*tokens?(_?count)?$", re.I)
"""The path of a count. Makers and gateways call it `cache_creation_input_tokens`,
`cache_write_tokens` and more, at the top or in details, also once for each lifetime."""
OTHER_TOKENS = ("completion", "output", "cost")
"""Fields whose counts are not of the prompt begin with these."""


def count_tokens(value: Any) -> int | None:
    """Return a count from 0 to MAX_COUNT: an integer, also as text; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and 0 <= value <= MAX_COUNT else None


def count_cached(usage: Any) -> int | None:
    """Return the tokens read from a prompt cache: what is said more than once, is one count."""
    found: list[int] = []
    nested = [usage]
    while nested:
        value = nested.pop()
        for name, inner in value.items() if isinstance(value, dict) else ():
            number = count_tokens(inner)
            if number is not None and CACHED.fullmatch(str(name).lower().replace("_", "")):
                found.append(number)
            elif not str(name).startswith(OTHER_TOKENS):
                nested.append(inner)
    return max(found, default=None)


def count_cache_writes(usage: Any) -> dict[str, int]:
    """Return the fields of a usage for tokens written to a cache, as far as they are reported."""
    found: dict[str, int] = {}
    nested = [("", usage)]
    while nested:
        path, value = nested.pop()
        if isinstance(value, dict):
            nested += [(f"{path}.{name}", inner) for name, inner in value.items()]
        elif WRITTEN.search(path) and (number := count_tokens(value)) is not None:
            name = path.rpartition(".")[2]
            found[name] = max(number, found.get(name, 0))  # said twice, it is still one count
    if not found:
        return {}
    by_lifetime = sum(n for name, n in found.items() if name.startswith("ephemeral"))
    counts = {"cache_write_tokens": min(max(by_lifetime, *found.values()), MAX_COUNT)}
    for_hour = [n for name, n in found.items() if "1h" in name]
    return counts | ({"cache_write_hour_tokens": max(for_hour)} if for_hour else {})
