"""What can be wrong with a sheet, or with what came back."""


class AnnotationError(Exception):
    """Names the file, its rows and columns, what was expected, and what to do."""
