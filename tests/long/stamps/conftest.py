"""The small project that the quick tests of stamps have."""

from tests.stamps.conftest import project, template

__all__ = ["project", "template"]
