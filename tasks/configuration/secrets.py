"""Keys: from the environment or a Prefect Secret block, never from a file."""

import os
from typing import Any

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import ConfigModel
from tasks.credentials import refuse_credentials

KEYS_OF_BLOCKS: dict[str, str] = {}
"""Block → its key, of those that this process has loaded: no result may hold them, either."""

SIGNING_VARIABLES = ("EVERGREEN_SIGNING_KEY", "EVERGREEN_SIGNING_PASSWORD")
"""What named a key when Evergreen signed sites and backups itself."""


def read_variable(name: str | None) -> str:
    """Return the value of an environment variable; empty if it is unset, or none is named."""
    return os.environ.get(name, "").strip() if name else ""


def read_address(name: str | None) -> str:
    """Do as `read_variable` for a variable with an address; raise CredentialsInAddress if it has
    credentials."""
    return refuse_credentials(read_variable(name), str(name))


def refuse_signing() -> None:
    """Stop what signed once, so that nobody who has set a key gets something unsigned.

    Raises:
        ConfigurationError: the environment names a key to sign with.
    """
    if named := " and ".join(filter(read_variable, SIGNING_VARIABLES)):
        raise ConfigurationError(
            f"Unset {named}: Evergreen no longer signs sites and backups, so nothing was written. "
            "Then run this again, and sign the file SHA256SUMS of the result, for example with "
            "`minisign -Sm SHA256SUMS`."
        )


class KeySettings(ConfigModel):
    """How a service gets its key."""

    key_env: str | None = None
    """The environment variable with the key; null if none is needed."""
    key_block: str | None = None
    """The Prefect Secret block with the key, if the variable is not set."""
    key_required: bool = True
    """False: if there is no key, requests are sent without one."""

    @property
    def unset_variable(self) -> str | None:
        """The variable that must be set before anything starts, and is not."""
        if not self.key_required or self.key_block or read_variable(self.key_env):
            return None
        return self.key_env

    async def load_key(self) -> str | None:
        """Return the key from the environment variable, else from the block, else None."""
        if key := read_variable(self.key_env):
            return key
        if self.key_block and os.environ.get("PREFECT_API_URL"):
            from prefect.blocks.system import Secret  # takes seconds to load

            try:
                found: Any = await Secret.aload(self.key_block)
            except ValueError:  # no such block
                return None
            if key := str(found.get()).strip():
                KEYS_OF_BLOCKS[self.key_block] = key
            return key or None
        return None

    def describe_setup(self) -> str:
        """Say how to provide the key; empty if none is required."""
        if not self.key_required:
            return ""
        ways = [f"set the variable {self.key_env}"] if self.key_env else []
        ways += [f"create a Prefect Secret block {self.key_block!r}"] if self.key_block else []
        return " or ".join(ways)

    def describe_state(self) -> str | None:
        """Say whether the key's variable is set, never its value; None if there is none."""
        if self.key_env is None or read_variable(self.key_env):
            return self.key_env and f"{self.key_env} set"
        return f"{self.key_env} not set{'' if self.key_required else ' (optional)'}"
