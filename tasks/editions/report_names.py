"""Finding one report by what people call it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz, process

from tasks.editions.names import UnknownName
from tasks.warehouse.explained import report_id
from tasks.warehouse.store import Readable

NEAR_NAMES = 5
Key = tuple[str, str, str]
"""(edition, agent, assignment)"""


def find_report(source: Readable, edition: str | None, wanted: str) -> Key:
    """(edition, agent, assignment) of a report.

    Args:
        edition: only of this one; of any if None.
        wanted: AGENT/ASSIGNMENT, AGENT/TITLE, or the report's id.

    Raises:
        UnknownName: there is none, or there are several; the message names those that are near.
    """
    rows = source.frame(
        "SELECT r.edition, r.agent, r.assignment, t.title FROM reports AS r "
        "LEFT JOIN assignments AS a USING (edition, assignment) "
        "LEFT JOIN articles AS t ON t.edition = r.edition AND t.article = a.article "
        "WHERE $1 IS NULL OR r.edition = $1 ORDER BY r.edition, r.agent, r.assignment",
        [edition],
    ).rows()
    names: dict[str, list[Key]] = defaultdict(list)
    for key in rows:
        for name in dict.fromkeys(_names(*key)):
            names[name].append(key[:3])
    found = names.get(wanted) or names.get(_plainly(wanted)) or []
    if len(found) == 1:
        return found[0]
    if found:
        choices = ", ".join(
            f"{report_id(*key)} ({_told(f'{key[0]}: {key[1]}/{key[2]}')})" for key in found
        )
        raise UnknownName(f"{wanted!r} names several reports: {choices}. Give the id of one.")
    raise UnknownName(_no_such(edition, wanted, rows))


def _names(edition: str, agent: str, assignment: str, title: str | None) -> Iterator[str]:
    yield report_id(edition, agent, assignment)
    for rest in filter(None, (assignment, title)):
        yield f"{agent}/{rest}"
        yield _plainly(f"{agent}/{rest}")


def _plainly(name: str) -> str:
    """Without case, and with spaces for underscores."""
    return name.strip().casefold().replace("_", " ")


def _no_such(edition: str | None, wanted: str, rows: Sequence[tuple[str, ...]]) -> str:
    where = f"The edition {edition!r}" if edition else "The warehouse"
    if not rows:
        return f"{where} has no reports. `evergreen status` says what there is."
    written = sorted({f"{agent}/{assignment}" for _, agent, assignment, _ in rows})
    near = process.extract(wanted, written, scorer=fuzz.WRatio, limit=NEAR_NAMES)
    told = ", ".join(_told(name) for name, *_ in near)
    return (
        f"{where} has no report {wanted!r}. Near: {told}. Give "
        'AGENT/ASSIGNMENT, AGENT/TITLE or an id; `evergreen sql "SELECT report, agent, '
        'assignment, title FROM report_index"` lists them.'
    )


def _told(name: str) -> str:
    """As it stands, unless it holds characters that would act on a terminal."""
    return name if name.isprintable() else ascii(name)
