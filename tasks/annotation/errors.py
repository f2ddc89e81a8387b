"""What can be wrong with a sheet, or with what came back."""

from tasks.errors import ExpectedError


class AnnotationError(ExpectedError):
    """Names the file, its rows and columns, what was expected, and what to do."""
