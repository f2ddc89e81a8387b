"""What the long tests of flows have."""

from tests.long.flows.conftest import api, evergreen, sample

__all__ = ["api", "evergreen", "sample"]
