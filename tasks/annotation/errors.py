"""Errors in sheets and filled-in sheets."""

from tasks.errors import ExpectedError


class AnnotationError(ExpectedError):
    """An invalid sheet; the message names file, row, column, what was expected and what to do."""
