"""What can be wrong with a configuration file."""

from tasks.errors import ExpectedError


class ConfigurationError(ExpectedError):
    """Names the file, the key, what was expected, and what to do."""
