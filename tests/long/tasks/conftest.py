"""New warehouses are copies of one here too."""

from tests.tasks.conftest import template

__all__ = ["template"]
