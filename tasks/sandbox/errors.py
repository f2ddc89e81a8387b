"""The sandbox's error for people."""

from tasks.errors import ExpectedError


class SandboxError(ExpectedError):
    """The pages cannot be read, indexed or served; the message says why, and what to do."""
