"""A compacted lake holds what it held, in fewer files, whoever writes meanwhile."""

import json
import subprocess
import sys
import textwrap
from datetime import timedelta
from pathlib import Path

import pytest

from tasks.warehouse.compaction import CompactionStep, compact_lake, compact_warehouse, measure_lake
from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.jobs import CollectionCost
from tasks.warehouse.location import DuckLake
from tasks.warehouse.rows import Agent, Fact
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.lakes import NEEDS_POSTGRES, lake_at
from tests.rigs.postgres import RunningPostgres
from tests.tasks.backed_up import ROOT, contents

pytestmark = NEEDS_POSTGRES
AT_ONCE = timedelta(0)


@pytest.fixture
def lake(postgres: RunningPostgres, tmp_path: Path) -> DuckLake:
    return lake_at(postgres, tmp_path / "warehouse")


def commit(warehouse: Warehouse, n: int) -> None:
    """A small commit of each kind: rows added, changed, and replaced by others."""
    rows = 150 if n % 3 == 0 else 2  # in a file, or in the catalog
    facts = [
        Fact(edition="e", article=f"a{n}", number=i, text=f"{n} {i}", source="offline")
        for i in range(rows)
    ]
    warehouse.write(Change(Fact, facts, appending=True))
    warehouse.write(Change(Agent, [Agent(edition="e", agent=f"g{n % 4}", name=str(n))]))
    costs = [
        CollectionCost(edition="e", agent=str(i), assignment=str(n % 2), usd=n) for i in range(rows)
    ]
    warehouse.write(Change(CollectionCost, costs, replacing={"assignment": str(n % 2)}))


def files_of(lake: DuckLake) -> list[Path]:
    return list(Path(lake.data).rglob("*.parquet"))


def test_the_tables_are_the_same_and_the_files_fewer(lake: DuckLake) -> None:
    with open_warehouse(lake) as warehouse:
        for n in range(12):
            commit(warehouse, n)
    tables, before = contents(lake), measure_lake(lake)
    assert before.files >= 8
    assert before.small_files == before.files
    assert before.inlined_rows > 20
    assert before.snapshots > 36
    said: list[CompactionStep] = []
    steps = compact_lake(lake, keep_days=0, min_unused=AT_ONCE, on_progress=said.append)
    assert said == steps
    assert [step for step in steps if step.error] == []
    assert {step.what for step in steps} >= {
        "rows flushed", "files merged", "snapshots expired", "files deleted",
    }  # fmt: skip
    after = measure_lake(lake)
    assert contents(lake) == tables
    # Of warehouse_info, agents, facts and costs one file each.
    assert (after.files, after.inlined_rows, after.delete_files) == (4, 0, 0)
    assert after.snapshots == 1
    assert after.old_files == 0
    assert len(files_of(lake)) == after.files
    assert sum(path.stat().st_size for path in files_of(lake)) == after.bytes
    assert compact_lake(lake, keep_days=0, min_unused=AT_ONCE) == []


def test_the_command_says_how_much_there_was_and_is(lake: DuckLake) -> None:
    with open_warehouse(lake) as warehouse:
        for n in range(4):
            commit(warehouse, n)
    size = measure_lake(lake)
    done = compact_warehouse(lake)
    assert done.left_out == ()
    assert done.before["files"] == size.files
    assert done.before["rows in the catalog"] == size.inlined_rows > 0
    assert done.after["rows in the catalog"] == 0
    assert done.after["files"] == measure_lake(lake).files < size.files


def test_earlier_states_and_files_in_use_stay_for_a_while(lake: DuckLake) -> None:
    with open_warehouse(lake) as warehouse:
        for n in range(4):
            commit(warehouse, n)
    before = measure_lake(lake)
    stray = Path(lake.data) / "main" / "facts" / "of-a-commit-under-way.parquet"
    stray.write_bytes(b"")
    on_disk = set(files_of(lake))
    steps = compact_lake(lake)
    assert {step.what for step in steps} <= {
        "rows flushed", "files rewritten", "files merged",
    }  # fmt: skip
    after = measure_lake(lake)
    assert after.snapshots >= before.snapshots
    assert after.old_files > 0
    assert on_disk <= set(files_of(lake))
    compact_lake(lake, keep_days=0, min_unused=AT_ONCE)
    assert not stray.exists()


