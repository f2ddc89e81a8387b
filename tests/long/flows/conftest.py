"""A Prefect server for all tests of this folder."""

from tests.processes.conftest import api

__all__ = ["api"]
