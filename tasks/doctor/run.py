"""Run every check, dependencies first."""

from collections.abc import Iterator
from pathlib import Path

from tasks.doctor.configuration import check_configuration, check_keys, check_models, check_operator
from tasks.doctor.disk import check_disk
from tasks.doctor.finding import Finding, run_checks
from tasks.doctor.network import check_endpoints, describe_time_zone, find_endpoints
from tasks.doctor.server import PrefectServer, check_server, describe_no_server
from tasks.doctor.services import NamesInUse, find_names_in_use
from tasks.doctor.software import check_software
from tasks.doctor.warehouse import (
    check_archive,
    check_exports,
    check_lake,
    check_tables,
    open_and_check,
)
from tasks.doctor.work import check_batches, check_editions, check_jobs, check_next_month
from tasks.editions.names import check_edition
from tasks.warehouse.location import DuckLake, Location
from tasks.warehouse.rows import utc_now


def examine(
    where: Location,
    prefect_home: Path,
    server: PrefectServer | None,
    *,
    edition: str | None,
    offline: bool,
    deep: bool,
) -> Iterator[Finding]:
    """Yield the findings of all checks. The warehouse is locked only while it is read.

    Args:
        server: the configured Prefect server, or one that runs here; None: there is none.
        edition: the edition whose pending work is checked; None: the newest ones.
        offline: whether to contact nothing outside this machine and its servers.
        deep: whether to read every row and every page.

    Raises:
        UnknownName: the warehouse has no such edition.
    """
    yield from run_checks("software", check_software)
    yield from run_checks("configuration", check_configuration)
    yield from run_checks("configuration", check_operator)
    of_warehouse, used = _check_warehouse(where, edition, deep)
    blocks = server.has_block if server else lambda name: None
    yield from run_checks("keys", check_keys, used, blocks)
    yield from run_checks("configuration", check_models, used, utc_now().date())
    if not offline:
        yield from run_checks("endpoints", lambda: check_endpoints(find_endpoints(used)))
    yield from run_checks("clock", lambda: [describe_time_zone()])
    if server:
        yield from run_checks("prefect", check_server, server)
    else:
        yield describe_no_server(str(prefect_home))
    yield from of_warehouse
    yield from run_checks("disk", check_disk, where, [prefect_home])


def _check_warehouse(
    where: Location, edition: str | None, deep: bool
) -> tuple[list[Finding], NamesInUse]:
    """Return all findings about the warehouse, and the judges and agents it has used."""
    with open_and_check(where) as (source, found):
        if source is None:
            return found, find_names_in_use(None)
        findings = [*found]
        if edition:
            check_edition(source, edition)
        if source.notice is None:  # an export lacks some of the tables
            findings += run_checks("warehouse", check_tables, source, deep)
            findings += run_checks("warehouse", check_archive, source, where, deep)
            findings += run_checks("warehouse", check_exports, source, where)
            if isinstance(where, DuckLake):
                findings += run_checks("warehouse", check_lake, where)
        findings += run_checks("work", check_jobs, source, edition)
        findings += run_checks("work", check_batches, source)
        findings += run_checks("work", check_next_month, source)
        findings += run_checks("work", check_editions, source, edition)
        return findings, find_names_in_use(source)
