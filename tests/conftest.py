"""Prefect reads its settings when it is imported: they are set before any test module is."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from flows.server import prefect_environment

# The workers of one run share a server: each of its own would take its time to be set up.
RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
PREFECT_HOME = Path(tempfile.gettempdir()) / f"evergreen-prefect-{RUN}"
PREFECT_HOME.mkdir(exist_ok=True)
os.environ.pop("PREFECT_API_URL", None)
os.environ.update(prefect_environment(PREFECT_HOME))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Tidy up behind a run; what a failed one left may tell why."""
    of_a_worker = hasattr(session.config, "workerinput")
    if not of_a_worker and exitstatus == pytest.ExitCode.OK:
        shutil.rmtree(PREFECT_HOME, ignore_errors=True)
