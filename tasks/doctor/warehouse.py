"""Whether the warehouse can be opened, who owns it, and whether it holds together.

It is only read: from the warehouse itself where that is free, else from its last export.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta

from tasks.doctor.finding import About, Finding, Status
from tasks.warehouse.errors import DamagedWarehouse, WarehouseBusy, WarehouseError, first_line
from tasks.warehouse.files import FileStore, files_folder
from tasks.warehouse.lake import is_made
from tasks.warehouse.lake_maintenance import LakeSize, measured
from tasks.warehouse.location import DuckDBFile, DuckLake, Location
from tasks.warehouse.lock import holder_of, own
from tasks.warehouse.page_store import PageStore, pages_folder
from tasks.warehouse.reading import Reading, reading
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import latest_manifests
from tasks.warehouse.store import Readable
from tasks.warehouse.tables import TABLES

ABOUT = About("warehouse")
LONG = timedelta(days=1)
SAMPLED = 25
"""Pages and files that are unpacked where not all are."""
MANY_FILES, MANY_ROWS = 500, 50_000
"""Small files, and rows in the catalog, from which on a compaction is worth its while."""
COUNTED = ("editions", "articles", "reports", "facts", "claims", "pages", "verdicts", "calls")
BROKEN = {
    "verdicts whose cell is not there": "SELECT count(*) FROM verdicts AS v "
    "ANTI JOIN cells AS c USING (cell_id)",
    "judged cells with another number of verdicts than they say": "SELECT count(*) FROM ("
    "SELECT c.cell_id FROM cells AS c LEFT JOIN verdicts AS v USING (cell_id) "
    "WHERE c.status = 'done' GROUP BY c.cell_id, c.n_verdicts "
    "HAVING count(v.cell_id) <> c.n_verdicts)",
    "verdicts whose model call is not in the ledger": "SELECT count(*) FROM verdicts AS v "
    "ANTI JOIN calls AS c USING (call_id) WHERE v.call_id IS NOT NULL",
    "claims whose report is not there": "SELECT count(*) FROM claims AS c "
    "ANTI JOIN reports AS r USING (edition, agent, assignment)",
    "citations whose claim is not there": "SELECT count(*) FROM citations AS z "
    "ANTI JOIN claims AS c USING (edition, agent, assignment, number)",
    "reports whose assignment is not there": "SELECT count(*) FROM reports AS r "
    "ANTI JOIN assignments AS a USING (edition, assignment)",
    "assignments whose edition is not there": "SELECT count(*) FROM assignments AS a "
    "ANTI JOIN editions AS e USING (edition)",
}
"""By what is wrong, a query for how often."""
STUCK = (
    "Look whether that process still works (its run in the Prefect UI, its log); if not, end it: "
    "what it committed is kept."
)
COMPACT = "evergreen compact, best every night: queries open every file."
RESTORE = "Restore it from a backup (docs/operators.md: Restoring)."


@contextmanager
def looked_at(where: Location) -> Iterator[tuple[Reading | None, list[Finding]]]:
    """The warehouse for reading, or None; and what was found on the way."""
    found = [*_there(where)]
    with ExitStack() as stack:
        source: Reading | None = None
        if all(each.status in ("ok", "warn") for each in found):
            try:
                source = stack.enter_context(reading(where))
                found.append(_opened(source, where))
            except WarehouseError as error:
                found.append(_unopened(error))
        yield source, found


def check_tables(source: Readable, deep: bool) -> Iterator[Finding]:
    """Whether keys are unique and every row has what it belongs to.

    deep: also whether every row can be read.
    """
    for model in TABLES if deep else ():
        try:
            source.frame(f"SELECT bit_xor(hash(t)) FROM {model.table} AS t")
        except Exception as error:  # DuckDB has many kinds for a block that is not what it was
            yield ABOUT.fail("rows", f"{model.table} cannot be read: {first_line(error)}", RESTORE)
            return
    twice = {model.table: n for model in TABLES if (n := _twice(source, model.table, model.key))}
    if twice:
        said = ", ".join(f"{n:,} in {table}" for table, n in twice.items())
        yield ABOUT.fail("keys", f"there more than once: {said}.", RESTORE)
    else:
        said = f"no key is there twice in any of {len(TABLES)} tables"
        yield ABOUT.ok("keys", f"{said}{'; every row was read' if deep else ''}.")
    broken = {what: n for what, sql in BROKEN.items() if (n := source.frame(sql).item())}
    for what, n in broken.items():
        yield ABOUT.fail("references", f"{n:,} {what}.", RESTORE)
    if not broken:
        yield ABOUT.ok("references", "every verdict, claim and citation has what it rests on.")


def check_archive(source: Readable, where: Location, deep: bool) -> Iterator[Finding]:
    """Whether the bytes of pages and files are there, and what they were."""
    limit = "" if deep else f" ORDER BY random() LIMIT {SAMPLED}"
    pages, files = PageStore(pages_folder(where)), FileStore(files_folder(where))
    for what, table, get in (
        ("pages", "fetches", pages.get),
        ("files", "report_files", files.get),
    ):
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
            said = f"{len(lost):,} of {len(shas):,} looked at are missing or damaged: {lost[0]}"
            yield ABOUT.fail(what, said, "`evergreen restore` brings back those that are missing.")
        elif total:
            yield ABOUT.ok(what, f"{len(shas):,} of {total:,} unpacked; all are what they were.")


def check_exports(source: Readable, where: Location) -> Iterator[Finding]:
    """Whether what people read while a flow runs is what the tables hold."""
    for folder, manifest in latest_manifests(where):
        now = dict(
            source.frame(
                "SELECT 'reports', count(*) FROM reports WHERE edition = $1 UNION ALL "
                "SELECT 'verdicts', count(*) FROM verdicts WHERE edition = $1 UNION ALL "
                "SELECT 'leaderboard', count(*) FROM leaderboard WHERE edition = $1",
                [manifest.edition],
            ).iter_rows()
        )
        behind = [table for table, n in now.items() if manifest.rows.get(table, 0) != n]
        said = f"{manifest.edition}: of {_ago(manifest.exported_at)}"
        if behind:
            yield ABOUT.warn(
                "export",
                f"{said}; since then {', '.join(behind)} have changed ({folder}).",
                f"evergreen evaluate --edition {manifest.edition} brings it up to date.",
            )
        else:
            yield ABOUT.ok("export", f"{said}, as the tables.")


def check_lake(where: DuckLake) -> Iterator[Finding]:
    """Whether the lake should be compacted."""
    size = measured(where)
    said = (
        f"{size.files:,} files ({size.small_files:,} below 10 MB) with {size.bytes / 1e6:,.1f} MB, "
        f"{size.inlined_rows:,} rows in the catalog, {size.snapshots:,} states"
    )
    status: Status = "warn" if _is_scattered(size) else "ok"
    yield ABOUT.told(status, "lake", f"{said}.", COMPACT)


def _is_scattered(size: LakeSize) -> bool:
    return size.small_files > MANY_FILES or size.inlined_rows > MANY_ROWS


def _there(where: Location) -> Iterator[Finding]:
    """Whether there is a warehouse, and who owns it."""
    if isinstance(where, DuckLake):
        try:
            made = is_made(where)
        except WarehouseError as error:
            yield ABOUT.fail(
                "catalog", first_line(error), "Start its Postgres, or correct the address."
            )
            return
        yield ABOUT.ok("catalog", f"Postgres answers for {where}.") if made else _nothing(where)
        return
    assert isinstance(where, DuckDBFile)
    if not where.path.exists():
        yield _nothing(where)
        return
    yield _owner(where)


def _owner(where: DuckDBFile) -> Finding:
    try:
        with own(where.path, wait_seconds=0):
            return ABOUT.ok("owner", "nobody is at work in it.")
    except WarehouseBusy as busy:
        holder = holder_of(where.path)
        since = _moment(holder.since) if holder else None
        if since and utc_now() - since > LONG:
            return ABOUT.warn("owner", f"{busy.line}: for more than a day.", STUCK)
        return ABOUT.ok("owner", f"{busy.line}.")


def _opened(source: Reading, where: Location) -> Finding:
    counts = " UNION ALL ".join(f"SELECT '{t}' AS t, count(*) AS n FROM {t}" for t in COUNTED)
    rows = ", ".join(f"{n:,} {name}" for name, n in source.frame(counts).iter_rows())
    if source.notice:
        said = f"{first_line(source.notice)} It has {rows}."
        return ABOUT.skipped("opens", said)
    schema = source.frame("SELECT schema_version FROM warehouse_info").item()
    size = f", {where.path.stat().st_size / 1e6:,.1f} MB" if isinstance(where, DuckDBFile) else ""
    return ABOUT.ok("opens", f"{where}: schema {schema}{size}; {rows}.")


def _unopened(error: WarehouseError) -> Finding:
    said = first_line(error)
    if isinstance(error, DamagedWarehouse):
        return ABOUT.fail("opens", said, RESTORE)
    if type(error) is WarehouseError:  # busy without an export, or of an older schema
        return ABOUT.warn("opens", said, "Before an update: evergreen backup --to FOLDER")
    return ABOUT.fail("opens", said, None)


def _twice(source: Readable, table: str, key: tuple[str, ...]) -> int:
    columns = ", ".join(f'"{column}"' for column in key)
    sql = f"SELECT {columns} FROM {table} GROUP BY ALL HAVING count(*) > 1"
    return int(source.frame(f"SELECT count(*) FROM ({sql})").item())


def _moment(text: str) -> datetime | None:
    """What stands in a lock's file as the time since."""
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC)
    except ValueError:
        return None


def _ago(moment: datetime) -> str:
    hours = (utc_now() - moment).total_seconds() / 3600
    passed = f"{hours / 24:,.0f} days" if hours >= 48 else f"{hours:,.1f} hours"
    return f"{moment:%Y-%m-%d %H:%M} UTC ({passed} ago)"


def _nothing(where: Location) -> Finding:
    return ABOUT.skipped(
        "there",
        f"there is no warehouse at {where} yet.",
        "evergreen demo, evergreen import or evergreen collect begins one.",
    )
