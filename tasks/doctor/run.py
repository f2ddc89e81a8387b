"""Run every check, dependencies first."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from tasks.doctor.configuration import check_configuration, check_keys, check_models, check_operator
from tasks.doctor.disk import check_disk
from tasks.doctor.finding import Finding, run_checks
from tasks.doctor.network import check_endpoints, describe_time_zone, find_endpoints
from tasks.doctor.relevance import NamesInUse, find_names_in_use
from tasks.doctor.server import PrefectServer, check_server, describe_no_server
from tasks.doctor.software import check_software
from tasks.doctor.warehouse import (
    check_archive,
    check_exports,
    check_lake,
    check_tables,
    open_and_check,
)
from tasks.doctor.work import check_batches, check_editions, check_jobs, check_next_month
from tasks.editions.names import check_known
from tasks.warehouse.location import DuckLake, Location
from tasks.warehouse.reader import ReadOnlyWarehouse
from tasks.warehouse.rows import utc_now

Checks = Callable[[], Iterable[Finding]]


@dataclass(frozen=True)
class DoctorScope:
    """What to check, and how thoroughly."""

    where: Location
    prefect_home: Path
    api_url: str | None
    """The API of the configured Prefect server, or of one that runs here; None: there is none."""
    edition: str | None = None
    """The edition whose pending work is checked; None: the newest ones."""
    offline: bool = False
    """Whether to contact nothing outside this machine and its servers."""
    deep: bool = False
    """Whether to read every row and every page."""


def examine(scope: DoctorScope) -> Iterator[Finding]:
    """Yield the findings of all checks. The warehouse is locked only while it is read.

    Raises:
        UnknownName: the warehouse has no such edition.
    """
    yield from run_checks("software", check_software)
    yield from run_checks("configuration", lambda: chain(check_configuration(), check_operator()))
    of_warehouse, used = _check_warehouse(scope)
    server = PrefectServer(scope.api_url) if scope.api_url else None
    blocks = server.has_block if server else lambda name: None
    yield from run_checks("keys", lambda: check_keys(used, blocks))
    yield from run_checks("configuration", lambda: check_models(used, utc_now().date()))
    if not scope.offline:
        yield from run_checks("endpoints", lambda: check_endpoints(find_endpoints(used)))
    yield from run_checks("clock", lambda: [describe_time_zone()])
    if server:
        yield from run_checks("prefect", partial(check_server, server))
    else:
        yield describe_no_server(str(scope.prefect_home))
    yield from of_warehouse
    yield from run_checks("disk", lambda: check_disk(scope.where, [scope.prefect_home]))


def _check_warehouse(scope: DoctorScope) -> tuple[list[Finding], NamesInUse]:
    """Return all findings about the warehouse, and the judges and agents it has used."""
    with open_and_check(scope.where) as (source, found):
        if source is None:
            return found, find_names_in_use(None)
        if scope.edition:
            check_known(source, scope.edition)
        of_tables = [
            run_checks(group, checks) for group, checks in _warehouse_checks(source, scope)
        ]
        return [*found, *chain.from_iterable(of_tables)], find_names_in_use(source)


def _warehouse_checks(
    source: ReadOnlyWarehouse, scope: DoctorScope
) -> Iterator[tuple[str, Checks]]:
    where = scope.where
    if source.notice is None:  # an export lacks some of the tables
        yield "warehouse", partial(check_tables, source, scope.deep)
        yield "warehouse", partial(check_archive, source, where, scope.deep)
        yield "warehouse", partial(check_exports, source, where)
        if isinstance(where, DuckLake):
            yield "warehouse", partial(check_lake, where)
    yield "work", partial(check_jobs, source, scope.edition)
    yield "work", partial(check_batches, source)
    yield "work", partial(check_next_month, source)
    yield "work", partial(check_editions, source, scope.edition)
