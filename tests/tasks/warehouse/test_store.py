"""The store: one writer, group commit, nothing acknowledged is lost."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.warehouse.errors import (
    DamagedWarehouse,
    ForeignWarehouse,
    LostWarehouse,
    NewerWarehouse,
    OlderWarehouse,
    UnwritableWarehouse,
    WarehouseError,
)
from tasks.warehouse.lake import connect_lake
from tasks.warehouse.location import DuckLake, parse_location
from tasks.warehouse.operations import (
    REPORTS_SHA,
    AuditEntry,
    FetchedEdition,
    KnownBackup,
    MonthRefresh,
    Publication,
)
from tasks.warehouse.pages import AbsentPage, SeedPage
from tasks.warehouse.reader import open_for_reading, run_query
from tasks.warehouse.results import AgentPair, LeaderboardRow, Score, Verdict
from tasks.warehouse.rows import Edition, Report, Row, replace_surrogates
from tasks.warehouse.schema import SCHEMA_VERSION
from tasks.warehouse.snapshot import export_edition, load_latest_manifests, open_snapshot
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.tables import TABLES
from tasks.warehouse.upgrade import OLDEST_UPGRADABLE
from tasks.warehouse.writer import Change, arrow_table
from tests.tasks.made_rows import a_row

DAY = datetime(2026, 11, 20, tzinfo=UTC)


def edition(name: str = "e") -> Edition:
    return Edition(edition=name, source="test")


def report(assignment: str, text: str = "text") -> Report:
    return a_row(Report, assignment=assignment, text=text)


def verdict(cell: str, item: str) -> Verdict:
    return a_row(Verdict, cell_id=cell, item=item)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "warehouse.duckdb"


@pytest.mark.parametrize("model", TABLES, ids=[model.table for model in TABLES])
def test_a_table_has_exactly_the_columns_of_its_row(model: type[Row]) -> None:
    assert arrow_table(model, []).column_names == list(model.model_fields)


def test_merging_the_same_key_replaces_and_only_new_keeps(warehouse: Warehouse) -> None:
    warehouse.write(Change(Report, [report("x", "old")]))
    warehouse.write(Change(Report, [report("x", "kept out")], only_new=True))
    assert warehouse.value("SELECT text FROM reports") == "old"
    warehouse.write(Change(Report, [report("x", "new")]))
    assert warehouse.frame("SELECT text FROM reports")["text"].to_list() == ["new"]


def test_replacing_removes_what_is_no_longer_there(warehouse: Warehouse) -> None:
    of_cell = {"cell_id": "c"}
    both = [verdict("c", "1"), verdict("c", "2")]
    warehouse.write(Change(Verdict, both, replacing=of_cell))
    warehouse.write(Change(Verdict, [verdict("other", "1")]))
    warehouse.write(Change(Verdict, [verdict("c", "1")], replacing=of_cell))
    rows = warehouse.frame("SELECT cell_id, item FROM verdicts ORDER BY ALL").rows()
    assert rows == [("c", "1"), ("other", "1")]


def test_what_is_only_pretended_is_read_by_this_thread_and_not_written(
    warehouse: Warehouse,
) -> None:
    warehouse.write(Change(Report, [report("x", "old"), report("y", "stays")]))
    changes = [Change(Report, [report("x", "new")], replacing={"assignment": "x"})]
    texts = "SELECT text FROM reports ORDER BY assignment"
    with ThreadPoolExecutor(1) as pool, warehouse.pretend(changes):
        assert warehouse.frame(texts)["text"].to_list() == ["new", "stays"]
        elsewhere = pool.submit(warehouse.frame, texts).result()
        assert elsewhere["text"].to_list() == ["old", "stays"]
    assert warehouse.frame(texts)["text"].to_list() == ["old", "stays"]


def test_changes_written_together_are_kept_together_or_not_at_all(warehouse: Warehouse) -> None:
    bad = report("y").model_copy(update={"text_sha": None})  # NOT NULL in the table
    with pytest.raises(duckdb.ConstraintException):
        warehouse.write(Change(Report, [report("x")]), Change(Report, [bad]))
    assert warehouse.value("SELECT count(*) FROM reports") == 0


def test_one_bad_change_in_a_shared_commit_does_not_take_its_neighbours(
    warehouse: Warehouse,
) -> None:
    async def write_all() -> list[object]:
        bad = report("bad").model_copy(update={"text_sha": None})
        rows = [report(str(n)) for n in range(20)] + [bad]
        writes = [warehouse.write_async(Change(Report, [row])) for row in rows]
        return list(await asyncio.gather(*writes, return_exceptions=True))

    outcomes = asyncio.run(write_all())
    assert outcomes[:-1] == [None] * 20
    assert isinstance(outcomes[-1], duckdb.ConstraintException)
    assert warehouse.value("SELECT count(*) FROM reports") == 20


def test_a_closed_warehouse_refuses_to_write(path: Path) -> None:
    with open_warehouse(path) as warehouse:
        pass
    with pytest.raises(LostWarehouse):
        warehouse.write(Change(Edition, [edition()]))


def test_opening_twice_in_one_process_shares_the_warehouse(path: Path) -> None:
    with open_warehouse(path) as outer:
        with open_warehouse(path) as inner:
            assert inner is outer
        outer.write(Change(Edition, [edition()]))


@pytest.mark.file_only
@pytest.mark.parametrize("content", [b"# Read me\n", b"", b"not a database" * 1000, None])
@pytest.mark.parametrize("opened", [open_warehouse, open_for_reading])
def test_what_cannot_be_a_warehouse_is_left_as_it_is_and_gets_no_lock_file(
    opened: Any, content: bytes | None, tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(DamagedWarehouse, match=r"notes\.txt is not a readable warehouse"):
        opened(path).__enter__()
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]
    assert content is None or path.read_bytes() == content


@pytest.mark.file_only
def test_a_foreign_database_is_refused_and_left_as_it_is(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE customers (name VARCHAR)")
    with pytest.raises(ForeignWarehouse, match="customers"), open_warehouse(path):
        pass
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SHOW TABLES").fetchall() == [("customers",)]


@pytest.mark.file_only
@pytest.mark.parametrize("opened", [open_warehouse, open_for_reading])
@pytest.mark.parametrize(
    ("version", "error", "says"),
    [
        (99, NewerWarehouse, "update Evergreen"),
        (11, OlderWarehouse, "make it anew in another file"),
    ],
)
def test_another_schema_is_refused_and_left_as_it_is(
    path: Path, version: int, error: type[Exception], says: str, opened: Any
) -> None:
    with open_warehouse(path):
        pass
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"UPDATE warehouse_info SET schema_version = {version}")
    with pytest.raises(error, match=f"schema version {version}; .*{says}"):
        opened(path).__enter__()
    with duckdb.connect(str(path)) as connection:
        found = connection.execute("SELECT schema_version FROM warehouse_info").fetchone()
    assert found == (version,)


@pytest.mark.parametrize("opened", [open_warehouse, open_for_reading])
def test_a_warehouse_of_the_oldest_schema_opens_with_its_rows_and_gets_what_is_new(
    path: Path, opened: Any
) -> None:
    row = a_row(LeaderboardRow)
    with open_warehouse(path) as warehouse:
        warehouse.write(Change(LeaderboardRow, [row]))
        identity = warehouse.id
    take_back_to_the_oldest_schema(path)
    with opened(path) as warehouse:
        found = warehouse.frame("SELECT * FROM leaderboard").to_dicts()
        assert [LeaderboardRow.model_validate(each) for each in found] == [row]
        assert warehouse.frame("SELECT * FROM leaderboard_wide").height == 1
        assert warehouse.frame("SELECT * FROM withheld_pages").is_empty()
    counted = row.model_copy(update={"n_delivered": 1, "n_missing": 0, "n_assignments": 1})
    seed = SeedPage(edition="e", agent="ann", url="https://a.org", raw_url="https://a.org")
    with open_warehouse(path) as warehouse:
        assert warehouse.id == identity
        assert warehouse.value("SELECT schema_version FROM warehouse_info") == SCHEMA_VERSION
        absent = a_row(AbsentPage, state="unknown", reason="nobody knows")
        warehouse.write(Change(LeaderboardRow, [counted]), Change(SeedPage, [seed]))
        warehouse.write(Change(AbsentPage, [absent]))
        assert warehouse.value("SELECT state FROM absent_pages") == "unknown"
        assert warehouse.rows(LeaderboardRow, "true") == [counted]
        assert warehouse.value("SELECT count(*) FROM withheld_pages") == 1


RENAMED = {
    ("wiki_fact", "ref_acc"): "ref_acc_readable",
    ("wiki_fact", "ref_acc_strict"): "ref_acc_claims",
    ("wiki_fact", "ref_acc_pairs"): None,
    ("wiki_fact", "ref_conflict"): "ref_conflict",
    ("research_gym", "citation_precision"): "citation_precision_readable",
    ("research_gym", "citation_precision_strict"): "citation_precision",
    ("rigorous", "rigorous_retrieval_index"): None,
    ("own", "ref_acc"): "ref_acc",
}
"""Figures by an earlier name, with today's."""
FIGURES = (Score, LeaderboardRow, AgentPair)


