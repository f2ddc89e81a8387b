"""What a refresh is to do: options over the configuration, over what has been begun."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.wikipedia import load_wikipedia
from tasks.editions.refresh import RefreshSettings, load_refresh
from tasks.models.errors import Misconfigured, UnknownPrice
from tasks.planning.edition_options import RefreshOptions
from tasks.planning.month import (
    Month,
    check_month,
    group_agents,
    list_obstacles,
    resolve_month,
    sum_spent,
)
from tasks.planning.sources import check_page_operator
from tasks.site.mark import UnwritableSite
from tasks.warehouse.calls import Call
from tasks.warehouse.jobs import Job
from tasks.warehouse.results import Verdict
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Collection
from tasks.warehouse.writer import Change
from tests.tasks.costs.test_runs import call, job
from tests.tasks.made_rows import a_row

DECEMBER = datetime(2026, 12, 1, 6, 30, tzinfo=UTC)
BEGUN = datetime(2026, 11, 20, 6, tzinfo=UTC)
SETTINGS = RefreshSettings.model_validate(
    {"agents": ["lexical_baseline"], "articles": 30, "window_months": 2, "budget_usd": 50,
     "publish": {"to": "sites/{edition}", "judges": ["offline"], "approval_hours": 5}}
)  # fmt: skip


def begun(warehouse: Warehouse, edition: str = "2026-12", **more: Any) -> None:
    given: dict[str, Any] = {
        "edition": edition, "created_since": BEGUN - timedelta(days=100), "created_until": BEGUN,
        "n_articles": 7, "begun_at": BEGUN,
    }  # fmt: skip
    warehouse.write(Change(Collection, [a_row(Collection, **given | more)]))


def month(warehouse: Warehouse, **wished: Any) -> Month:
    return resolve_month(warehouse, SETTINGS, RefreshOptions.model_validate(wished), DECEMBER)


def test_a_month_is_named_and_bounded_by_when_it_was_to_begin(warehouse: Warehouse) -> None:
    found = month(warehouse)
    assert found.edition == "2026-12"
    assert found.created_from == datetime(2026, 10, 1, tzinfo=UTC)
    assert found.created_to == datetime(2026, 12, 1, tzinfo=UTC)
    assert (found.articles, found.judge, found.budget_usd) == (30, "offline", 50)
    assert found.site is not None
    assert (found.site.folder, found.site.judges) == ("sites/2026-12", ("offline",))
    assert (found.site.approve, found.site.approval_hours) == (False, 5)


def test_what_somebody_wishes_comes_before_what_is_configured(warehouse: Warehouse) -> None:
    found = month(
        warehouse, edition="x", created_from=BEGUN, created_to=DECEMBER, articles=3,
        agents=["local_model", "local_model"], judge="local", extractor="local", budget_usd=0.0,
        site="elsewhere", approve=True,
    )  # fmt: skip
    assert (found.edition, found.created_from, found.created_to) == ("x", BEGUN, DECEMBER)
    assert (found.articles, found.agents, found.budget_usd) == (3, ("local_model",), 0.0)
    assert found.judges == ["local"]
    assert found.site is not None
    assert (found.site.folder, found.site.approve) == ("elsewhere", True)
    assert month(warehouse, to_publish=False, site="elsewhere").site is None


def test_the_months_judge_extracts_if_it_is_a_model_and_nobody_says_otherwise(
    warehouse: Warehouse,
) -> None:
    assert month(warehouse).extracted_by == "offline"
    assert month(warehouse, judge="gpt-5.5").extracted_by == "gpt-5.5"
    said_otherwise = month(warehouse, judge="gpt-5.5", extractor="offline")
    assert (said_otherwise.extracted_by, said_otherwise.judges) == ("offline", ["gpt-5.5"])
    configured = SETTINGS.model_copy(update={"extractor": "offline", "judge": "gpt-5.5"})
    of_file = resolve_month(warehouse, configured, RefreshOptions(), DECEMBER)
    assert of_file.extracted_by == "offline"


def test_a_month_without_a_budget_begins_only_if_its_extractor_is_named_or_free(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGREEN_OPERATOR", "me@example.org")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    unlimited = SETTINGS.model_copy(update={"budget_usd": None})

    def check(**wished: Any) -> None:
        options = RefreshOptions.model_validate({"to_publish": False} | wished)
        check_month(warehouse, resolve_month(warehouse, unlimited, options, DECEMBER))

    with pytest.raises(Misconfigured, match=r"gpt-5\.5 would extract .* there is no budget"):
        check(judge="gpt-5.5")
    for allowed in ({"budget_usd": 5.0}, {"extractor": "gpt-5.5"}, {"extractor": "offline"}):
        check(judge="gpt-5.5", **allowed)
    check()


def test_a_day_without_a_time_zone_is_one_of_utc(warehouse: Warehouse) -> None:
    found = month(warehouse, created_from=datetime(2026, 11, 1))  # noqa: DTZ001
    assert found.created_from == datetime(2026, 11, 1, tzinfo=UTC)


def test_an_edition_that_was_begun_stays_as_it_was_begun(warehouse: Warehouse) -> None:
    begun(warehouse)
    found = month(warehouse)
    assert (found.created_from, found.created_to, found.articles) == (None, None, None)
    assert month(warehouse, articles=9).articles == 9  # to be refused with its reason


def test_without_its_own_numbers_it_takes_those_of_every_collection(warehouse: Warehouse) -> None:
    usual = RefreshSettings(agents=("lexical_baseline",))
    found = resolve_month(warehouse, usual, RefreshOptions(), DECEMBER)
    assert (found.articles, found.site) == (None, None)
    assert load_wikipedia().window_months == 6
    assert found.created_from == datetime(2026, 6, 1, tzinfo=UTC)


def test_who_is_given_the_sources_is_asked_alone_and_who_searches_archived_pages_last(
    warehouse: Warehouse,
) -> None:
    asked = ["lexical_baseline", "sources_baseline", "local_model", "gemini_deep_research"]
    assert group_agents(month(warehouse, agents=asked)) == [
        ["local_model", "gemini_deep_research"], ["sources_baseline"], ["lexical_baseline"]
    ]  # fmt: skip
    assert group_agents(month(warehouse)) == [["lexical_baseline"]]


def test_without_a_contact_nobodys_sources_are_fetched(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVERGREEN_OPERATOR", raising=False)
    begun(warehouse)
    agents = ["sources_baseline"]
    with pytest.raises(ConfigurationError, match=r"configs/web\.yaml: `operator` is empty"):
        check_page_operator(warehouse, "2026-12", agents)
    monkeypatch.setenv("EVERGREEN_OPERATOR", "somebody@example.org")
    check_page_operator(warehouse, "2026-12", agents)


def test_what_a_month_has_spent_is_that_of_its_own_reports_and_judges(warehouse: Warehouse) -> None:
    begun(warehouse)
    mine = month(warehouse, agents=["local_model"], judge="local", extractor="gpt-5.5")
    assert sum_spent(warehouse, mine) == 0.0
    after, before = BEGUN + timedelta(hours=1), BEGUN - timedelta(hours=1)
    usual = {"edition": "2026-12", "agent": "local_model"}
    warehouse.write(
        Change(
            Job,
            [
                job(1, "done", **usual, cost_usd=1.0),
                job(2, "failed", **usual, cost_usd=2.0),
                job(3, "running", **usual),
                job(4, "done", edition="2026-12", agent="another", cost_usd=400.0),
                job(5, "done", edition="2026-11", agent="local_model", cost_usd=500.0),
            ],
        ),
        Change(
            Call,
            [
                call(1, after, cost_usd=0.25),
                call(2, after, cost_usd=0.5, judge="gpt-5.5"),
                call(3, after, cost_usd=None),
                call(4, before, cost_usd=600.0),
                call(5, after, cost_usd=700.0, judge="gemini-3.8-flash"),
                call(6, after, cost_usd=800.0),
            ],
        ),
        Change(
            Verdict,
            [
                a_row(Verdict, edition=e, cell_id=c, call_id=c)
                for e, c in (("2026-12", "c1"), ("2026-11", "c6"))
            ],
        ),
    )
    assert sum_spent(warehouse, mine) == 3.75


@pytest.mark.parametrize(
    ("wished", "error", "said"),
    [
        ({}, ConfigurationError, "`operator` is empty"),
        ({"agents": ["grok"]}, ConfigurationError, "grok has no `ask`"),
        ({"agents": ["openai_gpt_5_5"]}, Misconfigured, "has no key"),
        ({"judge": "nobody"}, ConfigurationError, "no judge 'nobody'"),
        ({"extractor": "gpt-5.5"}, Misconfigured, "has no key"),
        ({"agents": ["qwen_deep_research"]}, UnknownPrice, "has no `price`"),
        ({"batch": True}, Misconfigured, "nothing to ask in batches"),
        ({"site": "{tmp}"}, UnwritableSite, "--site"),
    ],
)
def test_what_cannot_end_well_is_refused_beforehand(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wished: dict[str, Any],
    error: type[Exception], said: str,
) -> None:  # fmt: skip
    for name in ("OPENAI_API_KEY", "EVERGREEN_OPERATOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DASHSCOPE_API_KEY", "k")
    if wished:
        monkeypatch.setenv("EVERGREEN_OPERATOR", "me@example.org")
    (tmp_path / "something.txt").write_text("else")
    site = {"site": str(tmp_path)} if "site" in wished else {}
    with pytest.raises(error, match=said):
        check_month(warehouse, month(warehouse, **wished | site))


def test_a_frozen_edition_needs_nobody_who_would_ask_the_wiki(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVERGREEN_OPERATOR", raising=False)
    begun(warehouse, frozen_at=BEGUN)
    check_month(warehouse, month(warehouse, site=str(tmp_path / "site")))


def test_a_month_with_a_site_does_not_begin_while_a_key_to_sign_with_is_named(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(warehouse, frozen_at=BEGUN)
    monkeypatch.setenv("EVERGREEN_SIGNING_KEY", "evergreen.key")
    check_month(warehouse, month(warehouse, to_publish=False))
    with pytest.raises(ConfigurationError, match="no longer signs"):
        check_month(warehouse, month(warehouse, site=str(tmp_path / "site")))


def test_questions_need_a_judge_that_can_make_them(warehouse: Warehouse) -> None:
    begun(warehouse, frozen_at=BEGUN)
    asking = SETTINGS.model_copy(update={"protocols": ("wiki_writing", "claim_discovery")})
    with pytest.raises(Misconfigured, match="cannot make questions"):
        check_month(warehouse, resolve_month(warehouse, asking, RefreshOptions(), DECEMBER))


def test_what_would_stop_every_month_is_listed_before_one_is_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("EVERGREEN_OPERATOR", "PERPLEXITY_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    free = load_refresh()
    [operator] = list_obstacles(free)
    assert "EVERGREEN_OPERATOR" in operator
    changes: dict[str, Any] = {"agents": ("perplexity_high",), "judge": "gpt-5.5", "budget_usd": 5}
    keys = " ".join(list_obstacles(free.model_copy(update=changes)))
    for name in ("PERPLEXITY_API_KEY", "OPENAI_API_KEY", "EVERGREEN_OPERATOR"):
        assert name in keys
    monkeypatch.setenv("EVERGREEN_OPERATOR", "me@example.org")
    assert list_obstacles(free) == []
