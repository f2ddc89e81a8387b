"""CSV for spreadsheets: no cell of it runs as a formula.

A cell that one would run is prefixed with an apostrophe, which `unescape_formula` removes. Source
of the dangerous prefixes: OWASP, CSV Injection. Spaces before them are no protection.
"""

import json
import re

import polars as pl

_FORMULA = r"^['\s\x00\x{feff}]*[=+\-@＝＋－＠]|^'*[\t\r\n]"
_NUMBER = r"^[+-]?[0-9]+(?:[.,][0-9]+)*(?:[eE][+-]?[0-9]+)?%?$"
_FORMULA_IN_PYTHON = re.compile(_FORMULA.replace(r"\x{feff}", "\ufeff"))
_NUMBER_IN_PYTHON = re.compile(_NUMBER)


def escape_formula(text: str) -> str:
    """Return the text as a cell that no spreadsheet runs as a formula; numbers stay."""
    is_formula = _FORMULA_IN_PYTHON.match(text) and not _NUMBER_IN_PYTHON.match(text)
    return f"'{text}" if is_formula else text


def unescape_formula(cell: str) -> str:
    """Undo `escape_formula`."""
    return cell[1:] if cell.startswith("'") and _FORMULA_IN_PYTHON.match(cell) else cell


def format_csv(frame: pl.DataFrame) -> str:
    """Format a frame as CSV for spreadsheets, its headings, too; lists and structs are JSON."""
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    frame = frame.with_columns(
        pl.Series(name, map(_format_json, frame[name].to_list()), pl.String) for name in nested
    )
    texts = pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String)
    is_formula = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    escaped = pl.when(is_formula).then(texts.str.replace("^", "'")).otherwise(texts)
    return frame.with_columns(escaped).rename(escape_formula).write_csv()


def _format_json(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, default=str)
