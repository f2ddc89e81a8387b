"""`evergreen draft rubrics` and `evergreen import rigorous-draft`: bundles that a model drafts and
a person reviews."""

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from flows.cli.options import Shown, WarehouseAt
from flows.cli.output import end
from flows.cli.warehouse import existing_warehouse
from flows.display.console import remark
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.run import run_flow
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.rigorous_drafts import read_draft
from tasks.imports.drafts import import_draft
from tasks.judging.preconditions import check_judges
from tasks.pending.drafts import drafter_named, pending_drafts
from tasks.planning.outcomes import draft_outcome
from tasks.warehouse.location import DEFAULT


def draft_rubrics(
    edition: Annotated[str, typer.Option("--edition", help="One with articles and their facts.")],
    judge: Annotated[str, typer.Option("--judge", help="What drafts: a judge with a model.")],
    to: Annotated[Path, typer.Option("--to", help="A folder; made if it is not there.")],
    assignment: Annotated[
        list[str] | None,
        typer.Option("--assignment", help="Only this one's article; may be given again."),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget", min=0.0, help="USD this run may spend at most; what is left waits."
        ),
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="Ask models through their batch APIs.")
    ] = False,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Draft a bundle of Rigorous Bench for each article: rubrics from its facts, keywords, links
    from its references, and a test of difficulty. A file that is there is never written over."""
    drafter_named(judge)
    check_judges([judge], budget, batch=batch)
    if to.exists() and not to.is_dir():
        raise typer.BadParameter(f"{to} is no folder.", param_hint="to")
    with existing_warehouse(warehouse, edition) as store:
        todo = pending_drafts(store, edition, to, assignment or [])
        complete, outcome = run_flow(
            "draft",
            {
                "edition": edition,
                "to": str(to),
                "judge": judge,
                "assignments": assignment or [],
                "budget_usd": budget,
                "batch": batch,
                "warehouse": store.url,
            },
            draft_outcome(edition, to, todo),
        )
    rows = [_row(pending.path) for pending in todo if pending.path.exists()]
    drafts = pl.DataFrame(rows)
    if rows and form is not Format.JSON:
        print_frame(drafts, form)
    remark(
        "Next: read and correct each file, put your name at `reviewed_by`, and\n"
        f"  evergreen import rigorous-draft FILE --edition {edition} --general ENTRIES\n"
        "(ENTRIES: the published file with the general rubrics; not needed if it was imported.)"
    )
    end(complete, outcome, form, drafts=drafts)


def import_rigorous_draft(
    paths: Annotated[
        list[Path], typer.Argument(help="Files of `evergreen draft rubrics`, reviewed.")
    ],
    edition: Annotated[str, typer.Option("--edition", help="The one they were drafted for.")],
    as_draft: Annotated[
        bool,
        typer.Option(
            "--as-draft", help="Also take what nobody has reviewed; its scores are marked."
        ),
    ] = False,
    general: Annotated[
        Path | None,
        typer.Option(
            help="The published JSON file with the general rubrics; those that the warehouse "
            "already has if not given."
        ),
    ] = None,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Take in drafted bundles that a person has reviewed; again changes nothing.

    Exit code 1 when any was not taken in.
    """
    refused = 0
    with existing_warehouse(warehouse, edition) as store:
        for path in paths:
            try:
                found = import_draft(store, path, edition, general, as_draft=as_draft)
            except EditionError as error:
                refused += 1
                remark(f"error: {error}", style="red")
                continue
            by = f"reviewed by {found.reviewed_by}" if found.reviewed_by else "as a draft"
            easy = (
                f"; too easy: an answer from memory got {found.closed_book_share:.0%} of its points"
                if found.too_easy
                else ""
            )
            remark(
                f"{found.assignment}: {found.rubrics} rubrics, {by}"
                f"{'' if found.changed else ' (unchanged)'}{easy}."
            )
    if refused:
        raise typer.Exit(1)
    remark(f"Next: evergreen evaluate --edition {edition} --protocol rigorous --judge JUDGE")


def _row(path: Path) -> dict[str, object]:
    draft = read_draft(path)
    return {
        "file": path.name,
        "rubrics": len(draft.entry.qsr),
        "points": sum(rubric.yes for rubric in draft.entry.qsr),
        "keywords": f"{len(draft.entry.fak)} + {len(draft.entry.fdk)}",
        "links": f"{list(draft.links.values()).count('ok')} of {len(draft.links)} alive",
        "from memory": f"{draft.closed_book_share:.0%}{' (too easy)' if draft.too_easy else ''}",
        "to mend": "; ".join(draft.problems) or "–",
    }
