"""All flows by name, and which of them are served. Importing this module imports no flow."""

from importlib import import_module
from typing import Any

SERVED_FLOWS = {
    "ask": "get-reports",
    "backfill": "add-agents",
    "collect": "choose-articles",
    "evaluate": "judge-reports",
    "fetch": "fetch-pages",
    "publish": "write-site",
    "refresh": "make-month",
    "rejudge": "judge-again",
}
"""The served flows, with the names of their deployments: what these do."""
MAX_RESUMES = 5
"""How often one run is restarted; a run that crashes more often has a permanent problem."""


MODULES = {"bring_in": "import_edition", "read": "fetch"}
"""The modules of flows whose names differ from theirs."""


def load_flow(name: str) -> Any:
    """Import and return a flow by its name."""
    # Prefect reads its settings at import, so import it only now that the server is up.
    return getattr(import_module(f"flows.{MODULES.get(name, name)}"), name)
