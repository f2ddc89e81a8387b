"""All flows by name, and which of them are served. Importing this module imports no flow."""

from typing import Any

SERVED_FLOWS = ("ask", "backfill", "collect", "evaluate", "fetch", "publish", "refresh", "rejudge")
"""The served flows; each has one deployment, named after the warehouse."""
MAX_RESUMES = 5
"""How often one run is restarted; a run that crashes more often has a permanent problem."""


def load_flow(name: str) -> Any:
    """Import and return a flow by its name."""
    # Prefect reads its settings at import, so import it only now that the server is up.
    from flows.ask import ask
    from flows.assign import assign
    from flows.backfill import backfill
    from flows.collect import collect
    from flows.draft import draft
    from flows.evaluate import evaluate
    from flows.fetch import fetch, read
    from flows.import_edition import bring_in
    from flows.publish import publish
    from flows.refresh import refresh
    from flows.rejudge import rejudge

    flows = {
        "ask": ask, "assign": assign, "backfill": backfill, "bring_in": bring_in,
        "collect": collect, "draft": draft, "evaluate": evaluate, "fetch": fetch,
        "publish": publish, "read": read, "refresh": refresh, "rejudge": rejudge,
    }  # fmt: skip
    return flows[name]
