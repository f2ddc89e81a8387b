"""What the tests with real processes have; a Prefect server only for those of flows."""

from tests.processes.conftest import agent_configs, evergreen, local_api, outside, sample, small
from tests.tasks.wikipedia.conftest import mediawiki

__all__ = ["agent_configs", "evergreen", "local_api", "mediawiki", "outside", "sample",
           "small"]  # fmt: skip
