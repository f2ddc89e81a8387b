"""A published site in headless Chromium, and all that it does there beyond being shown.

Playwright drives Debian's own Chromium. A page is opened from its file, as people do who were
sent the folder; every request, message, dialog and breach of the pages' policy is written down.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, BrowserContext, Dialog, Page, sync_playwright

DESK = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
_WATCH = """
window.pwned = [];
window.breaches = [];
document.addEventListener("securitypolicyviolation",
    (event) => window.breaches.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


def available() -> bool:
    """Whether the browser is installed."""
    return shutil.which("chromium") is not None


@contextmanager
def chromium(*arguments: str) -> Iterator[Browser]:
    """Headless Chromium; no event loop may run in this thread meanwhile."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", *arguments],
        )
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """A page, and what it has done since it was made."""

    page: Page
    site: Path
    said: list[str] = field(default_factory=list)
    """Console messages that are errors or warnings, exceptions, dialogs."""
    requests: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Open a page of the site by its path, perhaps with a `#fragment`."""
        name, _, fragment = path.partition("#")
        address = (self.site / name).resolve().as_uri()
        self.page.goto(f"{address}#{fragment}" if fragment else address)
        return self.page

    def path(self) -> str:
        """Where the page is now, within the site."""
        there = Path(unquote(urlsplit(self.page.url).path))
        return there.relative_to(self.site.resolve()).as_posix()

    def misdeeds(self) -> list[str]:
        """All that a page should not have done; empty for a good one."""
        root = self.site.resolve().as_uri()
        left = [f"asked for {url[:200]}" for url in self.requests if not url.startswith(root)]
        breaches = self.page.evaluate("window.breaches || []")
        pwned = self.page.evaluate("window.pwned || []")
        return [*self.said, *left, *map(str, breaches), *map(str, pwned)]


@contextmanager
def watched(browser: Browser, site: Path, **settings: Any) -> Iterator[Watched]:
    """A fresh page of a fresh profile. settings: of the context, e.g. viewport, color_scheme."""
    context = browser.new_context(**{"viewport": DESK, **settings})
    try:
        yield watch(context, site)
    finally:
        context.close()


def watch(context: BrowserContext, site: Path) -> Watched:
    """A new page of the context, watched."""
    context.add_init_script(_WATCH)
    page = context.new_page()
    page.set_default_timeout(10_000)
    seen = Watched(page, site)
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("pageerror", lambda error: seen.said.append(f"error: {error}"))
    page.on("console", lambda message: _heard(seen, message.type, message.text))
    page.on("dialog", lambda dialog: _refused(seen, dialog))
    return seen


def _heard(seen: Watched, kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        seen.said.append(f"{kind}: {text}")


def _refused(seen: Watched, dialog: Dialog) -> None:
    seen.said.append(f"dialog: {dialog.message}")
    dialog.dismiss()
