"""`evergreen sandbox` in this process: what it says before anything is served."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from flows.cli.sandbox import sandbox
from flows.display.console import STDERR
from tasks.imports.wlc import import_edition
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tests.tasks.sandbox.archives import write_snapshot

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """Where a warehouse would be whose edition `e` was exported."""
    write_snapshot(tmp_path / "exports" / "w" / "e" / "latest")
    return tmp_path / "w.duckdb"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with the sample edition, exported."""
    path = tmp_path_factory.mktemp("sample") / "real.duckdb"
    with open_warehouse(path) as store:
        import_edition(store, ROOT / "data" / "sample", "sample", [])
        export_edition(store, "sample")
    return path


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "there is no warehouse yet"),
        (("--exports", "nowhere"), "give --edition, --corpus, or both"),
        (("--edition", "e", "--as-of", "soon"), "expected a day as 2025-11-30, not 'soon'"),
        (("--edition", "e", "--without-banned"), "No such option"),
        (("--corpus", "nowhere"), "Give --open to answer everybody"),
        (("--edition", "other"), "there is no warehouse yet"),
        (("--corpus", "nowhere", "--open"), "is not a corpus"),
        (("--edition", "e", "--host", "192.0.2.1"), "Cannot listen on"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_built(
    warehouse: Path, options: tuple[str, ...], said: str
) -> None:
    code, told = invoked(warehouse, *options, COLUMNS="200")
    assert code != 0
    assert said in " ".join(told.replace("│", " ").split())
    assert not list(warehouse.parent.glob("sandbox/w/e-*/current.json"))


def invoked(warehouse: Path, *options: str, **environment: str) -> tuple[int, str]:
    """The exit code of the command in this process, and all that it said."""
    app = typer.Typer()
    app.command()(sandbox)
    with STDERR.capture() as remarks:
        done = CliRunner().invoke(app, ["--warehouse", str(warehouse), *options], env=environment)
    return done.exit_code, f"{done.output} {remarks.get()} {done.exception}"


def test_an_edition_that_is_not_there_is_told_with_those_that_are(sample: Path) -> None:
    code, said = invoked(sample, "--edition", "smaple")
    assert code == 1
    assert "There is no edition 'smaple'. Did you mean sample?" in said


@pytest.mark.parametrize(
    ("lines", "options", "said"),
    [
        ("[1]\n", (), "no page can be served"),
        ('{"url": "https://a.example", "text": "x", "date": "2025"}', ("--as-of", "2024-01-01"),
         "0 of 1 pages are served; pages from after 2024-01-01 are left out: there is nothing"),
    ],
)  # fmt: skip
def test_nothing_to_serve_is_an_error(
    warehouse: Path, tmp_path: Path, lines: str, options: tuple[str, ...], said: str
) -> None:
    (tmp_path / "c.jsonl").write_text(lines)
    corpus = ("--corpus", str(tmp_path / "c.jsonl"), "--port", "0", "--open")
    code, told = invoked(warehouse, *corpus, *options)
    assert code == 1
    assert said in told


def test_what_is_left_out_or_not_dated_is_counted_and_named(
    warehouse: Path, tmp_path: Path
) -> None:
    one, two = ({"url": "https://a.example", "text": text, "date": "soon"} for text in "xy")
    more = {"url": "https://b.example", "text": "z", "date": "later"}
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, (one, two, more))))
    code, told = invoked(warehouse, "--corpus", str(tmp_path / "c.jsonl"), "--build-only")
    assert code == 0
    assert "left out: https://a.example: an earlier page has this URL" in told
    assert "date not read: c.jsonl:1: 'soon'" in told
    assert "date not read: 2 more" in told
    assert "2 pages in 2 passages" in told


LAKE = "ducklake:postgres:host=192.0.2.1 dbname=w?files=/nowhere"
"""A warehouse that cannot be opened."""


def test_an_export_and_a_folder_for_the_index_need_no_warehouse(
    warehouse: Path, tmp_path: Path
) -> None:
    exports, index = warehouse.parent / "exports" / "w", tmp_path / "index"
    named = ("--edition", "e", "--exports", str(exports), "--index", str(index))
    before = {path for path in tmp_path.rglob("*") if path != index}
    code, told = invoked(Path(LAKE), *named, "--build-only")
    assert code == 0, told
    assert list(index.glob("e-*/current.json"))
    assert {path for path in tmp_path.rglob("*") if index not in (path, *path.parents)} == before


def test_an_edition_without_an_export_in_the_folder_says_how_to_make_one(tmp_path: Path) -> None:
    code, told = invoked(Path(LAKE), "--edition", "e", "--exports", str(tmp_path))
    assert code == 1
    assert f"{tmp_path}/e/latest does not exist: expected an export of e" in told