def write_figures(warehouse: Warehouse, edition: str) -> None:
    for model in FIGURES:
        of = [a_row(model, edition=edition, protocol=p, metric=metric) for p, metric in RENAMED]
        warehouse.write(Change(model, of))


def test_a_figure_whose_name_means_another_one_now_gets_the_name_it_has_today(path: Path) -> None:
    with open_warehouse(path) as warehouse:
        write_figures(warehouse, "e")
    take_back_to_the_oldest_schema(path)
    now = sorted((protocol, name) for (protocol, _), name in RENAMED.items() if name)
    with open_warehouse(path) as warehouse:
        for model in FIGURES:
            stored = f"SELECT protocol, metric FROM {model.table} ORDER BY ALL"
            assert warehouse.frame(stored).rows() == now
        [new] = [a_row(Score, protocol="wiki_fact", metric="ref_acc")]
        warehouse.write(Change(Score, [new]))
    with open_warehouse(path) as warehouse:  # names of today stay
        assert warehouse.frame("SELECT metric FROM scores").height == len(now) + 1
        assert warehouse.rows(Score, "metric = 'ref_acc' AND protocol = 'wiki_fact'") == [new]


def test_a_snapshot_of_before_the_upgrade_is_read_by_the_names_of_today(path: Path) -> None:
    with open_warehouse(path) as warehouse:
        for edition in ("old", "new"):
            write_figures(warehouse, edition)
            folder = export_edition(warehouse, edition)
            manifest = json.loads((folder / "manifest.json").read_text())
            assert manifest["schema_version"] == SCHEMA_VERSION
            if edition == "old":
                del manifest["schema_version"]
                (folder / "manifest.json").write_text(json.dumps(manifest))
    connection, _ = open_snapshot(path)
    with connection:
        for model in FIGURES:
            found = f"SELECT edition, protocol, metric FROM {model.table}"
            assert sorted(connection.sql(found).fetchall()) == sorted(
                [("old", protocol, name) for (protocol, _), name in RENAMED.items() if name]
                + [("new", *key) for key in RENAMED]
            )


