"""Keys: from the environment or a Prefect Secret block, never from a file."""

import os
from typing import Any


async def load_secret(variable: str | None, block: str | None) -> str | None:
    """Return the key from the environment variable, else from the block, else None."""
    if variable and (key := os.environ.get(variable, "").strip()):
        return key
    if block and os.environ.get("PREFECT_API_URL"):
        from prefect.blocks.system import Secret  # takes seconds to load

        try:
            found: Any = await Secret.aload(block)
        except ValueError:  # no such block
            return None
        return str(found.get()).strip() or None
    return None


def describe_key_state(variable: str | None, *, required: bool = True) -> str | None:
    """Say whether a key's variable is set, never its value; None if there is no such variable."""
    if variable is None:
        return None
    if os.environ.get(variable, "").strip():
        return f"{variable} set"
    return f"{variable} not set" if required else f"{variable} not set (optional)"


def describe_key_setup(variable: str | None, block: str | None) -> str:
    """Describe how to provide a missing key."""
    ways = [f"set the variable {variable}"] if variable else []
    ways += [f"create a Prefect Secret block {block!r}"] if block else []
    return " or ".join(ways)
