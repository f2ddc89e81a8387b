"""Where a warehouse is: one setting, read the same way everywhere."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.location import DuckDBFile, DuckLake, parse_location

LAKE = "ducklake:postgres:host=db dbname=evergreen user=me?files=/srv/evergreen"


@pytest.mark.file_only
def test_a_path_and_its_address_mean_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    of_path, of_text, of_url = (
        parse_location(path),
        parse_location(str(path)),
        parse_location(f"duckdb://{path}"),
    )
    assert of_path == of_text == of_url
    assert isinstance(of_path, DuckDBFile)
    assert (of_path.path, of_path.name, of_path.root) == (path, "w", tmp_path)
    assert parse_location(of_path) is of_path


@pytest.mark.file_only
def test_a_person_is_shown_what_they_gave(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    found = parse_location("data/w.duckdb")
    assert str(found) == "data/w.duckdb"
    assert found.url == str(tmp_path / "data/w.duckdb")


def test_a_lake_has_a_catalog_rows_and_a_folder_for_the_rest() -> None:
    found = parse_location(LAKE)
    assert isinstance(found, DuckLake)
    assert found.name == "evergreen"
    assert found.data == "/srv/evergreen/rows/evergreen/"
    assert found.subfolder("pages") == Path("/srv/evergreen/pages/evergreen")
    assert found.schema == "public"


def test_the_order_of_the_words_makes_no_other_warehouse() -> None:
    other = "ducklake:postgres:user=me dbname=evergreen host=db?files=/srv/evergreen"
    assert parse_location(other).url == parse_location(LAKE).url


def test_rows_may_lie_in_an_object_store_and_warehouses_share_a_database() -> None:
    found = parse_location(f"{LAKE}&data=s3://bucket/rows&schema=second")
    assert isinstance(found, DuckLake)
    assert (found.data, found.schema, found.name) == (
        "s3://bucket/rows/", "second", "evergreen-second",
    )  # fmt: skip
    assert parse_location(found.url) == found


def test_an_address_of_postgres_with_settings_of_its_own_is_understood() -> None:
    found = parse_location(
        "ducklake:postgres:postgresql://me@db:5433/e?sslmode=require?files=/srv/e"
    )
    assert isinstance(found, DuckLake)
    assert "sslmode=require" in found.catalog
    assert "port=5433" in found.catalog


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("postgresql://db/e", "not a kind of warehouse"),
        ("duckdb://relative.duckdb", "duckdb:///absolute"),
        ("duckdb:///", "duckdb:///absolute"),
        ("ducklake:sqlite:x.db?files=/srv", "must be a Postgres database"),
        ("ducklake:postgres:host=db dbname=e", "files=FOLDER"),
        ("ducklake:postgres:host=db?files=/srv", "names no database"),
        ("ducklake:postgres:host=db dbname=e nonsense?files=/srv", "cannot be parsed"),
        (f"{LAKE}&data=gopher://x", "s3://bucket"),
        (f"{LAKE}&colour=red", "no setting 'colour'"),
        (f"{LAKE}&schema=Bad-Name", "lower-case Postgres name"),
    ],
)
def test_what_is_wrong_with_an_address_is_said(wrong: str, said: str) -> None:
    with pytest.raises(WarehouseError, match=said):
        parse_location(wrong)


@pytest.mark.parametrize(
    "words",
    [
        "host=db dbname=e password=hunter2", "postgresql://me:hunter2@db/e",
        "host=db dbname=e password='hunter2'",
    ],
)  # fmt: skip
def test_a_password_in_an_address_is_refused_and_not_repeated(words: str) -> None:
    with pytest.raises(WarehouseError, match="PGPASSWORD") as refused:
        parse_location(f"ducklake:postgres:{words}?files=/srv")
    assert "hunter2" not in str(refused.value)
    with pytest.raises(WarehouseError) as unread:
        parse_location(f"ducklake:{words}?files=/srv")
    assert "hunter2" not in str(unread.value)


@pytest.mark.parametrize(
    "rest",
    [
        "//me:hunter2@db/e?files=/srv",
        "dbname=e?files=/srv&data=s3://key:hunter2@bucket/rows",
        "dbname=e?files=/srv&data=https://key:hunter2@bucket/rows",
    ],
)
def test_no_way_of_writing_a_secret_into_an_address_repeats_it(rest: str) -> None:
    with pytest.raises(WarehouseError) as refused:
        parse_location(f"ducklake:postgres:{rest}")
    assert "hunter2" not in str(refused.value)


@given(st.text(max_size=60))
def test_any_text_is_a_place_or_is_refused_in_our_words(text: str) -> None:
    if "\0" in text:
        return
    try:
        found = parse_location(text)
    except WarehouseError:
        return
    assert found.url
