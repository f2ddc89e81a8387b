"""No helper process is started, but by modules that are about them."""

from tests.in_this_process import helpers

__all__ = ["helpers"]
