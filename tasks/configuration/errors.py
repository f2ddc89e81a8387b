"""The error of configuration files."""

from tasks.errors import ExpectedError


class ConfigurationError(ExpectedError):
    """A configuration file is wrong. The message names the file, the key, and what to do."""
