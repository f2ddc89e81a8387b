"""`evergreen evaluate` and `evergreen demo`: judging, and a first look at all of it."""

import os
from typing import Annotated

import polars as pl
import typer

from flows.cli.hints import say_idle, say_unfetched
from flows.cli.options import Shown, WarehouseAt
from flows.cli.output import end
from flows.cli.protocol_option import Protocols
from flows.cli.warehouse import existing_warehouse
from flows.display.console import remark
from flows.display.formats import Format
from flows.display.leaderboard import ENTRY, leaderboard_frame, print_leaderboard
from flows.run import run_flow
from flows.runtime.settings import prefect_home
from tasks.configuration.editions import edition_folder
from tasks.configuration.models import load_judges
from tasks.editions.names import check_selection, known_editions
from tasks.imports.wlc import import_edition
from tasks.judging.preconditions import check_judges
from tasks.judging.protocols import protocols_for
from tasks.pending.evaluation import Evaluation, outcome_if_done
from tasks.protocols.registry import by_default
from tasks.warehouse.location import DEFAULT, Location
from tasks.warehouse.snapshot import exports_folder
from tasks.warehouse.store import Warehouse, open_warehouse


def demo(warehouse: WarehouseAt = DEFAULT) -> None:
    """Run everything on the bundled sample edition: no key, no network."""
    with open_warehouse(warehouse, on_wait=remark) as store:
        protocols = (*by_default("wlc"), "reader")
        chosen = {"edition": "sample", "protocols": [*protocols], "warehouse": store.url}
        complete, outcome = run_flow("bring_in", chosen, _demo_outcome(store, protocols))
        print_leaderboard(store, "sample", Format.TABLE)
    _say_where(warehouse, "sample")
    end(complete, outcome)
    remark(
        "Next:\n"
        "  evergreen ui                            this run, its tasks and tables in the browser\n"
        '  evergreen sql "SELECT fact, label, score, evidence FROM fact_verdicts LIMIT 5"\n'
        "  evergreen publish --edition sample --to site\n"
        "                                          all of it as pages: open site/index.html\n"
        "  evergreen explain --report sample_blogger/Eddystone_Lighthouse\n"
        "                                          one report, claim by claim, with its evidence\n"
        "  evergreen compare --edition sample      do the protocols agree?\n"
        "  evergreen assign --edition sample; evergreen backfill lexical_baseline\n"
        "                                          a free agent joins the board\n"
        "  evergreen collect --edition NAME        a fresh edition from Wikipedia\n"
        "  evergreen import wlc PATH               a published edition, or your own in its layout",
    )


def _demo_outcome(store: Warehouse, protocols: tuple[str, ...]) -> str | None:
    """How the demonstration ends where it was shown before and nothing has changed since."""
    if "sample" not in known_editions(store):
        return None
    import_edition(store, edition_folder("sample"), "sample")
    return outcome_if_done(Evaluation(store.url, "sample", protocols, (), load_judges().default))


def evaluate(
    edition: Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")],
    protocol: Protocols = None,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", help="Only this agent; may be given again.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="One of those `evergreen judges` lists.")
    ] = None,
    extractor: Annotated[
        str | None,
        typer.Option(
            "--extractor",
            help="A judge that extracts the facts and claims nobody has published; the offline "
            "extraction if not given.",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget", min=0.0, help="USD this run may spend at most; what is left waits."
        ),
    ] = None,
    batch: Annotated[
        bool,
        typer.Option(
            "--batch",
            help="Ask models through their batch APIs: half the price, up to 24 hours; can be "
            "interrupted, and the same command goes on where it was.",
        ),
    ] = False,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Judge, score and rank what has not been yet; a second run does nothing."""
    agents = agent or []
    judge_name = judge or load_judges().default
    with existing_warehouse(warehouse) as store:
        protocols = protocols_for(store, edition, protocol or ())
        check_selection(store, edition, protocols, agents, judge_name)
        check_judges([judge_name, *([extractor] if extractor else [])], budget, batch=batch)
        say_idle(store, edition, protocols)
        run = Evaluation(store.url, edition, protocols, tuple(agents), judge_name, extractor)
        complete, outcome = run_flow(
            "evaluate",
            {
                "edition": edition,
                "protocols": list(protocols),
                "agents": agents,
                "judge": judge_name,
                "warehouse": store.url,
                "extractor": extractor,
                "budget_usd": budget,
                "batch": batch,
            },
            outcome_if_done(run),
        )
        board = leaderboard_frame(store, edition)
        if form is not Format.JSON:
            print_leaderboard(store, edition, form, protocols, judge_name)
        say_unfetched(store, edition, protocols)
    of_judge = board.filter(pl.col("protocol").is_in(protocols) & (pl.col("judge") == judge_name))
    _say_where(warehouse, edition)
    end(complete, outcome, form, leaderboard=of_judge.select(ENTRY))


def _say_where(warehouse: Location, edition: str) -> None:
    remark(f"Warehouse  {warehouse}")
    remark(f"Parquet    {exports_folder(warehouse) / edition / 'latest'}")
    server = os.environ.get("PREFECT_API_URL") or f"{prefect_home()} (evergreen ui)"
    remark(f"Prefect    {server}")
