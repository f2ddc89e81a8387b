"""Every flow by its name, and which of them are served. Nothing here imports a flow at once."""

from typing import Any

NAMES = ("ask", "backfill", "collect", "evaluate", "fetch", "publish", "refresh", "rejudge")
"""Of the flows that are served; each has one deployment, called after the warehouse."""
RESUMES = 5
"""How often one run is begun again: what ends it each time is no accident."""


def flow_named(name: str) -> Any:
    """A flow by its name."""
    # Prefect reads its settings at import: only now, with the server up, may it be imported.
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
