"""Pictures of a flow run as people see it: the real Prefect UI in headless Chromium.

    python -m tests.rigs.ui_screenshots --api URL --flow-run ID [--deployment ID]... --out DIR

Takes the run's page, its task runs, its subflow runs, its artifacts and the page of each
artifact; of a deployment its page with the schedule, and the form that a run is begun by. Needs
Debian's chromium and chromium-driver, and selenium. The browser can reach the loopback
and nothing else; what it tried to reach beyond is printed. The server's password is taken from
PREFECT_API_AUTH_STRING.
"""

import argparse
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from flows.runtime.login import login_address
from tests import patient

WIDTH = 1440
HEIGHT = 900
TALLEST = 4000
"""Pixels; a page with a long list is cut here."""
LOAD_SECONDS = 60
SETTLE_SECONDS = 2.5
"""How long a page must stay as it is; the graph is drawn on a canvas that says nothing."""
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
TABS = {
    "run": "Logs",
    "task-runs": "TaskRuns",
    "subflow-runs": "SubflowRuns",
    "artifacts": "Artifacts",
}


class BrokenPage(RuntimeError):
    """The UI shows an error instead of the page."""


def available() -> bool:
    """Whether the browser and its driver are installed."""
    return all(shutil.which(program) for program in ("chromium", "chromedriver"))


def take(api_url: str, flow_run_id: str, out: Path) -> list[Path]:
    """Photograph one flow run; return the files, named after the run.

    Raises BrokenPage when the UI shows an error, TimeoutException when a page stays empty.
    """
    ui_url = api_url.removesuffix("/").removesuffix("/api")
    run = patient.get(f"{api_url}/flow_runs/{flow_run_id}").raise_for_status().json()
    name = re.sub(r"\W+", "-", run["name"]).strip("-")
    artifacts = artifacts_of(api_url, flow_run_id)
    out.mkdir(parents=True, exist_ok=True)
    files = []
    with browser() as driver:
        log_in(driver, ui_url)
        for page, tab in TABS.items():
            address = f"{ui_url}/v2/runs/flow-run/{flow_run_id}?tab={tab}"
            files.append(photograph(driver, address, run["name"], out / f"{name}-{page}.png"))
        for artifact in artifacts:
            address = f"{ui_url}/v2/artifacts/artifact/{artifact['id']}"
            file = out / f"{name}-artifact-{artifact['key']}.png"
            files.append(photograph(driver, address, str(artifact["key"]), file))
        if foreign := foreign_hosts(driver):
            print(f"the page tried to reach {', '.join(sorted(foreign))}", file=sys.stderr)
    return files


def take_deployment(api_url: str, deployment_id: str, out: Path) -> list[Path]:
    """Photograph a deployment's page and the form of its parameters; return the files."""
    ui_url = api_url.removesuffix("/").removesuffix("/api")
    found = patient.get(f"{api_url}/deployments/{deployment_id}").raise_for_status().json()
    flow = patient.get(f"{api_url}/flows/{found['flow_id']}").raise_for_status().json()["name"]
    page = f"{ui_url}/v2/deployments/deployment/{deployment_id}"
    out.mkdir(parents=True, exist_ok=True)
    with browser() as driver:
        log_in(driver, ui_url)
        return [
            photograph(driver, page, found["name"], out / f"{flow}-deployment.png"),
            photograph(driver, f"{page}/run", "warehouse", out / f"{flow}-form.png"),
        ]


def log_in(driver: webdriver.Chrome, ui_url: str) -> None:
    """Open the address that `evergreen ui` prints."""
    driver.get(login_address(ui_url, os.environ["PREFECT_API_AUTH_STRING"]))


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
def browser() -> Iterator[webdriver.Chrome]:
    """Headless Chromium with a fresh profile that resolves no name but the loopback's."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-unsafe-swiftshader",  # the graph is drawn with WebGL
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
        "--no-proxy-server",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    # The driver's path is given: selenium would otherwise look for one on the internet.
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def photograph(driver: webdriver.Chrome, address: str, expected: str, file: Path) -> Path:
    """Open `address`, wait until it shows `expected` and stands still, save it in full height."""
    resize(driver, HEIGHT)
    driver.get(address)
    WebDriverWait(driver, LOAD_SECONDS).until(lambda _: expected in text_of(driver))
    wait_until_still(driver)
    height = driver.execute_script("return document.documentElement.scrollHeight")
    if height > HEIGHT:
        resize(driver, min(height, TALLEST))
        wait_until_still(driver)
    if driver.find_elements(By.CSS_SELECTOR, "[data-sonner-toast][data-type=error]"):
        raise BrokenPage(f"{address} shows an error: {text_of(driver)[-300:]}")
    driver.save_screenshot(str(file))
    return file


def resize(driver: webdriver.Chrome, height: int) -> None:
    """Give the page, not the window around it, this height in pixels."""
    size = {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def text_of(driver: webdriver.Chrome) -> str:
    """All text the page shows."""
    return driver.find_element(By.TAG_NAME, "body").text


def wait_until_still(driver: webdriver.Chrome) -> None:
    """Wait until text and placeholders have not changed for SETTLE_SECONDS."""
    deadline = time.monotonic() + LOAD_SECONDS
    seen, since = "", time.monotonic()
    while time.monotonic() < deadline:
        loading = len(driver.find_elements(By.CSS_SELECTOR, ".animate-pulse, .animate-spin"))
        now = f"{loading} {text_of(driver)}"
        if now != seen or loading:
            seen, since = now, time.monotonic()
        elif time.monotonic() - since >= SETTLE_SECONDS:
            return
        time.sleep(0.2)


def foreign_hosts(driver: webdriver.Chrome) -> set[str]:
    """Hosts beyond the loopback that the pages sent a request to, answered or not."""
    entries: list[dict[str, str]] = driver.get_log("performance")  # type: ignore[no-untyped-call]
    messages = [json.loads(entry["message"])["message"] for entry in entries]
    urls = [
        urlsplit(message["params"]["request"]["url"])
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    return {url.hostname or "" for url in urls if url.scheme.startswith("http")} - LOOPBACK


def main() -> int:
    """Read the command line, take the pictures, print their paths."""
    parser = argparse.ArgumentParser(description="Screenshots of flow runs in the Prefect UI.")
    parser.add_argument("--api", required=True, help="API URL, e.g. http://127.0.0.1:4200/api")
    parser.add_argument("--flow-run", default=[], action="append", help="id of a flow run")
    parser.add_argument("--deployment", default=[], action="append", help="id of a deployment")
    parser.add_argument("--out", required=True, type=Path, help="folder for the PNG files")
    options = parser.parse_args()
    if not available():
        print("chromium and chromedriver are missing: run `make rigs`.", file=sys.stderr)
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
