"""Runs of `fetch` on the sample edition, with a report that cites pages of a server here."""

import asyncio
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tasks.configuration.web import load_web
from tasks.imports.matching import match_reports
from tasks.imports.reports import import_reports
from tasks.warehouse.store import open_warehouse
from tests.changed_configs import copy_configs, reading
from tests.servers.http import HTML, Request, Response
from tests.servers.serving import serving

AGENT = "citing"
SENTENCES = {
    "light": "The first Eddystone lighthouse was lit in November 1698.",
    "moved": "The second tower was finished by John Rudyerd in 1709.",
    "smeaton": "John Smeaton shaped his tower after the trunk of an oak.",
}
"""What a page says, by the first part of its path."""
FURNITURE = " ".join(["The keepers wrote of the weather and of the ships that passed."] * 20)


class PageServer:
    """Pages of a site, and what can be wrong with them; counts what it was asked for.

    slow: seconds that each answer takes.
    """

    def __init__(self, slow: float = 0.0) -> None:
        self.slow = slow
        self.asked: Counter[str] = Counter()

    def __call__(self, request: Request) -> Response:
        self.asked[request.target] += 1
        response = self._page(request)
        response.delay_seconds = self.slow
        return response

    def _page(self, request: Request) -> Response:
        name = request.path.strip("/").split("/")[0]
        if name in SENTENCES:
            return page(name.title(), f"<p>{SENTENCES[name]}</p><p>{FURNITURE}</p>")
        match name:
            case "old":
                return Response(301, headers=(("Location", "/moved"),))
            case "inward":
                return Response(302, headers=(("Location", "http://169.254.169.254/latest"),))
            case "wall":
                return page("Just a moment...", "<p>Checking your browser.</p>", 403,
                            (("cf-mitigated", "challenge"),))  # fmt: skip
            case "archived":
                return page("Archived", f"<p>{SENTENCES['smeaton']}</p><p>{FURNITURE}</p>")
        return page("Not found", "<p>There is no such page.</p>", 404)


def page(
    title: str, body: str, status: int = 200, headers: tuple[tuple[str, str], ...] = ()
) -> Response:
    text = f"<html lang='en'><head><title>{title}</title></head><body><article>{body}</article>"
    return Response(status, text.encode(), HTML, headers)


def citing(sample: Path, folder: Path, *addresses: tuple[str, str]) -> Path:
    """A copy of such an edition with one more report: (statement, address it cites) each."""
    path = folder / "warehouse.duckdb"
    shutil.copy(sample, path)
    listed = "\n".join(f"[{n}] {url}" for n, (_, url) in enumerate(addresses, start=1))
    said = "\n\n".join(f"{text}[{n}]" for n, (text, _) in enumerate(addresses, start=1))
    written = folder / "reports" / "Eddystone_Lighthouse.md"
    written.parent.mkdir(exist_ok=True)
    written.write_text(f"# Eddystone Lighthouse\n\n{said}\n\n## References\n\n{listed}\n", "utf-8")
    with open_warehouse(path) as warehouse:
        matched = match_reports(warehouse, written.parent, "sample", AGENT)
        import_reports(warehouse, matched, True, False, lambda *_: None)
    return path


@contextmanager
def allowing(folder: Path, *addresses: str, **manners: Any) -> Iterator[Path]:
    """This process and those it starts may fetch from these servers."""
    hosts = [urlsplit(address).netloc for address in addresses]
    quick = {"seconds_between": 0, "first_wait_seconds": 0.02, "per_host": 8} | manners
    target = copy_configs(folder, web=lambda s: s.update(
        allowed=s["allowed"] | {"hosts": hosts}, manners=s["manners"] | quick,
        wayback=s["wayback"] | {"per_minute": 6000}, reading=s["reading"] | {"workers": 1},
        operator="tests@example.org",
    ))  # fmt: skip
    with reading(target, load_web):
        yield target


@contextmanager
def serving_pages(folder: Path, server: PageServer, port: int = 0, **manners: Any) -> Iterator[str]:
    with serving(server, port) as address, allowing(folder, address, **manners):
        yield address


def fetch(path: Path, **parameters: Any) -> Any:
    """The flow in this process; its final state."""
    from flows.fetch import fetch as flow

    async def run() -> Any:
        return await flow(edition="sample", warehouse=str(path), **parameters, return_state=True)

    return asyncio.run(run())
