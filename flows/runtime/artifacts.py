"""Artifacts that a run adds to its page in the Prefect UI, so that nobody has to read its log.

Foreign text must not become links, pictures or markup there. Both versions of the UI render prose
and descriptions as Markdown: `escape_markdown` escapes them. The first version renders table cells
as Markdown with HTML, the second shows them verbatim: `add_table_artifact` neutralizes them with
characters that neither version shows.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import polars as pl
from markdown_it import MarkdownIt
from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact

from flows.display.leaderboard import leaderboard_rows
from tasks.costs.tokens import load_costs_since
from tasks.foreign_text import make_visible
from tasks.outcome import Failure
from tasks.scoring.board_notes import EMPTY_LIST, MIXED_MODELS
from tasks.scoring.boards import select_boards
from tasks.scoring.bounds import UNCERTAIN, UNCERTAIN_SAID
from tasks.scoring.columns import load_leaderboard
from tasks.warehouse.store import Readable

MAX_ROWS = 500
"""Rows of a table artifact: the UI keeps the whole table in the page."""
LEADERBOARD_NOTE = (
    "in percent. –: not assessed, or nothing to assess. *: provisional, items are still open or "
    f"another version judged them. {EMPTY_LIST}: an empty list of claims or facts is doubtful. "
    f"{MIXED_MODELS}: the agent answered as several models. "
    f"{UNCERTAIN}: {UNCERTAIN_SAID}."
)
MARKUP = re.compile(r"[\\`*_{}\[\]()<>#+!|~&$:@/.-]")
ALWAYS_MARKUP = re.compile(r"[\\`\[\]<>|~&$]")
"""Of these, what is escaped wherever it stands; the rest where it would be read as markup."""
PARSER = MarkdownIt("commonmark")
PLAIN = {"paragraph_open", "paragraph_close", "inline", "text"}
"""The tokens of text without markup."""
ADDRESS = re.compile(r"(?i:https?|ftp|www|mailto|xmpp)(?=[:.])|@")
"""Patterns by which Markdown recognises bare URLs, also those written as character references."""
ACTIVE = re.compile(rf"{ADDRESS.pattern}|<|\](?=[(\[:])")
"""Patterns that make a cell a link or HTML."""
WORD_JOINER = "\u2060"
"""An invisible character that no markup or URL contains."""


def escape_markdown(text: str) -> str:
    """Escape foreign text as one line of Markdown without markup, HTML or links.

    Most text needs no escapes, and parts of the UI show descriptions as they are.
    """
    broken = _break_matches(ADDRESS, " ".join(make_visible(text).split()))
    if not ALWAYS_MARKUP.search(broken) and all(map(_is_plain, (broken, f"x {broken}"))):
        return broken
    return MARKUP.sub(lambda found: f"&#{ord(found[0])};", broken)


def _is_plain(text: str) -> bool:
    blocks = PARSER.parse(text)
    children = (child for block in blocks for child in block.children or ())
    return {token.type for token in (*blocks, *children)} <= PLAIN


def neutralize_cell(cell: Any) -> Any:
    """Keep a cell from becoming a link, picture or HTML if it is rendered; what is visible in it
    looks the same."""
    return _break_matches(ACTIVE, make_visible(cell)) if isinstance(cell, str) else cell


async def add_leaderboard_artifacts(
    source: Readable, edition: str, judges: Sequence[str] = ()
) -> None:
    """Add the current leaderboard, an artifact for each of its tables: the UI shows only the
    columns of the first row. `judges`: only these; all if empty."""
    board = load_leaderboard(source, edition)
    if judges:
        board = board.filter(pl.col("judge").is_in(list(judges)))
    tables = build_leaderboard_tables(board)
    for key, rows in tables.items():
        await add_table_artifact(key, rows, f"{edition}, {LEADERBOARD_NOTE}")
    if not tables:
        await add_text_artifact(
            "leaderboard", "There are no figures yet.", f"{edition}: no figures."
        )


def build_leaderboard_tables(board: pl.DataFrame) -> dict[str, list[dict[str, str]]]:
    """Split a leaderboard into tables by artifact key: `leaderboard` is the first, the others are
    named after their protocols. All rows of a table have the same columns."""
    tables: dict[str, list[dict[str, str]]] = {}
    for protocols in dict.fromkeys(board_of.protocols for board_of in select_boards(board)):
        by_columns: dict[tuple[str, ...], list[dict[str, str]]] = {}
        for row in leaderboard_rows(board.filter(pl.col("protocol").is_in(protocols))):
            # The judge first: the UI cuts wide tables at the right.
            shown = {name: row[name] for name in ("#", "Agent", "Judge") if name in row} | row
            by_columns.setdefault(tuple(shown), []).append(shown)
        name = re.sub("[^a-z0-9]+", "-", "-".join(sorted(protocols)).lower()).strip("-")
        for number, rows in enumerate(by_columns.values(), start=1):
            key = f"leaderboard-{name}" + (f"-{number}" if number > 1 else "")
            tables[key if tables else "leaderboard"] = rows
    return tables


async def add_failures_artifact(failures: Sequence[Failure]) -> None:
    """List every failed item; if there is none, say so."""
    if not failures:
        await add_text_artifact(
            "failures", "Nothing failed in this run.", "What could not be done."
        )
        return
    rows = [
        {"stage": f.stage, "item": f.item, "error": f.error}
        for f in sorted(failures, key=lambda f: (f.stage, f.item))
    ]
    await add_table_artifact(
        "failures", rows, "What could not be done in this run; run again to try these alone."
    )


async def add_costs_artifact(source: Readable, since: datetime, free: str) -> None:
    """Add the calls and jobs of the run that began at `since`, and of all runs, with their costs.

    free: shown if nothing was ever bought, e.g. which judge needs no model.
    """
    rows = [_format_cost_row(row) for row in load_costs_since(source, since).iter_rows(named=True)]
    if not rows:
        await add_text_artifact("cost", f"Free: {escape_markdown(free)}.", "What it cost.")
        return
    await add_table_artifact(
        "cost",
        rows,
        "What was asked of models and agents, in this run and in all (of every edition). Dollars "
        "by the price list of the day; –: no price is known; at least: for some none is.",
    )


async def add_stage_costs_artifact(source: Readable, since: datetime, stage: str) -> None:
    """Add the calls and jobs that a stage has bought since then, if any."""
    costs = load_costs_since(source, since).filter(pl.col("n_now") > 0)
    rows = [_format_cost_row(row) for row in costs.iter_rows(named=True)]
    if rows:
        key = f"cost-of-{stage.replace(' ', '-')}"
        await add_table_artifact(key, rows, f"What {stage} has asked of models and agents.")


async def add_table_artifact(key: str, rows: Sequence[dict[str, Any]], description: str) -> None:
    """Add a table; a longer one than `MAX_ROWS` is cut, and its description says so."""
    more = len(rows) - MAX_ROWS
    cut = f" The first {MAX_ROWS} of {len(rows):,} rows." if more > 0 else ""
    table = [{name: neutralize_cell(cell) for name, cell in row.items()} for row in rows[:MAX_ROWS]]
    await acreate_table_artifact(
        key=key, table=table, description=escape_markdown(description) + cut
    )


async def add_text_artifact(key: str, markdown: str, description: str) -> None:
    """Add Markdown prose; foreign text in it must have passed `escape_markdown`."""
    await acreate_markdown_artifact(
        key=key, markdown=markdown, description=escape_markdown(description)
    )


def format_markdown_table(rows: Sequence[dict[str, Any]]) -> str:
    """Format rows as a Markdown table with escaped cells; empty if there are no rows."""
    if not rows:
        return ""
    names = list(rows[0])
    lines = [names, ["---"] * len(names)]
    lines += [[escape_markdown(str(row.get(name, ""))) for name in names] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _break_matches(what: re.Pattern[str], text: str) -> str:
    return what.sub(lambda found: found[0] + WORD_JOINER, text)


def _format_cost_row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "part": f"{row['part']}: {row['what']}",
        "who": row["who"],
        "what": row["step"],
        "this run": row["n_now"],
        "tokens": row["tokens_now"],
        "USD": _format_usd(row["n_now"], row["usd_now"], row["unpriced_now"]),
        "in all": row["n"],
        "tokens in all": row["tokens"],
        "USD in all": _format_usd(row["n"], row["usd"], row["unpriced"]),
    }


def _format_usd(n: int, usd: float | None, unpriced: int) -> str:
    if not n:
        return "0"
    if usd is None:
        return "–"
    return f"{'at least ' if unpriced else ''}{usd:,.4f}"
