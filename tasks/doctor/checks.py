"""The list of what `evergreen doctor` checks, and `examine`, which goes through it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from tasks.configuration.errors import ConfigurationError
from tasks.doctor.configuration import check_configuration, check_keys, check_models, check_operator
from tasks.doctor.finding import Finding, Found
from tasks.doctor.machine import (
    INSTALL,
    check_disk,
    check_extensions,
    check_libraries,
    check_python,
)
from tasks.doctor.network import (
    NamesInUse,
    check_endpoints,
    check_time_zone,
    find_endpoints,
    find_names_in_use,
)
from tasks.doctor.server import PrefectServer, check_prefect
from tasks.doctor.warehouse import (
    RESTORE,
    check_archive,
    check_exports,
    check_lake,
    check_tables,
    open_and_check,
)
from tasks.doctor.work import check_batches, check_editions, check_jobs, check_next_month
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
    names: NamesInUse = field(default_factory=NamesInUse)
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
    Check(
        "software",
        "python",
        lambda scope: check_python(),
        "Recreate the environment with a matching Python.",
    ),
    Check(
        "software",
        "libraries",
        lambda scope: check_libraries(),
        INSTALL.format(lock="requirements.lock"),
    ),
    Check(
        "software",
        "extensions",
        lambda scope: check_extensions(),
        f"{INSTALL.format(lock='requirements-lake.lock')} Without them, a lake cannot be used; "
        "file warehouses can.",
    ),
    Check("configuration", "files", lambda scope: check_configuration()),
    Check("configuration", "operator", lambda scope: check_operator()),
    Check("keys", "", lambda scope: check_keys(scope.names, scope.has_block)),
    Check(
        "configuration",
        "models",
        lambda scope: check_models(scope.names, utc_now().date()),
        "What it delivered stays, but nothing new comes from that day on. Finish its pending "
        "work, then name another (configs/judges.yaml, configs/agents.yaml, "
        "configs/refresh.yaml).",
    ),
    Check(
        "endpoints",
        "",
        lambda scope: () if scope.offline else check_endpoints(find_endpoints(scope.names)),
        "Check the network, DNS, the firewall, and the address in configs/ or in the variable "
        "that replaces it; --offline skips these checks.",
    ),
    Check("clock", "time zone", lambda scope: check_time_zone()),
    Check("prefect", "server", lambda scope: check_prefect(scope.server, scope.prefect_home)),
    Check("warehouse", "", lambda scope: scope.opening),
    Check("warehouse", "", lambda scope: check_tables(scope.source, scope.deep), RESTORE, "tables"),
    Check(
        "warehouse",
        "",
        lambda scope: check_archive(scope.source, scope.where, scope.deep),
        "`evergreen backup restore` restores the missing ones.",
        "tables",
    ),
    Check(
        "warehouse",
        "export",
        lambda scope: check_exports(scope.source, scope.where),
        reads="tables",
    ),
    Check(
        "warehouse",
        "lake",
        lambda scope: check_lake(scope.where),
        "evergreen compact, ideally every night: queries open every file.",
        "tables",
    ),
    Check(
        "work",
        "agents' jobs",
        lambda scope: check_jobs(scope.source, scope.edition),
        "evergreen ask --agent AGENT --edition E checks on them again.",
        "rows",
    ),
    Check("work", "batches", lambda scope: check_batches(scope.source), reads="rows"),
    Check(
        "work", "the schedule's month", lambda scope: check_next_month(scope.source), reads="rows"
    ),
    Check(
        "work", "editions", lambda scope: check_editions(scope.source, scope.edition), reads="rows"
    ),
    Check("disk", "", lambda scope: check_disk(scope.where, [scope.prefect_home])),
)
"""What is checked, in the order of the output."""


def examine(scope: Scope) -> Iterator[Finding]:
    """Yield the findings of all checks. The warehouse is locked only while it is read.

    Raises:
        UnknownName: the warehouse has no such edition.
    """
    found: dict[Check, list[Finding]] = {}
    with open_and_check(scope.where) as (source, opening):
        names = find_names_in_use(source)
        scope = replace(scope, opened=source, opening=opening, names=names)
        if source:
            if scope.edition:
                check_edition(source, scope.edition)
            has_tables = source.notice is None  # an export lacks some of the tables
            readable = ("rows", "tables") if has_tables else ("rows",)
            found = {check: [*check.run(scope)] for check in CHECKS if check.reads in readable}
    for check in CHECKS:
        yield from check.run(scope) if check.reads == "nothing" else found.get(check, ())
