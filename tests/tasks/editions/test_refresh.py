"""`configs/refresh.yaml`: what is wrong in it is said with file, key and expectation."""

import asyncio
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import PACKAGED
from tasks.editions.refresh import RefreshSettings, Schedule, load_refresh

DECEMBER = datetime(2026, 12, 1, 6, tzinfo=UTC)


def settings(**changed: Any) -> RefreshSettings:
    return RefreshSettings.model_validate({"agents": ["lexical_baseline"]} | changed)


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    """A copy of the project's configuration to change."""
    return Path(shutil.copytree(PACKAGED, tmp_path / "configs"))


def written(configs: Path, **changed: Any) -> Path:
    file = configs / "refresh.yaml"
    known = yaml.safe_load(file.read_text("utf-8"))
    file.write_text(yaml.safe_dump(known | changed), "utf-8")
    return file


def test_the_shipped_one_asks_a_free_agent_and_begins_on_the_first_of_each_month() -> None:
    found = load_refresh()
    assert found.agents == ("sources_baseline",)
    assert found.schedule is not None
    assert (found.schedule.cron, found.schedule.timezone) == ("0 6 1 * *", "UTC")
    assert found.edition_of(DECEMBER) == "2026-12"
    assert found.publish is not None


def test_an_agent_that_costs_money_is_one_more_line(configs: Path) -> None:
    file = configs / "refresh.yaml"
    shipped = file.read_text("utf-8")
    file.write_text(shipped.replace("  # - perplexity_high #", "  - perplexity_high #", 1), "utf-8")
    assert len(shipped.splitlines()) == len(file.read_text("utf-8").splitlines())
    assert load_refresh(configs).agents == ("sources_baseline", "perplexity_high")


