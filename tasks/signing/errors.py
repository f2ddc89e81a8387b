"""Errors of keys and signatures."""

from tasks.errors import ExpectedError


class UnusableKey(ExpectedError):
    """A key is missing, unsafe or not of minisign's format; the message never shows it."""


class BadSignature(ExpectedError):
    """Something is unsigned, signed by another key, or was changed after it was signed."""
