"""Drafted rubrics that nobody has reviewed."""

from tasks.benchmarks.rigorous import PROTOCOL
from tasks.warehouse.rubrics import BundleSettings
from tasks.warehouse.store import Readable

DRAFTS = """
SELECT settings FROM rubric_bundles WHERE edition = $1 AND protocol = $2 AND source = 'drafted'
"""


def count_unreviewed(source: Readable, edition: str) -> int:
    """Count an edition's Rigorous Bench bundles that nobody has reviewed."""
    stored = source.frame(DRAFTS, [edition, PROTOCOL])["settings"]
    return sum(BundleSettings.model_validate_json(settings).draft for settings in stored)
