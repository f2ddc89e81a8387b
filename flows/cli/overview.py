"""`evergreen` alone, in a project: where one stands, and what comes next."""

from collections.abc import Iterator

from flows.display.console import print_result
from tasks.base import format_count
from tasks.editions.names import HOW_TO_MAKE_ONE, list_newest_first
from tasks.planning.next_step import (
    EditionProgress,
    choose_judge,
    count_progress,
    find_leaders,
    find_next_step,
)
from tasks.site.wording import format_figure
from tasks.warehouse.location import Location
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.store import Readable


def print_overview(where: Location) -> None:
    """Print the warehouse, its newest edition, what is done and pending, who leads, and the next
    command.

    Raises:
        WarehouseError: the warehouse cannot be read, or is busy and was never exported.
    """
    for name, text in _describe(where):
        print_result(f"{name:<11}{text}")


def _describe(where: Location) -> Iterator[tuple[str, str]]:
    with open_for_reading(where) as source:
        yield "Warehouse", f"{where}{' (in use; this is its last export)' if source.notice else ''}"
        names = list_newest_first(source)
        if not names:
            yield "Edition", f"none yet. {HOW_TO_MAKE_ONE}"
            return
        yield from _describe_edition(source, names[0], len(names))


def _describe_edition(source: Readable, edition: str, n_editions: int) -> Iterator[tuple[str, str]]:
    judge = choose_judge(source, edition)
    found = count_progress(source, edition, judge)
    newest = f", the newest of {n_editions}" if n_editions > 1 else ""
    articles = format_count(
        found.articles or found.assignments, "article" if found.articles else "assignment"
    )
    yield "Edition", f"{edition}{newest}: {articles}, {format_count(found.agents, 'agent')}"
    yield "Done", _describe_progress(found, judge)
    leaders = find_leaders(source, edition, judge)
    if leaders:
        first, *others = leaders.agents
        tie = f" or one of {len(others)} more" if len(others) > 1 else " or ".join(["", *others])
        figure = f"{leaders.heading} {format_figure(leaders.value, leaders.unit)}"
        yield "Leader", f"{first} ({figure}){tie}"
    else:
        yield "Leader", "nothing judged yet"
    yield "Next", find_next_step(source, edition, judge, found)


def _describe_progress(found: EditionProgress, judge: str) -> str:
    done = [format_count(found.reports, "report")]
    if found.judged:
        done.append(f"{format_count(found.judged, 'cell')} judged by {judge}")
    pending = [
        format_count(n, *nouns)
        for n, *nouns in (
            (found.jobs, "report asked for", "reports asked for"),
            (found.failed, "failed job"),
            (found.pages, "page"),
            (found.unjudged, "report to judge", "reports to judge"),
            (found.open, "open cell"),
        )
        if n
    ]
    return f"{', '.join(done)}; pending: {', '.join(pending) or 'nothing'}"
