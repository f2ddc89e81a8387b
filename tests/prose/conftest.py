"""The sample edition of the quick tests, and a Prefect server for what pages run."""

from tests.flows.conftest import sample
from tests.processes.conftest import local_api

__all__ = ["local_api", "sample"]
