"""What a run leaves on its page in the Prefect UI, so that nobody needs its log.

What came from outside must not become links, pictures or markup there. Prose and descriptions are
Markdown in both versions of the UI: there it goes through `plain`. Cells of tables are Markdown
with HTML in the first version and shown as they stand in the second: `leave_table` makes them
harmless with characters that neither shows.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import polars as pl
from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact

from flows.display.leaderboard import leaderboard_frame, wide_rows
from flows.runtime.fan_out import Failure
from tasks.costs.runs import costs_since
from tasks.scoring.boards import boards_of
from tasks.warehouse.store import Readable

SHOWN_ROWS = 500
"""Of a table: the UI holds all of it in the page."""
BOARD_READ = (
    "in percent. –: not assessed, or nothing to assess. *: provisional, items are still open or "
    "another version judged them."
)
MARKUP = re.compile(r"[\\`*_{}\[\]()<>#+!|~&$:@/.-]")
ADDRESS = re.compile(r"(?i:https?|ftp|www|mailto|xmpp)(?=[:.])|@")
"""What bare addresses are recognised by, also where they are written as character references."""
LIVE = re.compile(rf"{ADDRESS.pattern}|<|\](?=[(\[:])")
"""What makes a cell a link or HTML."""
WORD_JOINER = "\u2060"
"""Not seen, and no part of any markup or address."""


def plain(text: str) -> str:
    """Text from outside as Markdown that shows it as it stands, on one line: nothing in it is
    markup, HTML or a link."""
    broken = _joined(ADDRESS, " ".join(text.split()))
    return MARKUP.sub(lambda found: f"&#{ord(found[0])};", broken)


def harmless(cell: Any) -> Any:
    """A cell that is no link, picture or HTML, whether it is rendered or not; it looks the same."""
    return _joined(LIVE, cell) if isinstance(cell, str) else cell


async def leave_leaderboard(source: Readable, edition: str, judges: Sequence[str] = ()) -> None:
    """The leaderboard as it is now, an artifact for each of its tables, since the UI shows only
    the columns that the first row has. `judges`: only theirs."""
    board = leaderboard_frame(source, edition)
    if judges:
        board = board.filter(pl.col("judge").is_in(list(judges)))
    tables = board_tables(board)
    for key, rows in tables.items():
        await leave_table(key, rows, f"{edition}, {BOARD_READ}")
    if not tables:
        await leave_text("leaderboard", "There are no figures yet.", f"{edition}: no figures.")


def board_tables(board: pl.DataFrame) -> dict[str, list[dict[str, str]]]:
    """The tables of a leaderboard by the key of their artifact: `leaderboard` is the first one,
    the others are named after their protocols, each with the same columns in all its rows."""
    tables: dict[str, list[dict[str, str]]] = {}
    for protocols in dict.fromkeys(board_of.protocols for board_of in boards_of(board)):
        by_columns: dict[tuple[str, ...], list[dict[str, str]]] = {}
        for row in wide_rows(board.filter(pl.col("protocol").is_in(protocols))):
            # The judge first: the UI cuts wide tables at the right.
            shown = {name: row[name] for name in ("#", "Agent", "Judge") if name in row} | row
            by_columns.setdefault(tuple(shown), []).append(shown)
        name = re.sub("[^a-z0-9]+", "-", "-".join(sorted(protocols)).lower()).strip("-")
        for number, rows in enumerate(by_columns.values(), start=1):
            key = f"leaderboard-{name}" + (f"-{number}" if number > 1 else "")
            tables[key if tables else "leaderboard"] = rows
    return tables


async def leave_failures(failures: Sequence[Failure]) -> None:
    """Every item that could not be done; also where there is none, so that a page says so."""
    if not failures:
        await leave_text("failures", "Nothing failed in this run.", "What could not be done.")
        return
    rows = [
        {"stage": f.stage, "item": f.item, "error": f.error}
        for f in sorted(failures, key=lambda f: (f.stage, f.item))
    ]
    await leave_table(
        "failures", rows, "What could not be done in this run; run again to try these alone."
    )


async def leave_costs(source: Readable, since: datetime, free: str) -> None:
    """What was asked of models and agents in the run that began at `since`, and in all.

    free: what to say where nothing has ever been bought, e.g. which judge needs no model.
    """
    rows = [_cost_row(row) for row in costs_since(source, since).iter_rows(named=True)]
    if not rows:
        await leave_text("cost", f"Free: {plain(free)}.", "What it cost.")
        return
    await leave_table(
        "cost",
        rows,
        "What was asked of models and agents, in this run and in all (of every edition). Dollars "
        "by the price list of the day; –: no price is known; at least: for some none is.",
    )


async def leave_table(key: str, rows: Sequence[dict[str, Any]], description: str) -> None:
    """A table; one that is too long says how long it is and where the rest can be had."""
    more = len(rows) - SHOWN_ROWS
    cut = f" The first {SHOWN_ROWS} of {len(rows):,} rows." if more > 0 else ""
    table = [{name: harmless(cell) for name, cell in row.items()} for row in rows[:SHOWN_ROWS]]
    await acreate_table_artifact(key=key, table=table, description=plain(description) + cut)


async def leave_text(key: str, markdown: str, description: str) -> None:
    """Prose in Markdown, in which `plain` has made safe what came from outside."""
    await acreate_markdown_artifact(key=key, markdown=markdown, description=plain(description))


def markdown_table(rows: Sequence[dict[str, Any]]) -> str:
    """Rows as a Markdown table; nothing where there are none. Cells are made plain."""
    if not rows:
        return ""
    names = list(rows[0])
    lines = [names, ["---"] * len(names)]
    lines += [[plain(str(row.get(name, ""))) for name in names] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _joined(what: re.Pattern[str], text: str) -> str:
    # A database of the server's may refuse NUL.
    return what.sub(lambda found: found[0] + WORD_JOINER, text.replace("\0", "\ufffd"))


def _cost_row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "part": f"{row['part']}: {row['what']}",
        "who": row["who"],
        "what": row["step"],
        "this run": row["n_now"],
        "tokens": row["tokens_now"],
        "USD": _usd(row["n_now"], row["usd_now"], row["unpriced_now"]),
        "in all": row["n"],
        "tokens in all": row["tokens"],
        "USD in all": _usd(row["n"], row["usd"], row["unpriced"]),
    }


def _usd(n: int, usd: float | None, unpriced: int) -> str:
    if not n:
        return "0"
    if usd is None:
        return "–"
    return f"{'at least ' if unpriced else ''}{usd:,.4f}"
