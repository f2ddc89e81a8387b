"""Pictures of a flow run as people see it: the real Prefect UI in headless Chromium.

    python -m tests.rigs.ui_screenshots --api URL --flow-run ID [--deployment ID]... --out DIR

Takes the run's page, its task runs, its subflow runs, its artifacts and the page of each
artifact; of a deployment its page with the schedule, and the form that a run is begun by. Needs
Debian's chromium. The browser can reach the loopback and nothing else; what it tried to reach
beyond is printed. The server's password is taken from PREFECT_API_AUTH_STRING.
"""

import argparse
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page, ViewportSize

from flows.runtime.login import login_address
from tests import patient
from tests.rigs.site_browser import available, chromium

SIZE: ViewportSize = {"width": 1440, "height": 900}
TALLEST = 4000
"""Pixels; a page with a long list is cut here."""
LOAD_SECONDS = 60
SETTLE_SECONDS = 2.5
"""How long a page must stay as it is; the graph is drawn on a canvas that says nothing."""
ARGUMENTS = (
    "--enable-unsafe-swiftshader",  # the graph is drawn with WebGL
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
TABS = {
    "run": "Logs",
    "task-runs": "TaskRuns",
    "subflow-runs": "SubflowRuns",
    "artifacts": "Artifacts",
}


class BrokenPage(RuntimeError):
    """The UI shows an error instead of the page."""


def take(api_url: str, flow_run_id: str, out: Path) -> list[Path]:
    """Photograph one flow run; return the files, named after the run.

    Raises BrokenPage when the UI shows an error, Playwright's TimeoutError when a page stays empty.
    """
    ui_url = api_url.removesuffix("/").removesuffix("/api")
    run = patient.get(f"{api_url}/flow_runs/{flow_run_id}").raise_for_status().json()
    name = re.sub(r"\W+", "-", run["name"]).strip("-")
    artifacts = artifacts_of(api_url, flow_run_id)
    out.mkdir(parents=True, exist_ok=True)
    files = []
    with logged_in(ui_url) as shown:
        for page, tab in TABS.items():
            address = f"{ui_url}/v2/runs/flow-run/{flow_run_id}?tab={tab}"
            files.append(photograph(shown, address, run["name"], out / f"{name}-{page}.png"))
        for artifact in artifacts:
            address = f"{ui_url}/v2/artifacts/artifact/{artifact['id']}"
            file = out / f"{name}-artifact-{artifact['key']}.png"
            files.append(photograph(shown, address, str(artifact["key"]), file))
    return files


def take_deployment(api_url: str, deployment_id: str, out: Path) -> list[Path]:
    """Photograph a deployment's page and the form of its parameters; return the files."""
    ui_url = api_url.removesuffix("/").removesuffix("/api")
    found = patient.get(f"{api_url}/deployments/{deployment_id}").raise_for_status().json()
    flow = patient.get(f"{api_url}/flows/{found['flow_id']}").raise_for_status().json()["name"]
    page = f"{ui_url}/v2/deployments/deployment/{deployment_id}"
    out.mkdir(parents=True, exist_ok=True)
    with logged_in(ui_url) as shown:
        return [
            photograph(shown, page, found["name"], out / f"{flow}-deployment.png"),
            photograph(shown, f"{page}/run", "warehouse", out / f"{flow}-form.png"),
        ]


def artifacts_of(api_url: str, flow_run_id: str) -> list[dict[str, Any]]:
    """The artifacts with a key that the run made."""
    found: list[dict[str, Any]] = (
        patient.post(
            f"{api_url}/artifacts/filter",
            json={"artifacts": {"flow_run_id": {"any_": [flow_run_id]}}},
        )
        .raise_for_status()
        .json()
    )
    return [artifact for artifact in found if artifact["key"]]


@contextmanager
def logged_in(ui_url: str) -> Iterator[Page]:
    """A page at the address that `evergreen ui` prints; what it asked beyond the loopback is
    printed at the end, answered or not."""
    asked: set[str] = set()
    with chromium(*ARGUMENTS) as browser:
        page = browser.new_page(viewport=SIZE)
        page.set_default_timeout(1000 * LOAD_SECONDS)
        page.on("request", lambda request: asked.add(request.url))
        page.goto(login_address(ui_url, os.environ["PREFECT_API_AUTH_STRING"]))
        yield page
    hosts = {url.hostname for url in map(urlsplit, asked) if url.scheme.startswith("http")}
    if foreign := hosts - LOOPBACK:
        print(f"the page tried to reach {', '.join(map(str, foreign))}", file=sys.stderr)


def photograph(page: Page, address: str, expected: str, file: Path) -> Path:
    """Open `address`, wait until it shows `expected` and stands still, save it in full height."""
    page.set_viewport_size(SIZE)
    page.goto(address)
    page.wait_for_function("text => document.body.innerText.includes(text)", arg=expected)
    wait_until_still(page)
    height = page.evaluate("document.documentElement.scrollHeight")
    if height > SIZE["height"]:
        page.set_viewport_size({"width": SIZE["width"], "height": min(height, TALLEST)})
        wait_until_still(page)
    if page.locator("[data-sonner-toast][data-type=error]").count():
        raise BrokenPage(f"{address} shows an error: {page.inner_text('body')[-300:]}")
    page.screenshot(path=file)
    return file


def wait_until_still(page: Page) -> None:
    """Wait until text and placeholders have not changed for SETTLE_SECONDS."""
    deadline = time.monotonic() + LOAD_SECONDS
    seen, since = "", time.monotonic()
    while time.monotonic() < deadline:
        loading = page.locator(".animate-pulse, .animate-spin").count()
        now = f"{loading} {page.inner_text('body')}"
        if now != seen or loading:
            seen, since = now, time.monotonic()
        elif time.monotonic() - since >= SETTLE_SECONDS:
            return
        page.wait_for_timeout(200)


def main() -> int:
    """Read the command line, take the pictures, print their paths."""
    parser = argparse.ArgumentParser(description="Screenshots of flow runs in the Prefect UI.")
    parser.add_argument("--api", required=True, help="API URL, e.g. http://127.0.0.1:4200/api")
    parser.add_argument("--flow-run", default=[], action="append", help="id of a flow run")
    parser.add_argument("--deployment", default=[], action="append", help="id of a deployment")
    parser.add_argument("--out", required=True, type=Path, help="folder for the PNG files")
    options = parser.parse_args()
    if not available():
        print("chromium is missing: run `make rigs`.", file=sys.stderr)
        return 1
    for flow_run_id in options.flow_run:
        for file in take(options.api, flow_run_id, options.out):
            print(file)
    for deployment_id in options.deployment:
        for file in take_deployment(options.api, deployment_id, options.out):
            print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
