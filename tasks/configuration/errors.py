"""What can be wrong with a configuration file."""


class ConfigurationError(Exception):
    """Names the file, the key, what was expected, and what to do."""
