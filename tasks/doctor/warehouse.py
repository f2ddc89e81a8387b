"""Check that the warehouse opens, who is using it, and that it is consistent.

Reads the warehouse itself if it is free, else its latest export.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta

from tasks.base import format_count
from tasks.doctor.finding import Found
from tasks.warehouse.compaction import measure_lake
from tasks.warehouse.contents import FileStore, PageStore, files_folder, pages_folder
from tasks.warehouse.errors import DamagedWarehouse, WarehouseBusy, WarehouseError, first_line
from tasks.warehouse.file_lock import lock_warehouse, read_holder
from tasks.warehouse.lake import lake_exists
from tasks.warehouse.location import DuckDBFile, DuckLake, Location
from tasks.warehouse.reader import ReadOnlyWarehouse, open_for_reading
from tasks.warehouse.rows import utc_now
from tasks.warehouse.schema import check_file, connect
from tasks.warehouse.snapshot import load_latest_manifests
from tasks.warehouse.store import Readable
from tasks.warehouse.tables import TABLES

LONG = timedelta(days=1)
SAMPLED = 25
"""Pages and files to unpack if not all are."""
MANY_FILES, MANY_ROWS = 500, 50_000
"""Numbers of small files and of rows in the catalog that make a compaction worthwhile."""
COUNTED_TABLES = (
    "editions",
    "articles",
    "reports",
    "facts",
    "claims",
    "pages",
    "verdicts",
    "calls",
)
BROKEN_REFERENCES = {
    "verdicts without their cell": "SELECT count(*) FROM verdicts AS v "
    "ANTI JOIN cells AS c USING (cell_id)",
    "judged cells with a wrong number of verdicts": "SELECT count(*) FROM ("
    "SELECT c.cell_id FROM cells AS c LEFT JOIN verdicts AS v USING (cell_id) "
    "WHERE c.status = 'done' GROUP BY c.cell_id, c.n_verdicts "
    "HAVING count(v.cell_id) <> c.n_verdicts)",
    "verdicts without their call in the ledger": "SELECT count(*) FROM ("
    "SELECT unnest([call_id, refused_call]) AS call_id FROM verdicts) AS v "
    "ANTI JOIN calls AS c USING (call_id) WHERE v.call_id IS NOT NULL",
    "claims without their report": "SELECT count(*) FROM claims AS c "
    "ANTI JOIN reports AS r USING (edition, agent, assignment)",
    "citations without their claim": "SELECT count(*) FROM citations AS z "
    "ANTI JOIN claims AS c USING (edition, agent, assignment, number)",
    "reports without their assignment": "SELECT count(*) FROM reports AS r "
    "ANTI JOIN assignments AS a USING (edition, assignment)",
    "assignments without their edition": "SELECT count(*) FROM assignments AS a "
    "ANTI JOIN editions AS e USING (edition)",
}
"""A query that counts each kind of broken reference."""
EXPORTED_TABLES = ("reports", "verdicts", "leaderboard")
"""Tables of an export whose numbers of rows are compared."""
STUCK = (
    "Check whether that process still makes progress (its run in the Prefect UI, its log); if not, "
    "end it: what it committed is kept."
)
COMPACT = "evergreen compact, ideally every night: queries open every file."
RESTORE_MISSING = "`evergreen backup restore` restores the missing ones."
RESTORE = "Restore it from a backup: evergreen backup restore FOLDER."


@contextmanager
def open_and_check(where: Location) -> Iterator[tuple[ReadOnlyWarehouse | None, list[Found]]]:
    """Open the warehouse for reading (None if that fails), with the findings so far."""
    found = [_check_access(where)]
    with ExitStack() as stack:
        source: ReadOnlyWarehouse | None = None
        if found[0].status in ("ok", "warn"):
            try:
                source = stack.enter_context(open_for_reading(where))
                found.append(_describe_opened(source, where))
                if source.lost:
                    found.append(Found("fail", source.lost, RESTORE, "writes"))
            except WarehouseError as error:
                found.append(_describe_failure(error))
        yield source, found


def check_tables(source: Readable, deep: bool) -> Iterator[Found]:
    """Check that keys are unique and references hold; if deep, that every row can be read."""
    for model in TABLES if deep else ():
        try:
            source.frame(f"SELECT bit_xor(hash(t)) FROM {model.table} AS t")
        except Exception as error:  # DuckDB raises many types for a damaged block
            yield Found("fail", f"{model.table} cannot be read: {first_line(error)}", check="rows")
            return
    duplicates = {}
    for model in TABLES:
        columns = ", ".join(f'"{column}"' for column in model.key)
        sql = f"SELECT {columns} FROM {model.table} GROUP BY ALL HAVING count(*) > 1"
        if n := int(source.frame(f"SELECT count(*) FROM ({sql})").item()):
            duplicates[model.table] = n
    if duplicates:
        text = ", ".join(f"{n:,} in {table}" for table, n in duplicates.items())
        yield Found("fail", f"duplicates: {text}.", check="keys")
    else:
        text = f"no duplicates in any of {len(TABLES)} tables"
        read = "; every row was read" if deep else ""
        yield Found("ok", f"{text}{read}.", check="keys")
    broken = {what: n for what, sql in BROKEN_REFERENCES.items() if (n := source.frame(sql).item())}
    for what, n in broken.items():
        yield Found("fail", f"{n:,} {what}.", check="references")
    if not broken:
        yield Found("ok", "all references between tables hold.", check="references")


def check_archive(source: Readable, where: Location, deep: bool) -> Iterator[Found]:
    """Check that the bytes of pages and files exist and are unchanged."""
    limit = "" if deep else f" ORDER BY random() LIMIT {SAMPLED}"
    pages, files = PageStore(pages_folder(where)), FileStore(files_folder(where))
    for what, table, get in (("pages", "fetches", pages.get), ("files", "report_files", files.get)):
        named = f"SELECT DISTINCT sha FROM {table} WHERE sha IS NOT NULL"
        total = source.frame(f"SELECT count(*) FROM ({named})").item()
        shas = source.frame(f"FROM ({named}){limit}")["sha"].to_list()
        lost = []
        for sha in shas:
            try:
                get(sha)
            except DamagedWarehouse as error:
                lost.append(first_line(error))
        if lost:
            text = f"{len(lost):,} of {len(shas):,} checked are missing or damaged: {lost[0]}"
            yield Found("fail", text, check=what)
        elif total:
            text = f"{len(shas):,} of {total:,} unpacked; all are intact."
            yield Found("ok", text, check=what)


def check_exports(source: Readable, where: Location) -> Iterator[Found]:
    """Check that the exports, which people read while a flow runs, match the tables."""
    for folder, manifest in load_latest_manifests(where):
        counts = {
            table: source.frame(
                f"SELECT count(*) FROM {table} WHERE edition = $1", [manifest.edition]
            ).item()
            for table in EXPORTED_TABLES
        }
        behind = [table for table, n in counts.items() if manifest.rows.get(table, 0) != n]
        at = manifest.exported_at
        hours = (utc_now() - at).total_seconds() / 3600
        passed = f"{hours / 24:,.0f} days" if hours >= 48 else f"{hours:,.1f} hours"
        text = f"{manifest.edition}: exported {at:%Y-%m-%d %H:%M} UTC ({passed} ago)"
        if behind:
            advice = f"evergreen evaluate --edition {manifest.edition} brings it up to date."
            changed = f"since then {', '.join(behind)} have changed ({folder})."
            yield Found("warn", f"{text}; {changed}", advice)
        else:
            yield Found("ok", f"{text}; matches the tables.")


def check_lake(where: Location) -> Iterator[Found]:
    """Check whether the lake, if it is one, should be compacted."""
    if not isinstance(where, DuckLake):
        return
    size = measure_lake(where)
    text = (
        f"{size.files:,} files ({size.small_files:,} below 10 MB) with {size.bytes / 1e6:,.1f} MB, "
        f"{size.inlined_rows:,} rows in the catalog, {size.snapshots:,} states"
    )
    is_split = size.small_files > MANY_FILES or size.inlined_rows > MANY_ROWS
    yield Found("warn" if is_split else "ok", f"{text}.")


def _check_access(where: Location) -> Found:
    """Check that there is a warehouse, and who is using it."""
    assert isinstance(where, DuckDBFile | DuckLake)
    try:
        exists = lake_exists(where) if isinstance(where, DuckLake) else where.path.exists()
    except WarehouseError as error:
        advice = "Start its Postgres, or correct the address."
        return Found("fail", first_line(error), advice, "catalog")
    if not exists:
        advice = "evergreen demo, evergreen import or evergreen collect creates one."
        return Found("skipped", f"there is no warehouse at {where} yet.", advice, "there")
    if isinstance(where, DuckDBFile):
        return _check_owner(where)
    return Found("ok", f"Postgres answers for {where}.", check="catalog")


def _check_owner(where: DuckDBFile) -> Found:
    try:
        check_file(where.path)
        with lock_warehouse(where.path, wait_seconds=0, only_reads=True):
            connect(where.path, read_only=True).close()
    except WarehouseBusy as busy:
        holder = read_holder(where.path)
        since = _parse_time(holder.since) if holder else None
        if since and utc_now() - since > LONG:
            return Found("warn", f"{busy.line}: for more than a day.", STUCK, "owner")
        return Found("ok", f"{busy.line}.", check="owner")
    except WarehouseError:
        pass  # opening it explains it
    return Found("ok", "no process is using it.", check="owner")


def _describe_opened(source: ReadOnlyWarehouse, where: Location) -> Found:
    counts = {
        table: source.frame(f"SELECT count(*) FROM {table}").item() for table in COUNTED_TABLES
    }
    rows = ", ".join(format_count(n, table.removesuffix("s"), table) for table, n in counts.items())
    if source.notice:
        return Found("skipped", f"{first_line(source.notice)} It has {rows}.", check="opens")
    schema = source.frame("SELECT schema_version FROM warehouse_info").item()
    size = f", {where.path.stat().st_size / 1e6:,.1f} MB" if isinstance(where, DuckDBFile) else ""
    return Found("ok", f"{where}: schema {schema}{size}; {rows}.", check="opens")


def _describe_failure(error: WarehouseError) -> Found:
    text = first_line(error)
    if isinstance(error, DamagedWarehouse):
        return Found("fail", text, RESTORE, "opens")
    if type(error) is WarehouseError:  # busy without an export, or of an older schema
        return Found("warn", text, "Before an update: evergreen backup --to FOLDER", "opens")
    return Found("fail", text, check="opens")


def _parse_time(text: str) -> datetime | None:
    """Parse the start time in a lock file."""
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC)
    except ValueError:
        return None