def test_it_goes_on_while_another_process_writes(lake: DuckLake, tmp_path: Path) -> None:
    with open_warehouse(lake):
        pass
    program = textwrap.dedent("""
        import json, random, sys, time
        from pathlib import Path
        from tasks.warehouse.jobs import CollectionCost
        from tasks.warehouse.rows import Agent, Fact
        from tasks.warehouse.store import open_warehouse
        from tasks.warehouse.writer import Change
        where, name, seconds, acknowledged = *sys.argv[1:3], float(sys.argv[3]), sys.argv[4]
        draw = random.Random(name)
        facts, agents, costs = {}, {}, {}
        with open_warehouse(where) as warehouse:
            print("begun", flush=True)
            end, n = time.monotonic() + seconds, 0
            while time.monotonic() < end:
                n += 1
                rows = draw.choice([1, 10, 150])
                added = [Fact(edition=name, article=str(n), number=i, text=f"{n} {i}",
                              source="offline") for i in range(rows)]
                warehouse.write(Change(Fact, added, appending=True))
                facts |= {f"{n} {i}": 1 for i in range(rows)}
                changed = [Agent(edition=name, agent=f"{i}", name=str(n))
                           for i in {draw.randrange(20) for _ in range(3)}]
                warehouse.write(Change(Agent, changed))
                agents |= {agent.agent: agent.name for agent in changed}
                of = str(draw.randrange(5))
                new = [CollectionCost(edition=name, agent=str(i), assignment=of, usd=n)
                       for i in range(rows)]
                warehouse.write(Change(CollectionCost, new,
                                       replacing={"edition": name, "assignment": of}))
                costs[of] = [rows, n]
        Path(acknowledged).write_text(json.dumps([facts, agents, costs]))
    """)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", program, lake.url, name, "20", tmp_path / name],
            stdout=subprocess.PIPE, text=True, cwd=ROOT,
        )
        for name in ("one", "two")
    ]  # fmt: skip
    try:
        for writer in writers:
            assert writer.stdout
            assert writer.stdout.readline() == "begun\n"
        compacted = []
        while any(writer.poll() is None for writer in writers):
            compacted += compact_lake(lake, keep_days=0, min_unused=timedelta(seconds=10))
        acknowledged = {
            name: json.loads((tmp_path / name).read_text("utf-8")) for name in ("one", "two")
        }
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    assert [step for step in compacted if step.error] == []
    assert {step.what for step in compacted} >= {"rows flushed", "files merged"}
    with open_warehouse(lake) as warehouse:
        for name, (facts, agents, costs) in acknowledged.items():
            assert len(facts) > 50
            rows = warehouse.frame("SELECT text, 1 FROM facts WHERE edition = $1", [name])
            assert (rows.height, dict(rows.iter_rows())) == (len(facts), facts)
            rows = warehouse.frame("SELECT agent, name FROM agents WHERE edition = $1", [name])
            assert (rows.height, dict(rows.iter_rows())) == (len(agents), agents)
            rows = warehouse.frame(
                "SELECT assignment, count(*), count(DISTINCT agent), min(usd), max(usd) "
                "FROM collection_costs WHERE edition = $1 GROUP BY ALL",
                [name],
            )
            found = {of: (n, m, least, most) for of, n, m, least, most in rows.iter_rows()}
            assert found == {of: (n, n, usd, usd) for of, (n, usd) in costs.items()}


def test_a_database_without_a_lake_is_told_apart(postgres: RunningPostgres, tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="its catalog cannot be read"):
        measure_lake(lake_at(postgres, tmp_path / "nothing"))
    postgres.create("empty")
    with pytest.raises(WarehouseError, match="Check that the warehouse exists"):
        measure_lake(lake_at(postgres, tmp_path / "nothing", "empty"))
