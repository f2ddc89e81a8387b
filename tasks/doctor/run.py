"""Every check, in the order in which things stand on one another."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from tasks.doctor.configuration import check_configuration, check_keys, check_models, check_operator
from tasks.doctor.disk import check_disk
from tasks.doctor.finding import Finding, checked
from tasks.doctor.network import check_reach, endpoints, time_zone
from tasks.doctor.relevance import InUse, in_use
from tasks.doctor.server import Server, check_server, without_server
from tasks.doctor.software import check_software
from tasks.doctor.warehouse import (
    check_archive,
    check_exports,
    check_lake,
    check_tables,
    looked_at,
)
from tasks.doctor.work import check_batches, check_editions, check_jobs, check_month_to_come
from tasks.editions.names import check_known
from tasks.warehouse.location import DuckLake, Location
from tasks.warehouse.reading import Reading
from tasks.warehouse.rows import utc_now

Checks = Callable[[], Iterable[Finding]]


@dataclass(frozen=True)
class Looked:
    """What is to be looked at."""

    where: Location
    prefect_home: Path
    api_url: str | None
    """Of the Prefect server that is configured, or runs here; None: there is none."""
    edition: str | None = None
    """Whose work is looked through; None: that of the newest."""
    offline: bool = False
    """Nothing is asked outside this machine and its servers."""
    deep: bool = False
    """Every row and every page is read."""


def examine(looked: Looked) -> Iterator[Finding]:
    """The findings as they come. The warehouse is held only while it is read.

    Raises:
        UnknownName: the warehouse has no such edition.
    """
    yield from checked("software", check_software)
    yield from checked("configuration", lambda: chain(check_configuration(), check_operator()))
    of_warehouse, used = _warehouse(looked)
    server = Server(looked.api_url) if looked.api_url else None
    blocks = server.has_block if server else lambda name: None
    yield from checked("keys", lambda: check_keys(used, blocks))
    yield from checked("configuration", lambda: check_models(used, utc_now().date()))
    if not looked.offline:
        yield from checked("endpoints", lambda: check_reach(endpoints(used)))
    yield from checked("clock", lambda: [time_zone()])
    if server:
        yield from checked("prefect", partial(check_server, server))
    else:
        yield without_server(str(looked.prefect_home))
    yield from of_warehouse
    yield from checked("disk", lambda: check_disk(looked.where, [looked.prefect_home]))


def _warehouse(looked: Looked) -> tuple[list[Finding], InUse]:
    """What is found in the warehouse, all at once, and which judges and agents it has used."""
    with looked_at(looked.where) as (source, found):
        if source is None:
            return found, in_use(None)
        if looked.edition:
            check_known(source, looked.edition)
        of_tables = [checked(group, checks) for group, checks in _checks(source, looked)]
        return [*found, *chain.from_iterable(of_tables)], in_use(source)


def _checks(source: Reading, looked: Looked) -> Iterator[tuple[str, Checks]]:
    where = looked.where
    if source.notice is None:  # an export holds editions, not the whole
        yield "warehouse", partial(check_tables, source, looked.deep)
        yield "warehouse", partial(check_archive, source, where, looked.deep)
        yield "warehouse", partial(check_exports, source, where)
        if isinstance(where, DuckLake):
            yield "warehouse", partial(check_lake, where)
    yield "work", partial(check_jobs, source, looked.edition)
    yield "work", partial(check_batches, source)
    yield "work", partial(check_month_to_come, source)
    yield "work", partial(check_editions, source, looked.edition)
