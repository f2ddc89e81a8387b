"""What a lake needs before it is one."""

import sys
from pathlib import Path

import duckdb
import pytest

from tasks.warehouse import lake
from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.location import parse_location
from tasks.warehouse.reader import check_exists
from tasks.warehouse.store import open_warehouse

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "it's"}


@pytest.mark.parametrize("name", ["ducklake", "postgres_scanner", "httpfs"])
def test_every_extension_is_there_for_the_duckdb_that_is_installed(name: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"LOAD '{lake.extension_path(name)}'")


def test_an_extension_that_is_missing_is_named_with_the_extra() -> None:
    with pytest.raises(WarehouseError, match=r"duckdb-extension-no-such .*evergreen-bench\[lake\]"):
        lake.extension_path("no_such")


def test_without_the_extra_a_lake_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "psycopg.conninfo", raising=False)
    with pytest.raises(WarehouseError) as error:
        parse_location("ducklake:postgres:host=db dbname=e?files=/srv/e")
    assert str(error.value) == (
        "A lake needs psycopg, which is not installed: pip install 'evergreen-bench[lake]'."
    )


def test_an_object_store_is_reached_by_the_variables_its_clients_have() -> None:
    own = lake._object_store_secret({**KEYS, "AWS_REGION": "eu-1"})
    assert own == "CREATE SECRET rows (TYPE s3, KEY_ID 'key', SECRET 'it''s', REGION 'eu-1')"
    other = lake._object_store_secret({**KEYS, "AWS_ENDPOINT_URL": "http://store:9000"})
    assert "ENDPOINT 'store:9000'" in other
    assert "USE_SSL 'false'" in other
    assert "USE_SSL" not in lake._object_store_secret({**KEYS, "AWS_ENDPOINT_URL": "https://store"})


def test_an_object_store_without_keys_says_which_variables_are_missing() -> None:
    with pytest.raises(WarehouseError, match="AWS_SECRET_ACCESS_KEY"):
        lake._object_store_secret({"AWS_ACCESS_KEY_ID": "key"})


def test_a_catalog_that_does_not_answer_is_told_in_our_words(tmp_path: Path) -> None:
    where = parse_location(f"ducklake:postgres:host=127.0.0.1 port=1 dbname=e?files={tmp_path}")
    for attempt in (lambda: check_exists(where), lambda: open_warehouse(where).__enter__()):
        with pytest.raises(WarehouseError, match=r"does not answer.*Start its Postgres"):
            attempt()