def test_what_the_audit_of_an_older_warehouse_says_is_carried_over(path: Path) -> None:
    """What `status`, hints, `publish` and messages about missing writes read afterwards."""
    hours = iter(range(24))

    def done(
        name: str, outcome: str = "ok", *, edition: str | None = "e", **given: Any
    ) -> AuditEntry:
        began = DAY + timedelta(hours=next(hours))
        ended = None if outcome == "begun" else began + timedelta(minutes=1)
        return a_row(AuditEntry, audit_id=str(began), name=name, edition=edition, began_at=began,
                     outcome=outcome, ended_at=ended, parameters=json.dumps(given))  # fmt: skip

    entries = [
        done("publish", to="site", judge=["j"]), done("publish", to="by-flow", judges=["k"]),
        done("publish", "incomplete", to="asked"), done("publish", "failed", to="nowhere"),
        done("import reports"), done("fetch", "incomplete"), done("fetch", "begun"),
        done("fetch", edition="late"), done("ask", edition="late"),
        done("refresh", "failed", edition=None, agents=["a"]), done("refresh", edition="month"),
        done("backup", edition=None, to="b"), done("backup", "failed", edition=None, to="c"),
        done("collect"), a_row(AuditEntry, audit_id="no JSON", name="backup", parameters="{"),
    ]  # fmt: skip
    with open_warehouse(path) as warehouse:
        warehouse.write(Change(AuditEntry, entries), Change(Report, [report("x")]))
    take_back_to_the_oldest_schema(path)
    with open_warehouse(path) as warehouse:
        assert warehouse.rows(AuditEntry, "true") == sorted(entries, key=lambda row: row.audit_id)
        sites = [(row.folder, row.judges, row.is_written)
                 for row in warehouse.rows(Publication, "edition = 'e'")]  # fmt: skip
        assert sites == [
            ("site", '["j"]', True), ("by-flow", '["k"]', True), ("asked", "[]", False)
        ]  # fmt: skip
        refreshes = [(row.edition, row.outcome, row.options)
                     for row in warehouse.rows(MonthRefresh, "true")]  # fmt: skip
        assert refreshes == [("", "begun", '{"agents": ["a"]}'), ("month", "ok", "{}")]
        [fetched] = warehouse.rows(FetchedEdition, "true")
        assert (fetched.edition, fetched.ended_at) == ("e", DAY + timedelta(hours=5, minutes=1))
        now = f"SELECT {REPORTS_SHA} FROM reports WHERE edition = 'e'"
        assert fetched.reports_sha == warehouse.value(now)
        assert [row.place for row in warehouse.rows(KnownBackup, "true")] == ["b"]


