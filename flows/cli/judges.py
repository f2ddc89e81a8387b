"""`evergreen judges`: list judges, check one."""

import asyncio
from typing import Annotated

import polars as pl
import typer

from flows.cli.options import FormatOption
from flows.display.console import print_result
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.configuration.endings import find_judge_ending
from tasks.configuration.models import JudgeEntry, LlmJudgeEntry, load_judges
from tasks.judges.registry import load_judge_entry
from tasks.judging.session import find_current_price
from tasks.warehouse.rows import utc_now


def list_judges(context: typer.Context, form: FormatOption = Format.TABLE) -> None:
    """List the judges of configs/judges.yaml, with price, state and key."""
    if context.invoked_subcommand:
        return
    known = load_judges()
    rows = [
        _format_judge(name, entry, name == known.default) for name, entry in known.judges.items()
    ]
    frame = pl.DataFrame(rows)
    if form is not Format.TABLE:
        print_frame(frame, form)
        return
    print_frame(frame.drop("key"), form, spare=("state", "model", "answers as"))
    without = frame.filter(pl.col("key").str.contains(" not set"))
    for (key,), judges in without.group_by("key", maintain_order=True):
        print_result(f"{key}: {', '.join(judges['judge'])}")


def check(
    name: Annotated[str, typer.Argument(metavar="JUDGE", help="A judge of configs/judges.yaml.")],
) -> None:
    """Ask a judge one cheap question, and report what is wrong if it fails."""
    found, entry = load_judge_entry(name)
    if not isinstance(entry, LlmJudgeEntry):
        print_result(f"{found}: ready (it needs no model).")
        return
    from tasks.judging.session import check_judge_live  # slow: loads HTTP clients

    checked = asyncio.run(check_judge_live(found, entry))
    print_result(f"{found}: {checked}")


def _format_judge(name: str, entry: JudgeEntry, is_default: bool) -> dict[str, object]:
    row: dict[str, object] = {"judge": name + (" (default)" if is_default else "")}
    if not isinstance(entry, LlmJudgeEntry):
        free = {"model": "–", "answers as": "–", "in": 0.0, "out": 0.0, "state": "ready"}
        return row | free | {"key": None}
    price = find_current_price(entry)
    state = f"settings of {entry.checked}"
    if ending := find_judge_ending(entry):
        word = "retired on" if ending.ends <= utc_now().date() else "retires"
        state = f"{word} {ending.ends}" + (f" → {ending.successor}" if ending.successor else "")
    return row | {
        "model": entry.model,
        "answers as": entry.answers_as or "(the first answer says)",
        "in": price.live.input if price else None,
        "out": price.live.output if price else None,
        "state": state,
        "key": entry.describe_state(),
    }
