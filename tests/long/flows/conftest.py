"""The server, the sample and the command that the quick tests of flows have."""

from tests.flows.conftest import agent_configs, api, evergreen, outside, sample

__all__ = ["agent_configs", "api", "evergreen", "outside", "sample"]
