"""What stops a sandbox; the messages are for people."""

from tasks.errors import ExpectedError


class SandboxError(ExpectedError):
    """The pages cannot be read, indexed or served; says why, and what to do."""
