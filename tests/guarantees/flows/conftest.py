"""What only the guarantees of flows have."""

from tests.flows.conftest import judges

__all__ = ["judges"]
