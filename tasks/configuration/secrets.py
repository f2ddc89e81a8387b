"""Keys: from the environment or a Prefect Secret block, never from a file."""

import os
from typing import Any


async def secret(variable: str | None, block: str | None) -> str | None:
    """The key that the variable holds, else the block; None where neither does."""
    if variable and (key := os.environ.get(variable, "").strip()):
        return key
    if block and os.environ.get("PREFECT_API_URL"):
        from prefect.blocks.system import Secret  # takes seconds to load

        try:
            found: Any = await Secret.aload(block)
        except ValueError:  # there is no such block
            return None
        return str(found.get()).strip() or None
    return None


def how_to_give(variable: str | None, block: str | None) -> str:
    """What to do where there is no key."""
    ways = [f"set the variable {variable}"] if variable else []
    ways += [f"make a Prefect Secret block {block!r}"] if block else []
    return " or ".join(ways)