def take_back_to_the_oldest_schema(path: Path) -> None:
    """Remove a table, columns and the views that came later, from a file or a lake."""
    added = ("value_present", "value_zero", "n_delivered", "n_missing", "n_assignments", "unranked")
    where = parse_location(path)
    with connect_lake(where) if isinstance(where, DuckLake) else duckdb.connect(str(path)) as old:
        views = (
            "SELECT view_name FROM duckdb_views() "
            "WHERE NOT internal AND database_name = current_database()"
        )
        for (view,) in old.execute(views).fetchall():
            old.execute(f'DROP VIEW "{view}"')
        for column in added:
            old.execute(f"ALTER TABLE leaderboard DROP COLUMN {column}")
        old.execute("ALTER TABLE candidates DROP COLUMN maintenance_tags")
        of_refused = {
            "leaderboard": ("n_blocked", "blocked_share", "bound_low", "bound_high"),
            "scores": ("n_blocked", "bound_low", "bound_high", "bound_items"),
            "verdicts": ("decided_by", "refused_call"),
        }
        for table, columns in of_refused.items():
            for column in columns:
                old.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        for table in ("calls", "jobs"):
            for column in ("cache_write_tokens", "cache_write_hour_tokens"):
                old.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        later = ("publications", "refreshes", "fetched_editions", "backups")
        for table in ("seed_pages", "absent_pages", *later):
            old.execute(f"DROP TABLE {table}")
        old.execute(f"UPDATE warehouse_info SET schema_version = {OLDEST_UPGRADABLE}")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(UnwritableWarehouse, match="file"),
        open_warehouse(tmp_path / "file" / "warehouse.duckdb"),
    ):
        pass


def test_an_export_holds_the_editions_rows_and_replaces_the_one_before(path: Path) -> None:
    with open_warehouse(path) as warehouse:
        warehouse.write(
            Change(Edition, [edition("e"), edition("f")]), Change(Report, [report("x")])
        )
        for _ in range(4):
            export_edition(warehouse, "e")
        [(folder, manifest)] = load_latest_manifests(path)
        assert manifest.rows["editions"] == manifest.rows["reports"] == 1
        assert manifest.warehouse_id == warehouse.id
        kept = [p for p in folder.parent.iterdir() if p.name != "latest"]
        assert len(kept) == 2


@pytest.mark.file_only
def test_reading_while_another_holds_it_answers_from_the_export_and_says_so(path: Path) -> None:
    with open_warehouse(path) as warehouse:
        warehouse.write(Change(Report, [report("x")]))
        with pytest.raises(WarehouseError, match="no snapshot yet"):
            run_query(path, "SELECT 1")
        export_edition(warehouse, "e")
        warehouse.write(Change(Report, [report("y")]))
        frame, notice = run_query(path, "SELECT assignment FROM reports")
    assert frame["assignment"].to_list() == ["x"]
    assert notice
    assert "reading its snapshot" in notice
    frame, notice = run_query(path, "SELECT assignment FROM reports ORDER BY 1")
    assert frame["assignment"].to_list() == ["x", "y"]
    assert notice is None


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE reports",
        "INSERT INTO editions VALUES ('x', 'y', NULL, now())",
        "COPY reports TO 'reports.csv'",
        "SELECT 1; SELECT 2",
        "ATTACH 'other.duckdb'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELEC 1",
    ],
)
def test_sql_that_does_more_than_read_is_refused(path: Path, statement: str) -> None:
    with open_warehouse(path):
        pass
    with pytest.raises(WarehouseError):
        run_query(path, statement)


def test_reading_a_warehouse_that_is_not_there_says_what_to_do(path: Path) -> None:
    with pytest.raises(WarehouseError, match="evergreen demo"), open_for_reading(path):
        pass
    assert not path.exists()


@pytest.mark.parametrize("text", ["a'b", '"', "\\", "\ud800", "'); DROP TABLE editions; --"])
def test_whatever_stands_in_a_text_it_is_stored_replaced_and_found(
    warehouse: Warehouse, text: str
) -> None:
    names = [replace_surrogates(f"{text}{number}") for number in range(20)]
    warehouse.write(Change(Edition, [edition(name) for name in names]))
    again = Edition(edition=names[0], source="again")
    warehouse.write(Change(Edition, [again], replacing={"edition": names[0]}))
    found = warehouse.rows(Edition, "edition IN (SELECT unnest($1))", [names[:3]])
    assert {row.edition: row.source for row in found} == {
        names[0]: "again", names[1]: "test", names[2]: "test",
    }  # fmt: skip
    assert len(warehouse.rows(Edition, "true")) == len(names)
