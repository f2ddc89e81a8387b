"""A ledger that holds the answer to every question of an evaluation before it begins.

Nothing is guessed about how the ledger is keyed: the protocols put their questions to the judge
itself, through a gateway of the project's own, whose sender answers in place (the oracle of the
test servers: it counts words) instead of over a network. What the gateway would keep in the ledger
is gathered into Parquet files, by helper processes, and put into the warehouse in one go. A later
evaluation makes the same questions, looks them up, and finds them answered.

Of an edition that is too large for that, only some cells are asked for. The others count as judged
before: each gets the calls and verdicts of one of the cells that were asked for, of its agent and
protocol, as rows of its own under ids of its own. They fill the tables; nobody looks them up.
"""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import cast

import duckdb
import polars as pl
import pyarrow.parquet as pq

from tasks.judges.registry import load_judge, load_model_entry
from tasks.judging.cases import BATCH, load_cases
from tasks.judging.cells import CellPlan
from tasks.models.errors import StopStage
from tasks.models.exchange import ModelRequest, Reply, TokenUsage
from tasks.models.gateway import Gateway
from tasks.models.prices import Budget, load_prices
from tasks.processes.pool import HelperProcesses
from tasks.protocols.case import Case
from tasks.protocols.cell import judge_case
from tasks.verdicts import write_cell
from tasks.warehouse.calls import Call
from tasks.warehouse.results import Cell, Verdict
from tasks.warehouse.rows import Row, utc_now
from tasks.warehouse.schema import connect
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change, arrow_table
from tests.servers.asked import tokens
from tests.servers.oracle import Oracle

AHEAD = 6
"""Batches of cells that wait for a helper."""
COPIED = 20_000
"""Cells that are copied in one go."""


class OracleSender:
    """Answers where it stands: the sender of a gateway that has no endpoint."""

    def __init__(self, answers_as: str) -> None:
        self._oracle = Oracle()
        self._answers_as = answers_as

    async def send(
        self, request: ModelRequest, lost: Callable[[], Awaitable[None]] | None = None
    ) -> Reply:
        user = request.messages[0].text
        text = self._oracle.answer(request.system, user, json.loads(request.reply_schema))
        usage = TokenUsage(prompt=tokens(request.system + user), cached=0, output=tokens(text))
        return Reply(
            finish="ok", text=text, stop_reason="stop", usage=usage, response_id="generated",
            model_version=self._answers_as, latency_seconds=0.0,
        )  # fmt: skip

    async def wait_for_capacity(self) -> None:
        """Always."""

    def stop(self, error: StopStage) -> None:
        """Nothing is under way."""

    async def close(self) -> None:
        """Nothing is open."""


class Gathered:
    """Rows that would be written: the ledger of a gateway, and where `write_cell` writes to."""

    def __init__(self) -> None:
        self.rows: dict[type[Row], list[Row]] = {Call: []}

    async def load_attempts(self, request_id: str) -> Sequence[Call]:
        """Nothing has been asked before."""
        return ()

    async def save(self, call: Call, *, replace: bool) -> None:
        self.rows[Call].append(call)

    def lock_request(self, request_id: str) -> AbstractAsyncContextManager[None]:
        """Each helper has a ledger of its own."""
        return nullcontext()

    async def write_async(self, *changes: Change) -> None:
        for change in changes:
            self.rows.setdefault(change.model, []).extend(change.rows)


def answer_cells(plans: Sequence[CellPlan], cases: dict[str, Case], to: str) -> int:
    """What a helper does: ask everything that these cells ask; how many calls that were.

    Args:
        to: what they would write goes to files `<to>-<table>.parquet`.
    """
    gathered = Gathered()
    asyncio.run(_answer(gathered, plans, cases))
    for model, rows in gathered.rows.items():
        if rows:
            pq.write_table(arrow_table(model, rows), f"{to}-{model.table}.parquet")
    return len(gathered.rows[Call])


async def _answer(gathered: Gathered, plans: Sequence[CellPlan], cases: dict[str, Case]) -> None:
    name, entry = load_model_entry(plans[0].judge, "answer")
    price = load_prices().of(entry.provider, entry.model, utc_now().date())
    sender = OracleSender(entry.answers_as or entry.model)
    gateway = Gateway(
        sender, gathered, answers_as=entry.answers_as, price=price, budget=Budget(None)
    )
    decider = load_judge(name, gateway)
    for plan in plans:
        decided = await judge_case(plan.protocol, decider, cases[plan.cell_id])
        # It has the one method of a warehouse that is used.
        await write_cell(cast(Warehouse, gathered), plan, decided)


