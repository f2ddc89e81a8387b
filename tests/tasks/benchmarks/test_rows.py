"""Whatever lies where a published data set is expected is refused by name, by every reader."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.benchmarks.drb2 import read_drb2
from tasks.benchmarks.drgym import read_drgym
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.livedrbench import read_livedrbench
from tasks.benchmarks.rigorous import read_rigorous

READERS: dict[str, Callable[[Path], object]] = {
    "livedrbench.json": read_livedrbench,
    "livedrbench.jsonl": read_livedrbench,
    "livedrbench.parquet": read_livedrbench,
    "drb2.jsonl": read_drb2,
    "rigorous.json": lambda path: read_rigorous(path, {}),
    "key_points.jsonl": read_drgym,
    "12.json": read_drgym,
    "folder/12.json": lambda path: read_drgym(path.parent),
    "folder/key_points.jsonl": lambda path: read_drgym(path.parent),
}
UNREAD, COLUMNS = "cannot be read as JSON", "expected a list of rows with the columns"
CONTENTS = {
    "": f"has no (rows|queries)|{UNREAD}",
    "[": UNREAD,
    "\x00": UNREAD,
    "[" * 100_000: UNREAD,
    '{"key": "a"}\n\n{"id": ': rf"line 3 {UNREAD}|{UNREAD}, JSON lines or Parquet",
    "[]": f"has no (rows|queries|general rubrics)|row 1 is no object; {COLUMNS}",
    "[{}, 1]": f"row 1 is no object; {COLUMNS}|row 2 is no object; {COLUMNS}",
    "{}": f"{COLUMNS}|(it is|they are) missing",
    '"x"': COLUMNS,
    "NaN": COLUMNS,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: repr(content[:20]))
def test_a_file_in_another_format_is_refused(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, "utf-8")
    says = CONTENTS[content]
    if name.startswith("folder"):
        says = str(path.parent)
    elif name.endswith("parquet"):
        says = UNREAD
    with pytest.raises(EditionError, match=says) as caught:
        READERS[name](path)
    assert says == str(path.parent) or str(path) in str(caught.value)


@pytest.mark.parametrize("name", [name for name in READERS if "/" not in name])
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(EditionError, match=rf"{name}: there is no such file"):
        READERS[name](tmp_path / name)
