"""Errors that a user can set right. Apart from `base`, since no help text may load pydantic."""


class ExpectedError(Exception):
    """Its message is for the user: it names what is wrong, and the way out. `evergreen` shows it
    without a traceback and exits with 1."""
