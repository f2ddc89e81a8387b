"""Errors of keys in the wrong place."""

from tasks.errors import ExpectedError


class LeakedKey(ExpectedError):
    """What is to be published, exported or backed up holds a key; the message never shows it."""
