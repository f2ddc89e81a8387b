"""What every table, view and column of the warehouse means: read from where it is written.

Tables and their columns are told by the docstrings of their rows, views and theirs by the comments
in the migrations. What means the same wherever it stands is told once, here.
"""

import ast
import inspect
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from textwrap import dedent
from typing import Any, Literal, NamedTuple, get_args, get_origin

import duckdb

from tasks.warehouse.collected import Candidate
from tasks.warehouse.migrate import migrations
from tasks.warehouse.results import Verdict
from tasks.warehouse.rows import Row
from tasks.warehouse.tables import TABLES

EVERYWHERE: Mapping[str, str] = {
    "edition": "The edition it belongs to.",
    "agent": "The agent's id.",
    "assignment": "What the agent was asked: with the agent it names a report.",
    "article": "The reference article's file-safe name.",
    "title": "The article's title.",
    "judge": "Who decided, by its name in configs/judges.yaml.",
    "protocol": "The evaluation protocol, or own rubric, by name.",
    "step": "The kind of decision, in the protocol's words.",
    "item": "What was decided: `fact:7`, `claim:3`, `claim:3 URL`, or an item of a rubric.",
    "metric": "The figure's name, as in configs/protocols.",
    "label": "The decision, in the step's own words; null where there is none.",
    "score": "The judge's probability or mark, where it gives one; meaning per step.",
    "reason": "Why, in words.",
    "evidence": "The text that the judge rested it on, as it quoted it.",
    "attempt": "1-based: which answer to the question it rests on.",
    "call_id": "The model call that decided it (`evergreen calls --show`); null where none did.",
    "model_version": "The model that answered, as its answer says.",
    "prompt_sha": "Sha-256 of the prompts that were used.",
    "protocol_version": "The protocol's version, with its settings.",
    "seed": "Of the pseudo-random numbers it was drawn with.",
    "text": "The text itself.",
    "text_sha": "Sha-256 of the text.",
    "section": "Heading path of the section it stands in; null for what stands before any heading.",
    "position": "Offset in characters of the text it was found at; null if unknown.",
    "url": "The address.",
    "raw_url": "The address as it was written.",
    "error": "What went wrong, in words; null where nothing did.",
    "n_items": "How many items it rests on.",
    "n_open": "Items that a later run may still decide.",
    "value": "The figure; null where nothing entered it.",
    "page_id": "The wiki's number of the page.",
    "revision_id": "The wiki's number of the revision.",
    "revision_at": "When that revision was saved (UTC).",
    "created_at": "When it was made (UTC).",
    "made_at": "When it was made (UTC).",
    "finished_at": "When it ended (UTC); null while it has not.",
    "imported_at": "When it was brought in (UTC).",
    "fetched_at": "When it was fetched (UTC).",
    "provider": "Whose model or interface it is, by its name in the configuration.",
    "model": "The model that was asked for.",
    "media_type": "What the bytes are, e.g. `text/html`.",
    "n_bytes": "Bytes.",
    "input_tokens": "Tokens that went in, as the provider counts.",
    "output_tokens": "Tokens that came out, as the provider counts.",
    "cached_tokens": "Of the tokens that went in, those served from a cache.",
    "reasoning_tokens": "Tokens of reasoning, as the provider counts.",
    "prompt_tokens": "Tokens of the prompts, with the cached ones.",
    "thinking_tokens": "Tokens of thinking.",
    "cell_id": "The cell it belongs to: one report under one protocol, by one judge, on one state.",
    "numerator": "What the value has above the line; null where it has no value.",
    "n_reports": "Reports it rests on.",
    "provisional": "Whether something it rests on is still open.",
    "cost_usd": "US dollars; null where unknown.",
    "usd": "US dollars; null where unknown.",
}
"""By column: what it means in every table and view that does not say otherwise."""

PASSED_ON: Mapping[str, type[Row]] = {
    "current_verdicts": Verdict,
    "verdicts_at_hand": Verdict,
    "candidate_ranking": Candidate,
}
"""Views that give a table's columns as they are."""


class Column(NamedTuple):
    """One column of a table or view."""

    name: str
    kind: str
    """Its SQL type."""
    text: str | None
    """What it means, its unit and range; null where nobody says more than its name."""


class Described(NamedTuple):
    """One table or view."""

    name: str
    kind: str
    """`table` or `view`."""
    text: str | None
    columns: tuple[Column, ...]


@lru_cache
def described() -> Mapping[str, Described]:
    """Every table, in the order the data flows, then every view by name. Read from an empty
    warehouse of the newest schema."""
    with duckdb.connect() as empty:
        for _, sql in migrations():
            empty.execute(sql)
        texts = dict(
            empty.execute(
                "SELECT table_name, comment FROM duckdb_tables() UNION ALL "
                "SELECT view_name, comment FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
        )
        columns = empty.execute(
            "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() "
            "WHERE NOT internal ORDER BY table_name, column_index"
        ).fetchall()
    models = {model.table: model for model in TABLES}
    others = sorted(texts.keys() - models.keys())
    return {name: _described(name, models.get(name), texts[name], columns)
            for name in [*models, *others]}  # fmt: skip


def _described(
    name: str, model: type[Row] | None, text: str | None, columns: list[tuple[str, ...]]
) -> Described:
    said = _fields(row) if (row := model or PASSED_ON.get(name)) else {}
    return Described(
        name,
        "table" if model or name == "warehouse_info" else "view",
        _one_line(model.__doc__ if model else text),
        tuple(
            Column(column, kind, _one_line(comment) or said.get(column) or EVERYWHERE.get(column))
            for of, column, kind, comment in columns
            if of == name
        ),
    )


def _fields(model: type[Row]) -> dict[str, str]:
    """By field, the docstring below it. Read from the source when somebody asks: pydantic would
    do it for every model whenever the command starts, 0.05 s of its 0.1."""
    body = ast.parse(dedent(inspect.getsource(model))).body[0]
    assert isinstance(body, ast.ClassDef)
    texts = {
        field.target.id: " ".join(below.value.value.split())
        for field, below in zip(body.body, body.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }
    values = {name: _one_of(field.annotation) for name, field in model.model_fields.items()}
    said = {name: [texts.get(name), values[name]] for name in values}
    return {name: " ".join(filter(None, parts)) for name, parts in said.items() if any(parts)}


def _one_of(annotation: Any) -> str | None:
    """The values that a field may have, where they are listed."""
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return f"One of: {', '.join(annotation)}."
    listed = get_args(annotation) if get_origin(annotation) is Literal else ()
    if listed:
        return f"One of: {', '.join(map(str, listed))}."
    return next(filter(None, map(_one_of, get_args(annotation))), None)


def _one_line(text: str | None) -> str | None:
    return " ".join(text.split()) if text else None