def fill_ledger(
    path: Path, asked: Sequence[CellPlan], before: Sequence[CellPlan], folder: Path
) -> int:
    """Fill the warehouse at `path`; how many calls there are then.

    Args:
        asked: everything that these cells ask is answered; they stay to be judged.
        before: these count as judged.
    """
    folder.mkdir(parents=True)
    helpers = HelperProcesses()
    waiting: deque[Future[int]] = deque()
    try:
        with open_warehouse(path) as warehouse:
            for start in range(0, len(asked), BATCH):
                batch = asked[start : start + BATCH]
                cases = load_cases(warehouse, batch)
                waiting.append(
                    helpers.submit(answer_cells, batch, cases, str(folder / f"{start:08}"))
                )
                while len(waiting) > AHEAD:
                    waiting.popleft().result()
            for done in waiting:
                done.result()
    finally:
        helpers.close()
    with connect(path, folders=[folder]) as connection:
        n_calls = _load(connection, folder)
        for pairs in _paired(asked, before):
            n_calls += _copy(connection, folder, pairs)
        connection.execute("CHECKPOINT")
    return n_calls


def _files(folder: Path, model: type[Row]) -> str:
    return f"read_parquet('{folder}/*-{model.table}.parquet')"


def _load(connection: duckdb.DuckDBPyConnection, folder: Path) -> int:
    """Put the calls into the ledger; how many. What two reports of one article ask alike (few
    claims may be the same ones) is there once, as a run would buy it once."""
    found = connection.execute(
        f"INSERT INTO calls BY NAME SELECT DISTINCT ON (call_id) * FROM {_files(folder, Call)}"
    ).fetchone()
    return int(found[0]) if found else 0


def _paired(asked: Sequence[CellPlan], before: Sequence[CellPlan]) -> Iterator[pl.DataFrame]:
    """Which cell is a copy of which, so many at a time, in the order of the plan."""
    alike: dict[tuple[str, str], list[CellPlan]] = defaultdict(list)
    for plan in asked:
        alike[plan.protocol, plan.agent].append(plan)
    rows = []
    for number, plan in enumerate(before):
        those = alike[plan.protocol, plan.agent]
        model = those[number % len(those)]
        urls = (f"/{int(each.assignment[-5:])}/" for each in (model, plan))
        rows.append((model.cell_id, plan.cell_id, plan.assignment, plan.input_sha, *urls))
    names = ("of_cell", "to_cell", "to_assignment", "to_input", "of_url", "to_url")
    for start in range(0, len(rows), COPIED):
        yield pl.DataFrame(rows[start : start + COPIED], schema=names, orient="row")


def _copy(connection: duckdb.DuckDBPyConnection, folder: Path, pairs: pl.DataFrame) -> int:
    """Cells, calls and verdicts of cells that count as judged; how many calls."""
    connection.register("pairs", pairs.to_arrow())
    verdicts, cells = (_files(folder, model) for model in (Verdict, Cell))
    connection.execute(
        "INSERT INTO cells BY NAME SELECT c.* REPLACE (to_cell AS cell_id, to_assignment AS "
        f"assignment, to_input AS input_sha) FROM pairs JOIN {cells} AS c ON c.cell_id = of_cell"
    )
    connection.execute(
        "INSERT INTO verdicts BY NAME SELECT v.* REPLACE (to_cell AS cell_id, to_assignment AS "
        "assignment, replace(v.item, of_url, to_url) AS item, sha256(call_id || to_cell) AS "
        f"call_id) FROM pairs JOIN {verdicts} AS v ON v.cell_id = of_cell"
    )
    found = connection.execute(
        "INSERT INTO calls BY NAME SELECT c.* REPLACE (sha256(c.call_id || to_cell) AS call_id, "
        "sha256(request_id || to_cell) AS request_id) FROM pairs JOIN "
        f"(SELECT DISTINCT cell_id, call_id FROM {verdicts}) AS v ON v.cell_id = of_cell "
        "JOIN calls AS c ON c.call_id = v.call_id"
    ).fetchone()
    connection.unregister("pairs")
    return int(found[0]) if found else 0
