"""`kill -9` while pages are fetched: none is asked for twice once it came, none is half there."""

import os
import signal
import threading
from collections import Counter
from pathlib import Path

import duckdb

from tasks.planning.outcomes import fetch_outcome
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tests.flows.fetched_runs import FURNITURE, PageServer, page, serving_pages
from tests.flows.llm_runs import rows
from tests.rigs.fetching_process import fetching_process
from tests.servers.http import Request, Response
from tests.tasks.cited_pages import AGENT, EDITION, cite

N_PAGES, AT_ONCE = 300, 8
FETCHED = "SELECT asked_url, sha FROM fetches"


class KillingServer(PageServer):
    """Ends each process that asks when so many pages have been asked for, all runs together."""

    def __init__(self, moments: list[int]) -> None:
        super().__init__(slow=0.01)
        self.moments = moments
        self.pid: int | None = None
        """The process that asks; none after it was killed."""
        self._killing = threading.Lock()

    def _page(self, request: Request) -> Response:
        with self._killing:
            if self.pid and self.moments and self.asked.total() >= self.moments[0]:
                self.moments.pop(0)
                os.kill(self.pid, signal.SIGKILL)
                self.pid = None
        return page(request.path, f"<p>{FURNITURE * 5} {request.path}</p>")


def committed(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    with duckdb.connect(str(path)) as connection:
        return dict(connection.execute(FETCHED).fetchall())


def test_a_killed_run_goes_on_with_the_pages_that_have_not_come(tmp_path: Path) -> None:
    moments = [1, 40, 90, 91, 150, 220, 295]
    server = KillingServer(list(moments))
    path = tmp_path / "w.duckdb"
    n_kills = 0
    with serving_pages(tmp_path, server, at_once=AT_ONCE) as address:
        with open_warehouse(path) as warehouse:
            cite(warehouse, {AGENT: [f"{address}/page/{n}" for n in range(N_PAGES)]})
        while True:
            there = committed(path)
            before = Counter(server.asked)
            running = fetching_process(
                path, EDITION, {"EVERGREEN_CONFIGS": os.environ["EVERGREEN_CONFIGS"]}
            )
            server.pid = running.pid
            running.join(timeout=120)
            again = {target for target in server.asked if server.asked[target] > before[target]}
            assert not again & {url.removeprefix(address) for url in there}
            if running.exitcode == 0:
                break
            assert running.exitcode == -signal.SIGKILL
            n_kills += 1
    assert n_kills == len(moments)
    # Only what was under way when it died was asked for once more.
    assert server.asked.total() - N_PAGES <= n_kills * AT_ONCE
    found = committed(path)
    assert len(found) == N_PAGES
    folder = pages_folder(path)
    store = PageStore(folder)
    assert all(store.get(sha) for sha in found.values())
    kept = {p for p in folder.rglob("*") if p.is_file()}
    assert {PageStore(folder).path(sha) for sha in found.values()} <= kept
    assert not [p for p in kept if p.name.startswith(".")]
    assert rows(path, "SELECT status, count(*) FROM pages GROUP BY ALL") == [("ok", N_PAGES)]
    with open_warehouse(path) as warehouse:
        # Nobody has exported it: the next run has to.
        assert fetch_outcome(warehouse, EDITION, [AGENT], [], None) is None
        export_edition(warehouse, EDITION)
        assert fetch_outcome(warehouse, EDITION, [AGENT], [], None) is not None
