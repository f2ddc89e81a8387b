"""Which rubrics of an edition a model has drafted and nobody has reviewed."""

from tasks.benchmarks.rigorous import PROTOCOL
from tasks.warehouse.rubrics import BundleSettings
from tasks.warehouse.store import Readable

DRAFTS = """
SELECT settings FROM rubric_bundles WHERE edition = $1 AND protocol = $2 AND source = 'drafted'
"""


def drafts_of(source: Readable, edition: str) -> int:
    """How many of an edition's bundles under Rigorous Bench nobody has reviewed."""
    stored = source.frame(DRAFTS, [edition, PROTOCOL])["settings"]
    return sum(BundleSettings.model_validate_json(settings).draft for settings in stored)
