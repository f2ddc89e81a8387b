"""Hints of commands about an edition: the next step, idle protocols, pending pages."""

from collections.abc import Sequence
from shlex import quote

from flows.display.console import print_message
from tasks.archive.pending import PAGE_COUNTS
from tasks.base import format_count
from tasks.judges.registry import load_judge
from tasks.judging.protocols import explain_idle, need_pages
from tasks.planning.next_step import (
    choose_judge,
    command_to_publish,
    count_progress,
    find_next_step,
    find_outdated_site,
    was_published,
)
from tasks.protocols.registry import available_protocols
from tasks.run import Plan, Selection
from tasks.scoring.pending import count_scored
from tasks.verdicts import VERDICTS
from tasks.warehouse.store import Readable


def describe_next_step(source: Readable, edition: str, judge: str | None = None) -> str:
    """Describe the next command for an edition. judge: the one that has judged most if None."""
    by = judge or choose_judge(source, edition)
    return f"Next: {find_next_step(source, edition, by, count_progress(source, edition, by))}"


def warn_about_outdated_site(source: Readable, edition: str) -> None:
    """Print a warning if a site of the edition shows older figures than the warehouse has."""
    if was_published(source, edition) and (site := find_outdated_site(source, edition)):
        print_message(
            f"The site in {site[0]} shows older figures: "
            f"{command_to_publish(source, edition, *site)}",
            style="yellow",
        )


def print_unchosen(
    source: Readable,
    edition: str,
    judge_name: str,
    protocols: Sequence[str],
    agents: Sequence[str] = (),
) -> None:
    """Print which cells are pending, as `status` counts them, of protocols that have judged the
    edition before but are not among these.

    agents: only their cells; all if empty.
    """
    others = available_protocols(
        sorted({*count_scored(source, edition, load_judge(judge_name).name)} - {*protocols})
    )
    plan = Plan(
        source,
        Selection(edition=edition, protocols=tuple(others), agents=tuple(agents), judge=judge_name),
    )
    pending = plan.find_pending(VERDICTS)
    for name in others:
        of = [cell for cell in pending if cell.protocol == name]
        if of:
            whose = f" of {', '.join(sorted({cell.agent for cell in of}))}" if agents else ""
            named = "".join(f" --agent {quote(agent)}" for agent in agents)
            print_message(
                f"{name} has {format_count(len(of), 'pending cell')}{whose}, and judges {edition} "
                f"only when it is named: evergreen evaluate --edition {edition}{named} --protocol "
                f"{name}"
            )


def warn_about_idle_protocols(
    source: Readable, edition: str, protocols: Sequence[str], *, named: bool
) -> None:
    """Print the protocols that can judge no report of the edition, with the reason. Unless a
    person named them, only if none of them can."""
    reasons = {name: explain_idle(source, edition, name) for name in protocols}
    if not named and None in reasons.values():
        return
    for name, reason in reasons.items():
        if reason:
            print_message(f"{name} does not apply to {edition}: {reason}.", "yellow")


def warn_about_pending_pages(source: Readable, edition: str, protocols: Sequence[str]) -> None:
    """Print a warning if protocols that judge by pages have pending ones."""
    if not need_pages(protocols):
        return
    counted = source.frame(PAGE_COUNTS, [edition])
    left = int(counted.filter(counted["status"] == "not fetched")["pages"].sum())
    if left:
        print_message(
            f"Cited pages that were never fetched: {left:,}. Items that need them are open, and in "
            f"no estimate: `evergreen fetch --edition {edition}` fetches them.",
            style="yellow",
        )