@pytest.mark.parametrize(
    ("changed", "key", "said"),
    [
        ({"agents": []}, "agents", "a list of at least 1"),
        ({"agents": ["nobody"]}, "agents", "there is no 'nobody'"),
        ({"agents": ["grok"]}, "agents", "there is no 'grok'"),  # its reports are imported
        ({"judge": "nobody"}, "judge", "there is no 'nobody'"),
        ({"extractor": "nobody"}, "extractor", "there is no 'nobody'"),
        ({"protocols": ["wiki_magic"]}, "protocols", "there is no 'wiki_magic'"),
        ({"protocols": []}, "protocols", "a list of at least 1"),
        ({"publish": {"to": "x", "judges": ["nobody"]}}, "publish.judges", "there is no 'nobody'"),
        ({"publish": {"approve": True}}, "publish.to", "is missing"),
        ({"publish": {"to": "x/{month}"}}, "publish.to", "{edition}"),
        ({"publish": {"to": "x", "approval_hours": 0}}, "publish.approval_hours", "greater than 0"),
        ({"articles": 0}, "articles", "greater than 0"),
        ({"budget_usd": -1}, "budget_usd", "greater than or equal to 0"),
        ({"budget_usd": "much"}, "budget_usd", "a valid number"),
        ({"alerts": {"chat": "https://a.b/secret"}}, "alerts.chat", "something else, which is not"),
        ({"alerts": {"about": ["weather"]}}, "alerts.about.0", "'published'"),
        ({"runs_at_once": {"gemini": 0}}, "runs_at_once.gemini", "greater than 0"),
        ({"edition": "{week}"}, "edition", "{year}, {month}, {day}"),
        ({"edition": "{year.real}"}, "edition", "{year}, {month}, {day}"),
        ({"edition": "{}"}, "edition", "{year}, {month}, {day}"),
        ({"edition": "{year"}, "edition", "{year}, {month}, {day}"),
        ({"edition": "a month/{year}"}, "edition", "letters, digits, dots"),
        ({"schedule": {"cron": "monthly"}}, "schedule.cron", "expected five fields"),
        ({"schedule": {"cron": "0 6 32 * *"}}, "schedule.cron", "Bad day-of-month"),
        ({"schedule": {"cron": "0 6 1 * mond"}}, "schedule.cron", "Bad day-of-week"),
        ({"schedule": {"cron": "0 6 1 * *", "timezone": "Mars"}}, "schedule.timezone", "time zone"),
        ({"schedule": {"cron": "0 6 1 * *", "timezone": "../x"}}, "schedule.timezone", "time zone"),
        ({"speed": "fast"}, "speed", "unknown key"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_key(
    configs: Path, changed: dict[str, Any], key: str, said: str
) -> None:
    file = written(configs, **changed)
    with pytest.raises(ConfigurationError) as caught:
        load_refresh(configs)
    assert str(file) in str(caught.value)
    assert f"`{key}`" in str(caught.value)
    assert said in str(caught.value)


def test_what_has_a_usual_value_may_be_left_out(configs: Path) -> None:
    (configs / "refresh.yaml").write_text("agents: [lexical_baseline]\n", "utf-8")
    found = load_refresh(configs)
    assert found.protocols == ("wiki_writing",)
    assert (found.schedule, found.publish, found.budget_usd) == (None, None, None)


@pytest.mark.parametrize(
    ("pattern", "zone", "moment", "name"),
    [
        ("{year}-{month:02}", "UTC", DECEMBER, "2026-12"),
        ("{year}-{month:02}", "UTC", DECEMBER.replace(tzinfo=None), "2026-12"),
        # The month is that of the schedule's time zone, wherever the machine is.
        ("{year}-{month:02}", "Asia/Tokyo", datetime(2026, 11, 30, 21, tzinfo=UTC), "2026-12"),
        ("{year}-{month:02}", "America/New_York", DECEMBER.replace(hour=4), "2026-11"),
        ("w{year}{month:02}{day:02}", "UTC", DECEMBER, "w20261201"),
        ("always", "UTC", DECEMBER, "always"),
    ],
)
def test_an_edition_is_named_after_the_day_of_its_schedule(
    pattern: str, zone: str, moment: datetime, name: str
) -> None:
    schedule = {"cron": "0 6 1 * *", "timezone": zone}
    assert settings(edition=pattern, schedule=schedule).edition_of(moment) == name


CRON_FIELDS: dict[str, tuple[int, int, tuple[str, ...]]] = {
    "minute": (0, 59, ()),
    "hour": (0, 23, ()),
    "day of the month": (1, 28, ()),
    "month": (1, 12, ("jan", "dec")),
    "weekday": (0, 7, ("sun", "sat")),
}


def _part(field: str) -> st.SearchStrategy[str]:
    least, greatest, names = CRON_FIELDS[field]
    number = st.integers(least, greatest).map(str)
    one = st.one_of(number, st.sampled_from(names)) if names else number
    span = st.tuples(st.integers(least, greatest), st.integers(least, greatest)).map(
        lambda ends: f"{min(ends)}-{max(ends)}"
    )
    stepped = st.tuples(st.one_of(st.just("*"), span), st.integers(1, 10)).map(
        lambda pair: f"{pair[0]}/{pair[1]}"
    )
    return st.lists(st.one_of(st.just("*"), one, span, stepped), min_size=1, max_size=3).map(
        ",".join
    )


@hypothesis_settings(deadline=None)  # the first example imports Prefect
@given(st.tuples(*map(_part, CRON_FIELDS)).map(" ".join))
def test_what_passes_here_is_a_schedule_for_prefect_too(cron: str) -> None:
    from prefect.client.schemas.schedules import CronSchedule

    assert Schedule(cron=cron).cron == cron
    assert CronSchedule(cron=cron, timezone="UTC").cron == cron


@hypothesis_settings(deadline=None)
@given(st.text(alphabet="0123456789*/,-abc #?L@", max_size=20))
def test_whatever_else_is_written_there_is_never_more_than_refused(cron: str) -> None:
    from prefect.client.schemas.schedules import CronSchedule

    try:
        Schedule(cron=cron)
    except ValueError:
        return
    assert CronSchedule(cron=cron, timezone="UTC").cron == cron


@pytest.mark.parametrize("cron", ["0 6 1 * *", "30 2 * * *", "0 0 29 2 *", "15 23 * * SUN"])
@pytest.mark.parametrize("timezone", ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize(
    "moment",
    [DECEMBER, DECEMBER - timedelta(seconds=1), datetime(2027, 3, 28, 2, 30, tzinfo=UTC)],
)
def test_the_next_month_begins_when_prefect_will_begin_it(
    cron: str, timezone: str, moment: datetime
) -> None:
    from prefect.server.schemas.schedules import CronSchedule

    # Prefect counts from a moment on, we from after it.
    start = moment + timedelta(microseconds=1)
    (expected,) = asyncio.run(CronSchedule(cron=cron, timezone=timezone).get_dates(1, start))
    assert Schedule(cron=cron, timezone=timezone).next_after(moment) == expected
