"""The tokens that a call wrote to its provider's prompt cache, from the usage of any API."""

import re
from typing import Any

WRITTEN = re.compile(r"cached?_?(creation|write).*tokens?(_?count)?$", re.I)
"""The path of a count. Makers and gateways call it `cache_creation_input_tokens`,
`cache_write_tokens` and more, at the top or in details, also once for each lifetime."""
MAX_COUNT = 2**63 - 1


def count_cache_writes(usage: Any) -> dict[str, int]:
    """Return the fields of a usage for tokens written to a cache, as far as they are reported."""
    found: dict[str, int] = {}
    nested = [("", usage)]
    while nested:
        path, value = nested.pop()
        if isinstance(value, dict):
            nested += [(f"{path}.{name}", inner) for name, inner in value.items()]
        elif type(value) is int and 0 <= value <= MAX_COUNT and WRITTEN.search(path):
            name = path.rpartition(".")[2]
            found[name] = max(value, found.get(name, 0))  # said twice, it is still one count
    if not found:
        return {}
    by_lifetime = sum(n for name, n in found.items() if name.startswith("ephemeral"))
    counts = {"cache_write_tokens": min(max(by_lifetime, *found.values()), MAX_COUNT)}
    for_hour = [n for name, n in found.items() if "1h" in name]
    return counts | ({"cache_write_hour_tokens": max(for_hour)} if for_hour else {})
