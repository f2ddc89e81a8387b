"""The `evergreen` command."""

import os
import sys
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from flows.agents_cli import agents
from flows.analyses_cli import register as register_analyses
from flows.annotation_cli import agreement, annotate
from flows.asking_cli import ask, backfill
from flows.backup_cli import register as register_backups
from flows.breakdown_cli import breakdown, tokens
from flows.collecting_cli import assign, collect, edition
from flows.compact_cli import register as register_compaction
from flows.compare_cli import register as register_comparisons
from flows.console import QUIET, be_quiet, insist, passing_bars, remark, wants_quiet
from flows.differences_cli import register as register_differences
from flows.doctor_cli import register as register_doctor
from flows.draft_cli import register as register_drafts
from flows.edition_remarks import say_idle
from flows.ended import end
from flows.explain_cli import register as register_explaining
from flows.export_cli import register as register_exports
from flows.judging_cli import calls, estimate, judges
from flows.log_level import LOG_LEVEL, LOG_LEVEL_HELP, LogLevel, set_log_level
from flows.options import PROTOCOL_HELP, WAREHOUSE_OPTION, Shown, WarehouseAt
from flows.pages_cli import fetch, pages, say_unfetched
from flows.publish_cli import register as register_publishing
from flows.queries_cli import register as register_queries
from flows.questions_cli import register as register_questions
from flows.reading_cli import register as register_reading
from flows.refresh_cli import register as register_refreshing
from flows.rejudge_cli import register as register_rejudging
from flows.reports_cli import register as register_reports
from flows.run import prefect_home, run_flow
from flows.sandbox_cli import sandbox
from flows.schema_cli import register as register_schema
from flows.serve_cli import register as register_serving
from flows.server import ServerError, prefect_environment, serve_ui
from flows.show import ENTRY, Format, leaderboard_frame, print_leaderboard
from tasks.annotation.errors import AnnotationError
from tasks.chosen_protocols import protocols_for
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.models import load_judges
from tasks.editions.errors import EditionError
from tasks.importing import import_edition
from tasks.judging import check_judges
from tasks.models.errors import ModelError
from tasks.protocols.registry import by_default
from tasks.resolving import NotPossible
from tasks.sandbox.errors import SandboxError
from tasks.selection import LeaderboardBehind, UnknownName, check_selection
from tasks.site.mark import UnwritableSite
from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.location import Location
from tasks.warehouse.snapshot import exports_folder
from tasks.warehouse.store import DEFAULT, open_warehouse
from tasks.wikipedia.errors import WikiError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A live benchmark for deep-research agents: collect or import an edition, assign, "
    "evaluate, publish, read the leaderboard.",
    epilog="Answers go to stdout, progress and remarks to stderr. Exit codes: 0 all was done; 1 "
    "something failed, an input is wrong, or not everything could be done (the message says what; "
    "run it again); 2 wrong usage; 130 and 143 it was interrupted or ended: what was done is kept.",
)
importing = typer.Typer(no_args_is_help=True, help="Bring in editions, reports and answers.")
app.add_typer(importing, name="import")
register_questions(importing)
register_queries(importing)
register_reports(importing)
exporting = typer.Typer(no_args_is_help=True, help="Write results in the forms of other benches.")
app.add_typer(exporting, name="export")
register_exports(exporting)
register_drafts(app, importing)
app.add_typer(agents, name="agents")
app.add_typer(judges, name="judges")
app.add_typer(pages, name="pages")
app.add_typer(annotate, name="annotate")
app.add_typer(edition, name="edition")
COMMANDS = (collect, assign, ask, backfill, fetch, sandbox, agreement, estimate, calls,
            breakdown, tokens)  # fmt: skip
for command in COMMANDS:
    app.command()(command)
register_comparisons(app)
register_differences(app)
register_analyses(app)
register_reading(app)
register_explaining(app)
register_schema(app)
register_refreshing(app)
register_rejudging(app)
register_publishing(app)
register_serving(app)
register_backups(app)
register_compaction(app)
register_doctor(app)

Edition = Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")]
Agents = Annotated[
    list[str] | None, typer.Option("--agent", help="Only this agent; may be given again.")
]

EXPECTED_ERRORS = (
    AnnotationError, ConfigurationError, EditionError, LeaderboardBehind, ModelError, NotPossible,
    SandboxError, ServerError, UnknownName, UnwritableSite, WarehouseError, WikiError,
)  # fmt: skip
"""Errors whose message is for the user: shown without a traceback, exit code 1."""


