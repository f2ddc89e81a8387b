"""The page texts that a published edition archives, read in place."""

import json
from pathlib import Path

from tasks.benchmarks.document import parse_document, parse_pages
from tasks.warehouse.pages import Page

EDITION = Path(__file__).resolve().parents[3] / "shared" / "data" / "wlc" / "2025_Mar_Nov"


def published_texts(edition: Path = EDITION) -> list[Page]:
    """Every good copy, in order of agents and reports; none where the edition is not here."""
    pages: list[Page] = []
    for path in sorted(edition.glob("test_data/*/json_data/*.json")):
        report = parse_document(json.loads(path.read_text("utf-8")))
        if report is not None:
            pages += [page for page in parse_pages("published", report)[0] if page.status == "ok"]
    return pages
