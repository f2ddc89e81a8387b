"""A reader of logs, errors and stored runs who looks for passwords."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from flows.cli.main import main
from tasks.agents.kinds.http import HttpAsk
from tasks.agents.kinds.openai_responses import OpenAiResponsesAsk
from tasks.collection.request import CollectionRequest, begin_collection
from tasks.configuration.models import LlmJudgeEntry, load_judges
from tasks.configuration.web import JinaReader, WaybackMachine
from tasks.configuration.wikipedia import load_wikipedia
from tasks.credentials import CredentialsInAddress
from tasks.doctor.network import find_services
from tasks.judging.clients import _build_endpoint
from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.lake import _object_store_secret
from tasks.warehouse.location import parse_location
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import open_warehouse
from tasks.web.services import JinaSource, WaybackSource

SECRET = "hunter2"
ADDRESSES = (
    f"https://me:{SECRET}@host.invalid/v1", f"https://{SECRET}@host.invalid",
    f"http://me:{SECRET}/?#@host.invalid", f"me:{SECRET}@host.invalid",
)  # fmt: skip
VARIABLE = "SOME_OTHER_NAME"


def refused(call: Callable[[], object], said: str) -> None:
    """The call is refused, and the error names the setting without the password."""
    with pytest.raises(CredentialsInAddress) as error:
        call()
    assert SECRET not in str(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "name",
    ["EVERGREEN_SANDBOX", "OPENAI_BASE_URL", "EVERGREEN_LOCAL_URL", "PREFECT_API_URL",
     "PREFECT_UI_URL", "AWS_ENDPOINT_URL"],
)  # fmt: skip
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_command_starts_with_a_password_in_a_variable(
    name: str,
    address: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A command refuses an address with credentials in a variable before it does anything."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, address)
    monkeypatch.setattr(sys, "argv", ["evergreen", "status"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = "".join(capfd.readouterr())
    assert ended.value.code == 1
    assert f"error: {name}: expected an address without" in said
    assert SECRET not in said


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_service_is_asked_at_an_address_with_a_password(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No agent, judge or service is asked at an address with credentials, whatever names it."""
    agent = OpenAiResponsesAsk(kind="openai_responses", model="m", base_url_env=VARIABLE)
    own = HttpAsk(kind="http", url="https://host.invalid", url_env=VARIABLE)
    judge = load_judges().judges["local"].model_copy(update={"base_url_env": VARIABLE})
    assert isinstance(judge, LlmJudgeEntry)
    unused: Any = Mock()
    jina = JinaReader(url="https://host.invalid", url_env=VARIABLE)
    wayback = WaybackMachine(url="https://host.invalid", url_env=VARIABLE)
    monkeypatch.setenv(VARIABLE, address)
    refused(agent.find_base_url, VARIABLE)
    refused(own.find_base_url, VARIABLE)
    refused(lambda: _build_endpoint(judge), VARIABLE)
    refused(lambda: JinaSource(jina, unused, unused, unused, 1), VARIABLE)
    refused(lambda: WaybackSource(wayback, unused, unused, unused), VARIABLE)
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    refused(lambda: list(find_services()), "OPENAI_BASE_URL")


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_configured_address_has_a_password(address: str) -> None:
    """A configuration file with credentials in an address is refused, and they are not repeated."""
    written = {"base_url": address, "url": address, "api_url": address, "pageviews_url": address}
    wiki = load_wikipedia().model_dump()
    for model, fields in (
        (OpenAiResponsesAsk, {"kind": "openai_responses", "model": "m"} | written),
        (HttpAsk, {"kind": "http"} | written),
        (LlmJudgeEntry, {"kind": "gemini"} | written),
        (JinaReader, written),
        (WaybackMachine, written),
        (type(load_wikipedia()), wiki | {"api_url": address}),
        (type(load_wikipedia()), wiki | {"pageviews_url": address}),
    ):
        refused(partial(model.model_validate, fields), "url` in the configuration")


def test_no_wiki_is_stored_with_a_password(tmp_path: Path) -> None:
    """A collection is not begun at a wiki's address with credentials, which it would publish."""
    with open_warehouse(tmp_path / "w.duckdb") as opened:
        for address in ADDRESSES:
            asked = CollectionRequest(edition="e", api_url=address)
            begin = partial(begin_collection, opened, asked, load_wikipedia(), utc_now())
            refused(begin, "--wiki-api")


@pytest.mark.parametrize(
    "address",
    [
        f"ducklake:postgres:host=h dbname=d password={SECRET}?files=/f",
        f"ducklake:postgres:host=h dbname=d sslpassword={SECRET}?files=/f",
        f"ducklake:postgres:host=h dbname=d oauth_client_secret=a {SECRET}?files=/f",
        f"ducklake:postgres://me:{SECRET}@h/d?files=/f",
        f"ducklake:postgres:dbname=d?files=/f&data=s3://key:{SECRET}@bucket",
        f"ducklake:postgres:dbname=d?files=/f&data=https://key:a@{SECRET}@bucket",
        f"ducklake:mysql:host=h pwd={SECRET}?files=/f",
        f"ducklake:mysql://me:x@{SECRET}@h/d",
        f"duckdb:me:{SECRET}@h",
        f"postgresql+psycopg://me:{SECRET}@h/d",
    ],
)
def test_no_warehouse_is_named_with_a_password(address: str) -> None:
    """A warehouse's address with a password is refused, and the error does not repeat it."""
    with pytest.raises(WarehouseError) as error:
        parse_location(address)
    assert SECRET not in str(error.value)


def test_no_object_store_is_asked_at_an_address_with_a_password() -> None:
    """An object store's address with credentials is refused before anything connects."""
    keys = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}
    for address in ADDRESSES:
        given = keys | {"AWS_ENDPOINT_URL": address}
        refused(partial(_object_store_secret, given), "AWS_ENDPOINT_URL")
