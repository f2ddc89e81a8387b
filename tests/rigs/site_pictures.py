"""The README's two pictures of a published site: the leaderboard, and a report's claims.

    python -m tests.rigs.site_pictures --site DIR --docs REPORT [--out docs/images]

REPORT is the report's id. The site is the sample edition's. Needs Debian's chromium.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from tests.rigs.site_browser import available, chromium, watched

PICTURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "site-leaderboard": ("index.html", "body", {"width": 1240, "height": 1000}),
    "site-report": ("reports/{report}.html", "#claims-in-text", {"width": 1000, "height": 860}),
}
"""Name of the picture → page, what is at its top, and its size."""


def take(site: Path, out: Path, report: str) -> list[Path]:
    """Photograph both; the files."""
    files = []
    with chromium() as browser:
        for name, (path, top, size) in PICTURES.items():
            with watched(browser, site, viewport=size, reduced_motion="reduce") as seen:
                page = seen.open(path.format(report=report))
                page.locator(top).evaluate("element => element.scrollIntoView()")
                page.screenshot(path=out / f"{name}.png")
                files.append(out / f"{name}.png")
    return files


def main() -> int:
    """Read the command line, take the pictures, print their paths."""
    parser = argparse.ArgumentParser(description="The README's pictures of a published site.")
    parser.add_argument("--site", required=True, type=Path, help="folder of the site")
    parser.add_argument("--docs", metavar="REPORT", required=True, help="a report's id")
    parser.add_argument("--out", type=Path, default=Path("docs/images"), help="for the PNG files")
    options = parser.parse_args()
    if not available():
        print("chromium is missing: run `make rigs`.", file=sys.stderr)
        return 1
    for file in take(options.site, options.out, options.docs):
        print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
