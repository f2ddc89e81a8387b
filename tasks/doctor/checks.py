"""The list of what `evergreen doctor` checks, and `examine`, which goes through it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from tasks.configuration.errors import ConfigurationError
from tasks.doctor import configuration, machine, network, server, warehouse, work
from tasks.doctor.finding import Finding, Found
from tasks.doctor.server import PrefectServer
from tasks.editions.names import check_edition
from tasks.warehouse.errors import WarehouseError, first_line
from tasks.warehouse.location import Location
from tasks.warehouse.reader import ReadOnlyWarehouse
from tasks.warehouse.rows import utc_now


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What the checks look at, and how closely."""

    where: Location
    prefect_home: Path
    server: PrefectServer | None
    """The configured Prefect server, or one that runs here; None: there is none."""
    edition: str | None
    """The edition whose pending work is checked; None: the newest ones."""
    offline: bool
    """Whether to contact nothing outside this machine and its servers."""
    deep: bool
    """Whether to read every row and every page."""
    names: network.NamesInUse = field(default_factory=network.NamesInUse)
    """The judges and agents that are required or were used."""
    opening: Sequence[Found] = ()
    """What was found by opening the warehouse."""
    opened: ReadOnlyWarehouse | None = None

    @property
    def source(self) -> ReadOnlyWarehouse:
        """The open warehouse, or its last export."""
        assert self.opened
        return self.opened

    def has_block(self, name: str) -> bool | None:
        """Return whether the server has a Prefect Secret block of this name; None if unknown."""
        return self.server.has_block(name) if self.server else None


class Check(NamedTuple):
    """An entry of the list of checks."""

    group: str
    name: str
    """What it is called in the output; "" if each finding has its own name."""
    find: Callable[[Scope], Iterable[Found]]
    """Looks at parts of the scope."""
    advice: str | None = None
    """What to do about a warning or a failure, where the finding does not say."""
    reads: Literal["nothing", "rows", "tables"] = "nothing"
    """What of the warehouse it needs. `rows`: those of an export, which lacks some tables, do."""

    def run(self, scope: Scope) -> Iterator[Finding]:
        """Yield the findings. If the check raises, that becomes a failed finding."""
        try:
            for found in self.find(scope):
                advice = found.advice or (self.advice if found.status != "skipped" else None)
                yield Finding(
                    group=found.group or self.group,
                    check=found.check or self.name,
                    status=found.status,
                    finding=found.finding,
                    advice=None if found.status == "ok" else advice,
                )
        except (WarehouseError, ConfigurationError) as error:
            yield self._fail(first_line(error))
        except Exception as error:  # the others must still be checked
            yield self._fail(f"could not be checked ({type(error).__name__}: {first_line(error)}).")

    def _fail(self, text: str) -> Finding:
        return Finding(group=self.group, check=self.group, status="fail", finding=text)


CHECKS = (
    Check("software", "python", lambda s: machine.check_python(), machine.RECREATE),
    Check("software", "libraries", lambda s: machine.check_libraries(), machine.REINSTALL),
    Check("software", "extensions", lambda s: machine.check_extensions(), machine.REINSTALL_LAKE),
    Check("configuration", "files", lambda s: configuration.check_configuration()),
    Check("configuration", "operator", lambda s: configuration.check_operator()),
    Check("keys", "", lambda s: configuration.check_keys(s.names, s.has_block)),
    Check(
        "configuration",
        "models",
        lambda s: configuration.check_models(s.names, utc_now().date()),
        configuration.ENDED,
    ),
    Check(
        "endpoints",
        "",
        lambda s: () if s.offline else network.check_endpoints(network.find_endpoints(s.names)),
        network.UNREACHABLE,
    ),
    Check("clock", "time zone", lambda s: network.check_time_zone()),
    Check("prefect", "server", lambda s: server.check_prefect(s.server, s.prefect_home)),
    Check("warehouse", "", lambda s: s.opening),
    Check(
        "warehouse",
        "",
        lambda s: warehouse.check_tables(s.source, s.deep),
        warehouse.RESTORE,
        "tables",
    ),
    Check(
        "warehouse",
        "",
        lambda s: warehouse.check_archive(s.source, s.where, s.deep),
        warehouse.RESTORE_MISSING,
        "tables",
    ),
    Check(
        "warehouse", "export", lambda s: warehouse.check_exports(s.source, s.where), None, "tables"
    ),
    Check(
        "warehouse", "lake", lambda s: warehouse.check_lake(s.where), warehouse.COMPACT, "tables"
    ),
    Check("work", "agents' jobs", lambda s: work.check_jobs(s.source, s.edition), work.ASK, "rows"),
    Check("work", "batches", lambda s: work.check_batches(s.source), None, "rows"),
    Check("work", "the schedule's month", lambda s: work.check_next_month(s.source), None, "rows"),
    Check("work", "editions", lambda s: work.check_editions(s.source, s.edition), None, "rows"),
    Check("disk", "", lambda s: machine.check_disk(s.where, [s.prefect_home])),
)
"""What is checked, in the order of the output."""


def examine(scope: Scope) -> Iterator[Finding]:
    """Yield the findings of all checks. The warehouse is locked only while it is read.

    Raises:
        UnknownName: the warehouse has no such edition.
    """
    found: dict[Check, list[Finding]] = {}
    with warehouse.open_and_check(scope.where) as (source, opening):
        names = network.find_names_in_use(source)
        scope = replace(scope, opened=source, opening=opening, names=names)
        if source:
            if scope.edition:
                check_edition(source, scope.edition)
            has_tables = source.notice is None  # an export lacks some of the tables
            readable = ("rows", "tables") if has_tables else ("rows",)
            found = {check: [*check.run(scope)] for check in CHECKS if check.reads in readable}
    for check in CHECKS:
        yield from check.run(scope) if check.reads == "nothing" else found.get(check, ())
