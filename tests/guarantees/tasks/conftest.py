"""A new warehouse, as the quick tests have it."""

from tests.tasks.conftest import warehouse

__all__ = ["warehouse"]
