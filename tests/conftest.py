"""Prefect reads its settings when it is imported: they are set before any test module is."""

import gc
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import certifi
import pytest
from hypothesis import settings

from flows.runtime.settings import prefect_environment
from tests.warehouses import copied_from_a_template

# The workers of one run share a server.
RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
PREFECT_HOME = Path(tempfile.gettempdir()) / f"evergreen-prefect-{RUN}"
PREFECT_HOME.mkdir(exist_ok=True)
os.environ.pop("PREFECT_API_URL", None)
os.environ.update(prefect_environment(PREFECT_HOME))
os.environ["EVERGREEN_SERVER_MINUTES"] = "0"  # no server outlives its test

# Every HTTP client reads what it trusts when it is made: 40 ms for all authorities of the world,
# none of which has certified a server on loopback.
TRUSTED = PREFECT_HOME / "trusted.pem"
END = "-----END CERTIFICATE-----\n"
TRUSTED.write_text(Path(certifi.where()).read_text("utf-8").partition(END)[0] + END, "utf-8")
os.environ["SSL_CERT_FILE"] = str(TRUSTED)
certifi.where = lambda: str(TRUSTED)  # for those that read no variable

# What is imported stays: looking through all of it for garbage is a tenth of a fast test's time.
gc.set_threshold(50_000, 20, 50)

# Half of its own number: the rest is for `make everything`, which takes other examples each time.
settings.register_profile("ci", settings.get_profile("ci"), max_examples=50)

MAY_SKIP = ("needs a Docker engine", "root may write everywhere")
"""Why a test may be skipped where everything is installed."""
LONGEST = ("test_production", "test_month", "test_lake", "test_research_faults")


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Iterator[None]:
    """Tidy up behind a run, its workers' servers too; what a failed one left may tell why."""
    yield
    if hasattr(session.config, "workerinput") or exitstatus != pytest.ExitCode.OK:
        return
    workers = session.config.pluginmanager.getplugin("dsession")
    runs = {RUN, workers.nodemanager.testrunuid} if workers else {RUN}
    for run in runs:
        shutil.rmtree(PREFECT_HOME.with_name(f"evergreen-prefect-{run}"), ignore_errors=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--lake", action="store_true", help="Run on DuckLakes with their catalogs in Postgres."
    )
    parser.addoption(
        "--complete", action="store_true", help=f"Fail what is skipped, except: {MAY_SKIP}."
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that lacks something here has shown nothing: with `--complete` it fails."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if item.config.getoption("--complete") and not reason.startswith(MAY_SKIP):
            report.outcome = "failed"
            report.longrepr = f"skipped, but this run is to be complete: {reason}"
    return report


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes minutes comes first, so that it is not begun when all else is done; what only a
    file has is not asked of a lake."""
    gc.collect()
    gc.freeze()
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else 99)
    if config.getoption("--lake"):
        left_out = [item for item in items if item.get_closest_marker("file_only")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session", autouse=True)
def warehouses(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Files, or with `--lake` a lake in the place of each."""
    if not request.config.getoption("--lake"):
        yield
        return
    from tests.lakes import lakes_for_files
    from tests.rigs.postgres import running

    with running(tmp_path_factory.mktemp("postgres")) as postgres, lakes_for_files(postgres):
        yield


@pytest.fixture(scope="session", autouse=True)
def template(
    warehouses: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """New files are copies of one; lakes are migrated each."""
    if request.config.getoption("--lake"):
        yield
        return
    with copied_from_a_template(tmp_path_factory.mktemp("template")):
        yield
