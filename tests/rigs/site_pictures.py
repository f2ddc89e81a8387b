"""Pictures of a published site as people see it: light, dark and on a phone.

    python tests/rigs/site_pictures.py --site DIR --out DIR

Takes the leaderboard, a filtered leaderboard, one agent, one article, one report with a claim
opened, one cited page, and the other pages. Needs Debian's chromium. `--docs REPORT --out docs`
takes the README's two pictures, of the sample edition's site, instead.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from tests.rigs.site_browser import DESK, PHONE, Watched, available, chromium, watched

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": DESK, "color_scheme": "light", "reduced_motion": "reduce"},
    "dark": {"viewport": DESK, "color_scheme": "dark", "reduced_motion": "reduce"},
    "phone": {"viewport": PHONE, "color_scheme": "light", "device_scale_factor": 2},
}
KINDS = {"agents": "agents/*.html", "articles": "articles/*.html", "facts": "reports/*-facts.html",
         "reports": "reports/??????????.html", "pages": "pages/*.html"}  # fmt: skip
"""Name of the picture → the pages that one of which is taken."""
README_PICTURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "site-leaderboard": ("index.html", "body", {"width": 1240, "height": 1000}),
    "site-report": ("reports/{report}.html", "#claims-in-text", {"width": 1000, "height": 860}),
}
"""Name of the picture → page, what is at its top, and its size."""
TALLEST = 2600
"""Pixels; a longer page is cut here."""


def chosen_pages(site: Path) -> dict[str, str]:
    """Name of the picture → page; of many of a kind the one in the middle by size."""
    pages = {path.stem: path.name for path in sorted(site.glob("*.html"))}
    for name, kind in KINDS.items():
        found = sorted(site.glob(kind), key=lambda path: (path.stat().st_size, path))
        if found:
            pages[name] = found[len(found) // 2].relative_to(site).as_posix()
    return pages


def take(site: Path, out: Path) -> list[Path]:
    """Photograph the pages; the files, named after page and look."""
    out.mkdir(parents=True, exist_ok=True)
    files = []
    with chromium() as browser:
        for look, settings in LOOKS.items():
            with watched(browser, site, **settings) as seen:
                for name, path in chosen_pages(site).items():
                    files += _photographed(seen, path, out / f"{name}-{look}.png")
                for word in seen.misdeeds():
                    print(f"{look}: {word}", file=sys.stderr)
    return files


def take_for_readme(site: Path, out: Path, report: str) -> list[Path]:
    """Photograph the leaderboard and a report's claims, for the README. report: its id."""
    files = []
    with chromium() as browser:
        for name, (path, top, size) in README_PICTURES.items():
            with watched(browser, site, viewport=size, reduced_motion="reduce") as seen:
                page = seen.open(path.format(report=report))
                page.locator(top).evaluate("element => element.scrollIntoView()")
                page.screenshot(path=out / f"{name}.png")
                files.append(out / f"{name}.png")
    return files


def _photographed(seen: Watched, path: str, file: Path) -> list[Path]:
    page = seen.open(path)
    _save(seen, file)
    claim = page.locator("a.claim").first
    if not claim.count():
        return [file]
    claim.click()
    opened = file.with_name(file.name.replace("reports", "claim"))
    page.screenshot(path=opened)
    return [file, opened]


def _save(seen: Watched, file: Path) -> None:
    """The page from its top in its full height, or as much as is bearable."""
    high = seen.page.evaluate("document.documentElement.scrollHeight")
    wide = seen.page.evaluate("innerWidth")
    clip = {"x": 0, "y": 0, "width": wide, "height": min(high, TALLEST)}
    seen.page.screenshot(path=file, full_page=True, clip=clip)  # type: ignore[arg-type]


def main() -> int:
    """Read the command line, take the pictures, print their paths."""
    parser = argparse.ArgumentParser(description="Pictures of a published site.")
    parser.add_argument("--site", required=True, type=Path, help="folder of the site")
    parser.add_argument("--out", required=True, type=Path, help="folder for the PNG files")
    parser.add_argument(
        "--docs", metavar="REPORT", help="the README's pictures, of this report's id"
    )
    options = parser.parse_args()
    if not available():
        print("chromium is missing: run `make rigs`.", file=sys.stderr)
        return 1
    site, out, report = options.site, options.out, options.docs
    for file in take_for_readme(site, out, report) if report else take(site, out):
        print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