@app.callback()
def options(
    warehouse: Annotated[Location | None, WAREHOUSE_OPTION] = None,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            help=f"No progress and no remarks, only answers and errors ({QUIET}=1).",
        ),
    ] = False,
    log_level: Annotated[
        LogLevel | None, typer.Option("--log-level", envvar=LOG_LEVEL, help=LOG_LEVEL_HELP)
    ] = None,
) -> None:
    if quiet or wants_quiet():
        be_quiet()
    if log_level:
        set_log_level(log_level)
    if warehouse:  # given before the command's name: the command reads it from the environment
        os.environ["EVERGREEN_WAREHOUSE"] = str(warehouse)


@app.command()
def demo(warehouse: WarehouseAt = DEFAULT) -> None:
    """Run everything on the bundled sample edition: no key, no network."""
    with open_warehouse(warehouse, on_wait=remark) as store:
        chosen = {"edition": "sample", "protocols": [*by_default("wlc"), "reader"]}
        complete, outcome = run_flow("bring_in", chosen | {"warehouse": store.url})
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


@importing.command("wlc")
def import_wlc(
    path: Annotated[Path, typer.Argument(help="The edition's folder (wiki_data, test_data).")],
    edition: Annotated[
        str | None, typer.Option(help="What to call it; the folder's name if not given.")
    ] = None,
    agent: Agents = None,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Import an edition in the published Wiki Live Challenge layout; again changes nothing."""
    name = edition or path.resolve().name
    bars = passing_bars()
    with open_warehouse(warehouse, on_wait=remark) as store, bars:
        bar = bars.add_task(f"import {name}", total=None)

        def follow(agent_id: str, done: int, total: int) -> None:
            bars.update(bar, completed=done, total=total, description=f"import {agent_id}")

        summary = import_edition(store, path, name, agent or [], follow)
        issues = store.frame(
            "SELECT severity, path, message FROM import_issues WHERE edition = $1 "
            "AND severity = 'unreadable' ORDER BY path",
            [name],
        )
    remark(
        f"{name}: {summary.articles} articles, {summary.facts:,} facts, {summary.agents} agents, "
        f"{summary.reports} reports ({summary.new_reports} new or changed), "
        f"{summary.claims:,} published claims, {summary.pages:,} pages.",
    )
    for row in issues.iter_rows(named=True):
        remark(f"not read: {row['path']}: {row['message']}", style="red")
    if summary.remarks:
        remark(
            f'{summary.remarks} remarks: evergreen sql "SELECT kind, path, message FROM '
            f"import_issues WHERE edition = '{name}'\"",
            style="dim",
        )
    remark(f"Next: evergreen evaluate --edition {name}")


@app.command()
def evaluate(
    edition: Edition,
    protocol: Annotated[
        list[str] | None,
        typer.Option("--protocol", help=PROTOCOL_HELP),
    ] = None,
    agent: Agents = None,
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
    with open_warehouse(warehouse, on_wait=remark) as store:
        protocols = protocols_for(store, edition, protocol or ())
        check_selection(store, edition, protocols, agents, judge_name)
        check_judges([judge_name, *([extractor] if extractor else [])], budget, batch=batch)
        say_idle(store, edition, protocols)
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
        )
        board = leaderboard_frame(store, edition)
        if form is not Format.JSON:
            print_leaderboard(store, edition, form, protocols, judge_name)
        say_unfetched(store, edition, protocols)
    of_judge = board.filter(pl.col("protocol").is_in(protocols) & (pl.col("judge") == judge_name))
    _say_where(warehouse, edition)
    end(complete, outcome, form, leaderboard=of_judge.select(ENTRY))


@app.command()
def ui(port: Annotated[int, typer.Option(min=1, max=65535, help="Where.")] = 4200) -> None:
    """The Prefect UI over this project's runs, until Ctrl-C."""
    serve_ui(prefect_home(), port)


def _say_where(warehouse: Location, edition: str) -> None:
    remark(f"Warehouse  {warehouse}")
    remark(f"Parquet    {exports_folder(warehouse) / edition / 'latest'}")
    server = os.environ.get("PREFECT_API_URL") or f"{prefect_home()} (evergreen ui)"
    remark(f"Prefect    {server}")


def main() -> None:
    """Entry point: known errors are told in their own words, exit code 1."""
    os.environ.update(prefect_environment(prefect_home()))
    try:
        app()
    except EXPECTED_ERRORS as error:
        insist(f"error: {error}", style="red")
        sys.exit(1)
