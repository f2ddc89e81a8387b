"""Prefect reads its settings when it is imported: they are set before any test module is."""

import os
import tempfile
from pathlib import Path

from flows.server import prefect_environment

PREFECT_HOME = Path(tempfile.mkdtemp(prefix="evergreen-prefect-"))
os.environ.pop("PREFECT_API_URL", None)
os.environ.update(prefect_environment(PREFECT_HOME))
