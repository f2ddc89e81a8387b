"""Errors that a user can fix. Separate from `base`, since `--help` must not load pydantic."""


class ExpectedError(Exception):
    """An error whose message tells the user what is wrong and what to do. `evergreen` prints it
    without a traceback and exits with 1."""
