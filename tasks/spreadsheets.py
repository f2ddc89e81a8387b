"""CSV for spreadsheets: no cell of it runs as a formula.

A cell that one would run is prefixed with an apostrophe, which `unescape_formula` removes. Source
of the dangerous prefixes: OWASP, CSV Injection. Spaces before them are no protection.
"""

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
    """Format a frame as CSV for spreadsheets, its headings, too."""
    texts = pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String)
    is_formula = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    escaped = pl.when(is_formula).then(texts.str.replace("^", "'")).otherwise(texts)
    return frame.with_columns(escaped).rename(escape_formula).write_csv()
