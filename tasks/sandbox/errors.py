"""What stops a sandbox; the messages are for people."""


class SandboxError(Exception):
    """The pages cannot be read, indexed or served; says why, and what to do."""
