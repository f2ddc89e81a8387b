"""`evergreen draft rubrics` and `evergreen draft import`: rubrics that a model drafts
and a person reviews."""

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from flows.cli.options import (
    AssignmentsOption,
    BatchOption,
    BudgetOption,
    FolderOption,
    FormatOption,
    WarehouseOption,
    make_edition_option,
    takes,
)
from flows.cli.output import print_outcome
from flows.cli.warehouse import open_existing_warehouse
from flows.display.console import print_message
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.run import run_flow
from tasks.base import format_count
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.rigorous_drafts import read_draft
from tasks.drafts import DRAFTS, get_drafter
from tasks.imports.drafts import import_draft
from tasks.judging.session import check_judges
from tasks.planning.edition_options import DraftOptions
from tasks.warehouse.location import DEFAULT_LOCATION


@takes(
    DraftOptions,
    edition=make_edition_option("An edition with articles and their facts."),
    judge=typer.Option("--judge", help="The judge that drafts; it needs a model."),
    to=FolderOption,
    assignments=AssignmentsOption,
    budget_usd=BudgetOption,
    batch=BatchOption,
)
def draft_rubrics(
    options: DraftOptions,
    *,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Draft a bundle of Rigorous Bench for each article: rubrics from its facts, keywords, links
    from its references, and a test of difficulty. Existing files are never overwritten."""
    get_drafter(options.judge)
    check_judges([options.judge], options.budget_usd, batch=options.batch, with_fallbacks=False)
    if (to := Path(options.to)).exists() and not to.is_dir():
        raise typer.BadParameter(f"{to} is not a folder.", param_hint="--to")
    with open_existing_warehouse(warehouse, options.edition) as store:
        plan = options.plan(store)
        todo = plan.find_pending(DRAFTS)
        complete, outcome = run_flow("draft", options, options.find_outcome(plan), plan)
    rows = [_summarize_draft(pending.path) for pending in todo if pending.path.exists()]
    drafts = pl.DataFrame(rows)
    if rows and form is not Format.JSON:
        print_frame(drafts, form)
    print_message(
        "Next: review and correct each file, put your name into `reviewed_by`, and run\n"
        f"  evergreen draft import FILE --edition {options.edition} --general ENTRIES\n"
        "(ENTRIES: the published file with the general rubrics, if not imported before.)"
    )
    print_outcome(complete, outcome, form, {"drafts": drafts})


def import_reviewed(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Reviewed files of `evergreen draft rubrics`."),
    ],
    edition: Annotated[str, make_edition_option("The edition they were drafted for.")],
    as_draft: Annotated[
        bool,
        typer.Option(
            "--as-draft",
            help="Also import files that nobody has reviewed; their scores are marked.",
        ),
    ] = False,
    general: Annotated[
        Path | None,
        typer.Option(
            help="The published JSON file with the general rubrics; those of the warehouse if not "
            "given."
        ),
    ] = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Import drafted rubrics that a person has reviewed; idempotent.

    Exit code 1 if any was not imported.
    """
    refused = 0
    with open_existing_warehouse(warehouse, edition) as store:
        for path in paths:
            try:
                found = import_draft(store, path, edition, general, as_draft=as_draft)
            except EditionError as error:
                refused += 1
                print_message(f"error: {error}", style="red")
                continue
            by = f"reviewed by {found.reviewed_by}" if found.reviewed_by else "as a draft"
            easy = (
                f"; too easy: an answer from memory got {found.closed_book_share:.0%} of its points"
                if found.too_easy
                else ""
            )
            print_message(
                f"{found.assignment}: {format_count(found.rubrics, 'rubric')}, {by}"
                f"{'' if found.changed else ' (unchanged)'}{easy}."
            )
    if refused:
        raise typer.Exit(1)
    print_message(f"Next: evergreen evaluate --edition {edition} --protocol rigorous --judge JUDGE")


def _summarize_draft(path: Path) -> dict[str, object]:
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
