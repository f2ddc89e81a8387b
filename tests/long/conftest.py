"""What the tests with real processes have; a Prefect server only for those of flows."""

from tests.lakes import postgres
from tests.processes.conftest import agent_configs, evergreen, local_api, outside, sample, small
from tests.tasks.wikipedia.conftest import mediawiki

__all__ = ["agent_configs", "evergreen", "local_api", "mediawiki", "outside", "postgres",
           "sample", "small"]  # fmt: skip
