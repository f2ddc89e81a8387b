"""What the tests of a site ask of its folder."""

from pathlib import Path

import pytest

from tests.rigs.site_browser import available

NEEDS_CHROMIUM = pytest.mark.skipif(not available(), reason="needs chromium: run `make rigs`")
KINDS = ("index.html", "differences.html", "edition.html", "analyses.html", "method.html",
         "data.html", "agents/*.html", "articles/*.html", "reports/??????????.html",
         "reports/*-facts.html", "reports/*-claims.html", "pages/*.html")  # fmt: skip
"""Each sort of page, by the first that is so called; not every edition has all."""


def kinds_of(site: Path) -> list[str]:
    found = [next(iter(sorted(site.glob(kind))), None) for kind in KINDS]
    return [path.relative_to(site).as_posix() for path in found if path]


def report_with_claims(site: Path) -> str:
    """A report with supported claims, the first by name."""
    reports = sorted(site.glob("reports/??????????.html"))
    return next(
        f"reports/{path.name}" for path in reports if 'data-tone="good"' in path.read_text()
    )
