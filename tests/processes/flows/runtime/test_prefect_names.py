"""What we use of Prefect beside its documented interface: a version without it fails here.

docs/how-to/operators.md says what each is used for.
"""

import asyncio
from collections.abc import Iterator
from inspect import getsource, signature
from pathlib import Path
from pkgutil import resolve_name

import pytest
from prefect.client.orchestration import PrefectClient
from prefect.logging import loggers
from prefect.server.schemas.schedules import CronSchedule
from prefect.settings import Settings
from pydantic import AliasChoices
from pydantic_settings import BaseSettings

from flows.runtime.recovery import HEARTBEAT
from flows.runtime.server_process import server_settings
from flows.runtime.settings import prefect_environment

PARAMETERS = {
    "prefect.context:refresh_global_settings_context": set(),
    "prefect.events.worker:EventsWorker.drain_all": {"timeout", "at_exit"},
    "prefect.input.run_input:keyset_from_base_key": {"base_key"},
    "prefect.logging.handlers:APILogWorker.drain_all": {"timeout", "at_exit"},
    "prefect.server.api.server:create_app": {"final"},
    "prefect.server.database.configurations:AioSqliteConfiguration.begin_transaction": {
        "self", "session", "with_for_update",
    },
    "prefect.server.database.interface:PrefectDBInterface.create_db": {"self"},
    "prefect.server.database:provide_database_interface": set(),
}  # fmt: skip


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_function_still_takes_what_we_give_it(name: str) -> None:
    assert set(signature(resolve_name(name)).parameters) >= PARAMETERS[name]


def names_of(settings: type[BaseSettings]) -> Iterator[str]:
    """The environment's names of all settings, those of older versions too."""
    for name, field in settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseSettings):
            yield from names_of(field.annotation)
            continue
        yield f"{settings.model_config.get('env_prefix', '')}{name}".upper()
        if isinstance(field.validation_alias, AliasChoices):
            yield from (str(alias).upper() for alias in field.validation_alias.choices)


def test_every_setting_that_we_give_is_one_that_prefect_reads(tmp_path: Path) -> None:
    given = prefect_environment(tmp_path, {}) | server_settings(tmp_path, 4200)
    ours = {name for name in given if name.startswith("PREFECT_")}
    # Read by logging.yml, where any of its keys may be overwritten so.
    of_logging = {"PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"}
    assert ours - of_logging - set(names_of(Settings)) == set()


def test_heartbeats_are_still_sent_under_the_name_that_we_look_for() -> None:
    import prefect

    sources = Path(prefect.__file__).parent
    found = [path for path in sources.rglob("*.py") if f'"{HEARTBEAT}"' in path.read_text("utf-8")]
    assert found


@pytest.mark.parametrize("name", ["prefect.flow_runs", "prefect.task_runs"])
def test_the_loggers_that_we_keep_from_the_terminal_still_exist(name: str) -> None:
    assert f'"{name}"' in getsource(loggers)


def test_the_client_still_sends_requests_of_our_own() -> None:
    assert callable(PrefectClient.request)


@pytest.mark.parametrize("timezone", [None, "UTC", "Europe/Berlin"])
def test_the_server_still_finds_the_dates_of_a_cron_schedule(timezone: str | None) -> None:
    """Its scheduler would only log that it cannot."""
    schedule = CronSchedule(cron="0 6 1 * *", timezone=timezone)
    dates = asyncio.run(schedule.get_dates(3))
    assert [(each.day, each.hour) for each in dates] == [(1, 6)] * 3
