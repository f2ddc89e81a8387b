"""Descriptions of all tables, views and columns, as `evergreen schema` shows them.

Tables and their columns are described by the docstrings of their rows, views and their columns by
comments in the SQL. Columns that mean the same everywhere are described once, here.
"""

import ast
import inspect
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from textwrap import dedent
from typing import Any, Literal, NamedTuple, get_args, get_origin

import duckdb

from tasks.warehouse.results import Verdict
from tasks.warehouse.rows import Claim, Row
from tasks.warehouse.schema import load_schema
from tasks.warehouse.tables import TABLES
from tasks.warehouse.wiki_editions import Candidate

COMMON_COLUMNS: Mapping[str, str] = {
    "edition": "The edition's name.",
    "agent": "The agent's id.",
    "assignment": "The assignment's id; with the agent it identifies a report.",
    "article": "The reference article's file-safe name.",
    "title": "The article's title.",
    "judge": "The judge's name, as in configs/judges.yaml.",
    "protocol": "The protocol's name, or that of an own rubric.",
    "step": "The kind of verdict, in the protocol's terms.",
    "claim_number": "The claim's number.",
    "claim": "The claim's text.",
    "fact_number": "The fact's number: 0-based, in article order.",
    "fact": "The fact's text.",
    "disputed": "Whether, or how often, one page supports a claim and another contradicts it.",
    "counted_pairs": "(Claim, URL) pairs that count in ref_acc: with a verdict, or unreadable.",
    "supported_pairs": "Of these, pairs whose page supports the claim.",
    "pairs_from_excerpts": "Judged pairs whose judge saw a part of the page.",
    "item": "What the verdict decides: `fact:7`, `claim:3`, `claim:3 URL`, or a rubric item.",
    "metric": "The metric's name, as in configs/protocols.",
    "label": "The verdict, in the step's terms; null if there is no usable answer.",
    "score": "The judge's probability or mark, if it gives one; its meaning depends on the step.",
    "reason": "The reason.",
    "evidence": "The text that the judge quoted as evidence.",
    "attempt": "The number of the answer to the same request, 1-based.",
    "call_id": "The model call behind it (`evergreen calls --show`); null if there was none.",
    "model_version": "The model version, as the answer states it.",
    "prompt_sha": "Sha-256 of the prompts.",
    "protocol_version": "The protocol's version, including its settings.",
    "seed": "Seed of the random draws.",
    "text": "The text.",
    "text_sha": "Sha-256 of the text.",
    "section": "Heading path of its section; null before the first heading.",
    "position": "Character offset in the text; null if unknown.",
    "url": "The URL.",
    "raw_url": "The URL as written.",
    "error": "What went wrong; null if nothing did.",
    "n_items": "The number of items.",
    "n_open": "Open items, which a later run may still decide.",
    "value": "The value; null if it is not defined.",
    "page_id": "The wiki's page id.",
    "revision_id": "The wiki's revision id.",
    "revision_at": "When that revision was saved (UTC).",
    "created_at": "When it was made (UTC).",
    "made_at": "When it was made (UTC).",
    "finished_at": "When it ended (UTC); null until then.",
    "imported_at": "When it was imported (UTC).",
    "fetched_at": "When it was fetched (UTC).",
    "provider": "The provider of the model or API, by its name in the configuration.",
    "model": "The requested model.",
    "media_type": "The media type, e.g. `text/html`.",
    "n_bytes": "Size in bytes.",
    "input_tokens": "Input tokens, as the provider counts them.",
    "output_tokens": "Output tokens, as the provider counts them.",
    "cached_tokens": "Input tokens served from a cache.",
    "cache_write_tokens": "Input tokens written to a cache; null if the provider does not say.",
    "cache_write_hour_tokens": "Of these, tokens that the cache keeps for an hour.",
    "reasoning_tokens": "Reasoning tokens, as the provider counts them.",
    "prompt_tokens": "Prompt tokens, including cached ones.",
    "thinking_tokens": "Thinking tokens.",
    "cell_id": "The cell: all verdicts of one protocol and judge on one report, for one state of "
    "their inputs.",
    "numerator": "The value's numerator; null if it has no value.",
    "n_reports": "The number of reports.",
    "provisional": "Whether it may still change.",
    "cost_usd": "US dollars; null if unknown.",
    "usd": "US dollars; null if unknown.",
}
"""Column name to its description, for tables and views without one of their own."""

VIEW_MODELS: Mapping[str, type[Row]] = {
    "current_verdicts": Verdict,
    "verdicts_at_hand": Verdict,
    "verdicts_explained": Verdict,
    "fact_verdicts": Verdict,
    "citation_states": Verdict,
    "cited_claims": Claim,
    "candidate_ranking": Candidate,
}
"""Views that have columns of a table, and its model."""


class ColumnDescription(NamedTuple):
    """One column of a table or view."""

    name: str
    kind: str
    """The SQL type."""
    text: str | None
    """Meaning, unit and range; None if the name says it all."""


class TableDescription(NamedTuple):
    """One table or view."""

    name: str
    kind: str
    """`table` or `view`."""
    text: str | None
    columns: tuple[ColumnDescription, ...]


@lru_cache
def load_descriptions() -> Mapping[str, TableDescription]:
    """Describe every table, in the order of the pipeline, then every view by name. They are read
    from an empty warehouse."""
    with duckdb.connect() as empty:
        empty.execute(load_schema())
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
    return {
        name: _describe(name, models.get(name), texts[name], columns) for name in [*models, *others]
    }


def _describe(
    name: str, model: type[Row] | None, text: str | None, columns: list[tuple[str, ...]]
) -> TableDescription:
    fields = _field_texts(row) if (row := model or VIEW_MODELS.get(name)) else {}
    return TableDescription(
        name,
        "table" if model or name == "warehouse_info" else "view",
        _join_lines(model.__doc__ if model else text),
        tuple(
            ColumnDescription(
                column,
                kind,
                _join_lines(comment) or fields.get(column) or COMMON_COLUMNS.get(column),
            )
            for of, column, kind, comment in columns
            if of == name
        ),
    )


def _field_texts(model: type[Row]) -> dict[str, str]:
    """Return the docstring below each field, read from the source on demand: pydantic would read
    those of all models at every start, which takes 0.05 s of 0.1 s."""
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
    values = {name: _list_values(field.annotation) for name, field in model.model_fields.items()}
    both = {name: [texts.get(name), values[name]] for name in values}
    return {name: " ".join(filter(None, parts)) for name, parts in both.items() if any(parts)}


def _list_values(annotation: Any) -> str | None:
    """Return the allowed values of a field of Literal or enum type, as a sentence."""
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return f"One of: {', '.join(annotation)}."
    listed = get_args(annotation) if get_origin(annotation) is Literal else ()
    if listed:
        return f"One of: {', '.join(map(str, listed))}."
    return next(filter(None, map(_list_values, get_args(annotation))), None)


def _join_lines(text: str | None) -> str | None:
    return " ".join(text.split()) if text else None
