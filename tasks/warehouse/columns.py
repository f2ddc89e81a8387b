"""The columns of a table, made from the fields of its row."""

from datetime import date, datetime
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from tasks.warehouse.rows import Row

SQL_TYPES: dict[type, str] = {
    str: "VARCHAR",
    bool: "BOOLEAN",
    int: "INTEGER",
    float: "DOUBLE",
    date: "DATE",
    datetime: "TIMESTAMP",
}


class Column(NamedTuple):
    """A column of a table."""

    name: str
    kind: str
    """The SQL type."""
    nullable: bool


@cache
def list_columns(model: type[Row]) -> tuple[Column, ...]:
    """Return the columns of a row's table, in the order of the fields."""
    hints = get_type_hints(model, include_extras=True)
    return tuple(_make_column(name, hints[name]) for name in model.model_fields)


def build_table_sql(model: type[Row]) -> str:
    """Return the SQL that makes a row's table."""
    columns = ", ".join(
        f'"{name}" {kind}{"" if nullable else " NOT NULL"}'
        for name, kind, nullable in list_columns(model)
    )
    return f"CREATE TABLE {model.table} ({columns});"


def _make_column(name: str, hint: Any) -> Column:
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    (kind,) = {_find_sql_type(option) for option in options if option is not type(None)}
    return Column(name, kind, type(None) in options)


def _find_sql_type(hint: Any) -> str:
    """Return the SQL type of a hint without None; a mark in the hint says it itself."""
    if get_origin(hint) is Annotated:
        base, *marks = get_args(hint)
        return next((mark for mark in marks if isinstance(mark, str)), _find_sql_type(base))
    if get_origin(hint) is Literal or issubclass(hint, str):
        return "VARCHAR"
    return SQL_TYPES[hint]
