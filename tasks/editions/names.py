"""Check the names that a user gives: editions, agents, protocols, judges; find reports by them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tasks.errors import ExpectedError, suggest_names
from tasks.foreign_text import make_visible
from tasks.judges.registry import load_judge
from tasks.protocols.registry import get_protocol
from tasks.warehouse.explanations import report_id
from tasks.warehouse.store import Readable, Warehouse

HOW_TO_MAKE_ONE = (
    "Import one (`evergreen import --help` lists the sources), or collect one with `evergreen "
    "collect`."
)
NEAR_NAMES = 5
Key = tuple[str, str, str]
"""(edition, agent, assignment)"""


class UnknownName(ExpectedError):
    """The warehouse has no such edition, agent or report; the message lists those it has."""


class OutdatedLeaderboard(ExpectedError):
    """The leaderboard does not match the scores; the message names the command to run."""


def list_editions(source: Readable) -> list[str]:
    """Return all editions, by name."""
    return source.frame("SELECT edition FROM editions ORDER BY edition")["edition"].to_list()


def list_newest_first(source: Readable) -> list[str]:
    """Return all editions, the one that was frozen or imported last before the others."""
    found = source.frame("SELECT edition FROM editions ORDER BY imported_at DESC, edition DESC")
    return found["edition"].to_list()


def check_selection(
    warehouse: Warehouse,
    edition: str,
    protocols: Sequence[str],
    agents: Sequence[str],
    judge_name: str,
) -> None:
    """Raise UnknownName or ConfigurationError for the first unknown name."""
    check_edition(warehouse, edition)
    check_reports(warehouse, edition, agents)
    for name in protocols:
        get_protocol(name)
    load_judge(judge_name)


def check_reports(warehouse: Warehouse, edition: str, agents: Sequence[str]) -> None:
    """Raise UnknownName for the first agent without a report in the edition."""
    known = warehouse.frame(
        "SELECT DISTINCT agent FROM reports WHERE edition = $1 ORDER BY agent", [edition]
    )["agent"].to_list()
    for agent in agents:
        if agent not in known:
            raise UnknownName(
                f"{edition} has no reports of {agent!r}. {suggest_names(agent, known)}"
            )


def check_edition(source: Readable, edition: str) -> None:
    """Raise UnknownName if the warehouse or snapshot has no such edition."""
    known = list_editions(source)
    if edition not in known:
        how = "" if known else f" {HOW_TO_MAKE_ONE}"
        raise UnknownName(f"There is no edition {edition!r}. {suggest_names(edition, known)}{how}")


def check_scored(
    source: Readable, edition: str, protocols: Sequence[str] = (), judges: Sequence[str] = ()
) -> None:
    """Raise UnknownName if the edition's leaderboard is empty or lacks one of these protocols or
    judges."""
    board = source.frame(
        "SELECT DISTINCT protocol, judge FROM leaderboard WHERE edition = $1", [edition]
    )
    if board.is_empty():
        raise UnknownName(
            f"{edition} has no figures yet. Run `evergreen evaluate --edition {edition}` first."
        )
    wanted = [("protocol", name) for name in protocols] + [("judge", name) for name in judges]
    for column, name in wanted:
        there = board[column].unique().sort().to_list()
        if name not in there:
            raise UnknownName(
                f"{edition} has no figures of the {column} {name!r}. "
                f"{suggest_names(name, there)} `evergreen evaluate` computes them."
            )


def find_report(source: Readable, edition: str | None, wanted: str) -> Key:
    """Return (edition, agent, assignment) of a report.

    Args:
        edition: search only this one; all if None.
        wanted: AGENT/ASSIGNMENT, AGENT/TITLE, or the report's id.

    Raises:
        UnknownName: none or several match; the message lists similar names.
    """
    rows = source.frame(
        "SELECT r.edition, r.agent, r.assignment, coalesce(t.title, a.query) FROM reports AS r "
        "LEFT JOIN assignments AS a USING (edition, assignment) "
        "LEFT JOIN articles AS t ON t.edition = r.edition AND t.article = a.article "
        "WHERE $1 IS NULL OR r.edition = $1 ORDER BY r.edition, r.agent, r.assignment",
        [edition],
    ).rows()
    names: dict[str, list[Key]] = defaultdict(list)
    for key in rows:
        for name in dict.fromkeys(_list_names(*key)):
            names[name].append(key[:3])
    found = names.get(wanted) or names.get(_normalize(wanted)) or []
    if len(found) == 1:
        return found[0]
    if found:
        choices = ", ".join(
            f"{report_id(*key)} ({make_visible(f'{key[0]}: {key[1]}/{key[2]}', one_line=True)})"
            for key in found
        )
        raise UnknownName(f"{wanted!r} matches several reports: {choices}. Give the id of one.")
    raise UnknownName(_explain_missing(edition, wanted, rows))


def find_agent(source: Readable, edition: str | None, wanted: str) -> tuple[str, str] | None:
    """Return (edition, agent) if that is the name of an agent with reports.

    edition: search only this one; the newest in which it has reports if None.
    """
    found = source.frame("SELECT DISTINCT edition FROM reports WHERE agent = $1", [wanted])
    names = [name for name in list_newest_first(source) if name in set(found["edition"])]
    if edition:
        names = [name for name in names if name == edition]
    return (names[0], wanted) if names else None


def _list_names(edition: str, agent: str, assignment: str, title: str | None) -> Iterator[str]:
    yield report_id(edition, agent, assignment)
    for rest in filter(None, (assignment, title)):
        yield f"{agent}/{rest}"
        yield _normalize(f"{agent}/{rest}")


def _normalize(name: str) -> str:
    """Casefold a name and replace underscores with spaces."""
    return name.strip().casefold().replace("_", " ")


def _explain_missing(edition: str | None, wanted: str, rows: Sequence[tuple[str, ...]]) -> str:
    where = f"The edition {edition!r}" if edition else "The warehouse"
    if not rows:
        return f"{where} has no reports. `evergreen status` shows what there is."
    if "/" not in wanted:
        agents = {agent for _, agent, *_ in rows}
        return (
            f"{where} has no report {wanted!r} and no agent of that name. "
            f"{suggest_names(wanted, agents)} Give AGENT, AGENT/TITLE or a report's id."
        )
    from rapidfuzz import fuzz, process  # only for errors

    written = sorted({f"{agent}/{assignment}" for _, agent, assignment, _ in rows})
    near = process.extract(wanted, written, scorer=fuzz.WRatio, limit=NEAR_NAMES)
    similar = ", ".join(make_visible(name, one_line=True) for name, *_ in near)
    return (
        f"{where} has no report {wanted!r}. Similar: {similar}. Give "
        'AGENT/ASSIGNMENT, AGENT/TITLE or an id; `evergreen sql "SELECT report, agent, '
        'assignment, title FROM report_index"` lists them.'
    )
