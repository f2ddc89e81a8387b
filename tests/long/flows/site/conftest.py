"""Published sites in a real browser, made once for all tests of this folder."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tasks.publishing.site import build_site
from tasks.warehouse.reader import open_for_reading
from tests.rigs.made_edition import EDITION, SMALL, make
from tests.rigs.site_browser import chromium


@pytest.fixture(scope="session")
def site(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample edition as the offline judge has judged it."""
    folder = tmp_path_factory.mktemp("sample")
    warehouse = Path(shutil.copy(sample, folder / "w.duckdb"))
    with open_for_reading(warehouse) as source:
        build_site(source, "sample", folder / "site")
    return folder / "site"


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A made-up edition with two boards and two judges; its warehouse stands beside the site."""
    folder = tmp_path_factory.mktemp("made")
    with open_for_reading(make(folder / "w.duckdb", SMALL)) as source:
        build_site(source, EDITION, folder / "site")
    return folder / "site"


@pytest.fixture(scope="module")
def browser(site: Path, made: Path) -> Iterator[Browser]:
    # Flows have ended by now, and the next module may run some: Playwright keeps an event loop of
    # its own in this thread.
    with chromium() as opened:
        yield opened
