"""Record in the audit what this process does: written at the beginning, completed at the end."""

import os
import pwd
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import duckdb
from pydantic import ValidationError

from tasks.warehouse.audit import (
    Activity,
    AuditEntry,
    Outcome,
    get_activity,
    leave_note,
    notes_folder,
    set_activity,
)
from tasks.warehouse.errors import WarehouseBusy, WarehouseError
from tasks.warehouse.location import DuckDBFile, LocationLike, parse_location
from tasks.warehouse.parameters import format_parameters
from tasks.warehouse.reader import check_exists
from tasks.warehouse.schema import check_file, connect
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change, arrow_table


def make_activity(
    where: LocationLike,
    kind: Literal["command", "flow"],
    name: str,
    parameters: Mapping[str, Any],
    *,
    edition: str | None = None,
    deployment: str | None = None,
    flow_run: str | None = None,
    at_once: bool = False,
) -> Activity:
    """Describe what this process begins to do in a warehouse, and who does it."""
    entry = AuditEntry(
        version=version("evergreen-bench"),
        kind=kind,
        name=name,
        os_user=_find_user(),
        host=socket.gethostname(),
        deployment=deployment,
        flow_run=flow_run,
        edition=edition,
        parameters=format_parameters(parameters),
    )
    return Activity(entry, parse_location(where), at_once)


@contextmanager
def record_activity(activity: Activity, on_warning: Callable[[str], None]) -> Iterator[None]:
    """Record what the block does, and how it ends.

    Its row is committed together with the first change, or at once where it says so. Nothing is
    recorded if the block changes nothing.
    """
    before = get_activity()
    set_activity(activity)
    try:
        if activity.at_once:
            _note_beginning(activity, on_warning)
        yield
    except BaseException as error:
        end_activity(activity, *_describe_end(error), on_warning)
        raise
    else:
        end_activity(activity, "ok", None, on_warning)
    finally:
        set_activity(before)


def end_activity(
    activity: Activity, outcome: Outcome, error: str | None, on_warning: Callable[[str], None]
) -> None:
    """Complete the row of what has ended. It fails nothing and waits for nobody.

    Args:
        error: the class of what failed.
        on_warning: called with a line if the row cannot be kept.
    """
    if not (activity.commits or activity.is_noted or activity.at_once):
        return
    entry = activity.entry.end(outcome, error)
    try:
        if _exists(activity):
            _keep(activity, entry)
    except Exception as problem:
        on_warning(
            f"{activity.where}: the audit could not be completed ({problem}). There {entry.name} "
            f"does not show as {outcome}, which it is."
        )


def copy_audit(replaced: Path, to: duckdb.DuckDBPyConnection) -> None:
    """Copy the audit of a file into the one that is to replace it; one that is damaged, older than
    audits, or not ours has none to copy. Raise WarehouseBusy while another program has it open."""
    try:
        with connect(replaced, read_only=True) as source:
            found = source.execute("SELECT * FROM audit").pl().to_dicts()
        rows = [AuditEntry.model_validate(row) for row in found]
    except WarehouseBusy:
        raise
    except (WarehouseError, duckdb.Error, ValidationError):
        return
    to.register("incoming", arrow_table(AuditEntry, rows))
    to.execute("DELETE FROM audit WHERE audit_id IN (SELECT audit_id FROM incoming)")
    to.execute("INSERT INTO audit BY NAME FROM incoming")
    to.unregister("incoming")


def _note_beginning(activity: Activity, on_warning: Callable[[str], None]) -> None:
    """Note what writes no row itself. A note opens no warehouse: it may be damaged, or measured."""
    try:
        if _exists(activity):
            leave_note(activity.where, activity.entry)
            activity.is_noted = True
    except OSError as problem:
        on_warning(
            f"{notes_folder(activity.where)} cannot be written to ({problem.strerror}). Until it "
            f"ends, the audit does not show {activity.entry.name}."
        )


def _exists(activity: Activity) -> bool:
    """Whether there is a warehouse: nothing is made beside a file that cannot be one."""
    try:
        check_exists(activity.where)
        if isinstance(activity.where, DuckDBFile):
            check_file(activity.where.path)
    except WarehouseError:
        return False
    return True


def _keep(activity: Activity, entry: AuditEntry) -> None:
    """Write the row; if the warehouse cannot be written now, leave a note of it."""
    try:
        with open_warehouse(activity.where, wait_seconds=0) as store:
            store.write(Change(AuditEntry, [entry]))
    except WarehouseError:
        leave_note(activity.where, entry)
        activity.is_noted = True


def _describe_end(error: BaseException) -> tuple[Outcome, str | None]:
    """Return how a command ended; exit code 1 without an error says that something is pending."""
    code = getattr(error, "exit_code", None) if type(error).__name__ == "Exit" else None
    if code is None and isinstance(error, SystemExit):
        code = error.code or 0
    if code == 0:
        return "ok", None
    if code == 1:
        return "incomplete", None
    return "failed", type(error).__name__ + (f" {code}" if code else "")


def _find_user() -> str:
    """Return the user of this process; the number of one without a name."""
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
