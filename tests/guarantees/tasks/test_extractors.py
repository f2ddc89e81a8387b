"""Who extracts facts and claims, and what a run leaves to those who have extracted before."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from flows.display.estimate import estimate_evaluation
from tasks.claims import describe_kept_extractions, select_extractions
from tasks.extraction.claims import ExtractedClaims, extract_claims
from tasks.judges.registry import OFFLINE, list_judges, resolve_extractor
from tasks.models.errors import Misconfigured
from tasks.planning.permission import (
    check_permitted,
    describe_extraction,
    describe_future_extraction,
)
from tasks.run import Plan
from tasks.scoring.extractors import describe_extractors
from tasks.verdicts import VERDICTS
from tasks.warehouse.rows import Claim, Extraction, Fact
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.llm_runs import at_hand, configured, rows, value, write_configs
from tests.flows.plain_evaluation import evaluate_plainly
from tests.in_this_process import no_helpers
from tests.servers.gemini import GeminiServer
from tests.tasks.annotated import sample_warehouse
from tests.tasks.runs import plan_of

FACT = ("wiki_fact",)
BRIDGES = "Seven_Bridges_of_Königsberg"
AGENTS, ARTICLES = ("sample_scholar", "sample_sketch"), ("Mercury_(planet)", BRIDGES)
N_TEXTS, N_PUBLISHED = 1 + 2, 1 + 2
"""Of these agents and articles: one article's facts and one agent's claims are published."""
SOURCES = "SELECT source, count(*) FROM extractions GROUP BY source ORDER BY source"


Bought = tuple[int, int]
"""Questions of extractions and others that the test server was asked."""


@pytest.fixture(scope="module", autouse=True)
def configs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with configured(write_configs(tmp_path_factory.mktemp("configs"))):
        yield


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the sample edition these agents and articles; never changed."""
    path = sample_warehouse(tmp_path_factory.mktemp("small"))
    with duckdb.connect(str(path)) as connection:
        for column, kept in (("agent", ("", *AGENTS)), ("article", ARTICLES),
                             ("assignment", ARTICLES)):  # fmt: skip
            holding = "SELECT table_name FROM duckdb_columns() WHERE column_name = $1 AND "
            holding += "table_name IN (SELECT table_name FROM duckdb_tables())"
            for (table,) in connection.execute(holding, [column]).fetchall():
                connection.execute(f"DELETE FROM {table} WHERE {column} NOT IN {kept}")
    return path


@pytest.fixture
def path(small: Path, tmp_path: Path) -> Path:
    """The edition, with published statements alone."""
    return Path(shutil.copy(small, tmp_path / "w.duckdb"))


@pytest.fixture(scope="module")
def by_model(small: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Bought]:
    """The edition after a model judged it, with all defaults; what was bought."""
    path = Path(shutil.copy(small, tmp_path_factory.mktemp("by_model") / "w.duckdb"))
    return path, judged(path)


@pytest.fixture(scope="module")
def _offline(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copy(small, tmp_path_factory.mktemp("offline") / "w.duckdb"))
    evaluate_plainly(path, FACT)
    return path


@pytest.fixture
def offline(_offline: Path, tmp_path: Path) -> Path:
    """The edition after the offline judge."""
    return Path(shutil.copy(_offline, tmp_path / "offline.duckdb"))


@pytest.fixture
def extracted(by_model: tuple[Path, Bought], tmp_path: Path) -> Path:
    """A copy of `by_model`."""
    return Path(shutil.copy(by_model[0], tmp_path / "extracted.duckdb"))


def judged(path: Path, **chosen: Any) -> Bought:
    """Judge by a model of the test server; return what it was asked."""
    extractions = "SELECT count(*) FROM calls WHERE protocol = 'extraction'"
    before, server = value(path, extractions), GeminiServer()
    with at_hand(server, "gemini"):
        evaluate_plainly(path, FACT, judge="gemini", **chosen)
    n = value(path, extractions) - before
    return n, len(server.log.entries) - n


def of_judge(path: Path, **more: Any) -> Plan:
    chosen = {"protocols": FACT, "judge": "gemini"} | more
    with open_warehouse(path) as store:  # which is open already
        return plan_of(store, "sample", **chosen)


def test_a_judge_that_is_a_model_extracts_unless_somebody_says_otherwise() -> None:
    assert resolve_extractor("gemini", None) == "gemini"
    assert resolve_extractor("gemini", "openai") == "openai"
    assert resolve_extractor("gemini", OFFLINE) == OFFLINE
    assert resolve_extractor(OFFLINE, None) == resolve_extractor(None, None) == OFFLINE
    assert list_judges("gemini", None) == list_judges("gemini", OFFLINE) == ["gemini"]
    assert list_judges("gemini", "openai") == ["gemini", "openai"]


def test_by_default_the_judges_model_extracts_and_a_second_run_buys_nothing(
    by_model: tuple[Path, Bought],
) -> None:
    path, bought = by_model
    assert bought[0] == N_TEXTS
    assert bought[1] > 0
    assert rows(path, SOURCES) == [("judge", N_TEXTS), ("published", N_PUBLISHED)]
    by = "SELECT DISTINCT split_part(extractor_version, ' ', 1) FROM extractions WHERE source = "
    assert rows(path, f"{by} 'judge'") == [("gemini",)]
    assert judged(path) == (0, 0)


def test_offline_buys_no_extraction_and_the_model_judges(path: Path) -> None:
    bought = judged(path, extractor=OFFLINE)
    assert bought[0] == 0
    assert bought[1] > 0
    assert rows(path, SOURCES) == [("offline", N_TEXTS), ("published", N_PUBLISHED)]


def test_without_a_key_nothing_is_bought(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = GeminiServer()
    with at_hand(server, "gemini"):
        monkeypatch.delenv("EVERGREEN_TEST_KEY")
        with pytest.raises(Misconfigured, match="has no key"):
            evaluate_plainly(path, FACT, judge="gemini")
    assert server.log.entries == []
    assert rows(path, SOURCES) == [("published", N_PUBLISHED)]


def test_what_was_extracted_offline_is_kept_and_named_until_it_is_to_be_extracted_again(
    offline: Path,
) -> None:
    path = offline
    with open_warehouse(path) as store:
        assert select_extractions(of_judge(path)) == []
        said = describe_kept_extractions(of_judge(path)) or ""
        assert "claims of 2 reports (extracted offline)" in said
        assert "facts of 1 article (extracted offline)" in said
        assert said.endswith("--judge gemini --extract-again")
        # Nobody says so where no model judges, or where no statement is used.
        assert describe_kept_extractions(of_judge(path, judge=OFFLINE)) is None
        assert describe_kept_extractions(of_judge(path, protocols=("wiki_writing",))) is None
        again = select_extractions(of_judge(path, extract_again=True))
        assert len(again) == N_TEXTS
        made = {(e.agent, e.assignment) for e in store.rows(Extraction, "source = 'offline'")}
        assert {(item.agent, item.assignment) for item in again} == made
    assert judged(path)[0] == 0


def test_extracting_again_replaces_all_but_published_statements(offline: Path) -> None:
    def published() -> list[object]:
        with open_warehouse(offline) as store:
            return [store.rows(model, "source = 'published'") for model in (Fact, Claim)]

    before = published()
    assert judged(offline, extract_again=True)[0] == N_TEXTS
    assert rows(offline, SOURCES) == [("judge", N_TEXTS), ("published", N_PUBLISHED)]
    assert published() == before
    assert value(offline, "SELECT count(*) FROM claims WHERE source = 'offline'") == 0
    assert judged(offline, extract_again=True) == (0, 0)


def test_another_judge_judges_what_the_first_has_extracted(extracted: Path) -> None:
    with open_warehouse(extracted):
        other = of_judge(extracted, judge="openai")
        assert select_extractions(other) == []
        assert "extracted by the judge gemini" in (describe_kept_extractions(other) or "")
        assert (
            len(select_extractions(of_judge(extracted, judge="openai", extract_again=True)))
            == N_TEXTS
        )


def test_another_prompt_or_model_extracts_again_only_if_it_is_told_to(extracted: Path) -> None:
    with open_warehouse(extracted) as store:
        old = [
            row.model_copy(update={"extractor_version": "gemini older-model 0123abcd"})
            for row in store.rows(Extraction, "source = 'judge'")
        ]
        store.write(Change(Extraction, old))
        assert select_extractions(of_judge(extracted)) == []
        assert len(select_extractions(of_judge(extracted, extract_again=True))) == N_TEXTS


def test_a_model_extracts_only_what_the_protocols_use(path: Path) -> None:
    with open_warehouse(path):

        def texts(*protocols: str) -> list[str]:
            return [item.agent for item in select_extractions(of_judge(path, protocols=protocols))]

        assert texts("wiki_writing") == []
        assert len(texts("fact")) == 2
        assert "" not in texts("fact")
        assert texts("wiki_fact").count("") == 1
        assert "" not in texts()  # for the pages alone, claims are enough


def test_the_estimate_counts_the_extraction_and_says_what_is_kept(
    path: Path, offline: Path
) -> None:
    with open_warehouse(path):
        frame, _ = estimate_evaluation(of_judge(path))
        extraction = frame.filter(frame["protocol"] == "extraction")
        assert extraction["calls"].sum() == N_TEXTS
        assert extraction["usd"].sum() > 0
        none, _ = estimate_evaluation(of_judge(path, extractor=OFFLINE))
        assert "extraction" not in none["protocol"].to_list()
    with open_warehouse(offline):
        frame, remarks = estimate_evaluation(of_judge(offline))
        assert "extraction" not in frame["protocol"].to_list()
        assert any("extracted offline" in remark for remark in remarks)
        again, _ = estimate_evaluation(of_judge(offline, extract_again=True))
        assert again.filter(again["protocol"] == "extraction")["calls"].sum() == N_TEXTS


def test_a_model_that_nobody_named_needs_a_budget_or_a_person(path: Path) -> None:
    def said(budget: float | None = None, **more: object) -> str | None:
        return describe_extraction(of_judge(path, **more), budget)

    with open_warehouse(path):
        found = said() or ""
        assert found.startswith("gemini would extract the facts or claims of 3 texts for about $")
        with pytest.raises(Misconfigured, match=r"there is no budget.*--extractor offline"):
            check_permitted(found)
        assert said(budget=0.0) is None
        assert said(extractor="gemini") is None
        assert said(extractor=OFFLINE) is None
        assert said(judge=OFFLINE) is None
        assert said(judge="local") is None  # costs nothing
        assert "at an unknown price" in (said(judge="priceless") or "")


def test_what_the_ledger_has_needs_no_permission(extracted: Path) -> None:
    with open_warehouse(extracted) as store:
        made = store.rows(Extraction, "source = 'judge'")
        for row in made:
            key = {"edition": "sample", "agent": row.agent, "assignment": row.assignment}
            store.write(Change(Extraction, [], replacing=key))
        assert len(select_extractions(of_judge(extracted))) == N_TEXTS
        assert describe_extraction(of_judge(extracted), None) is None


def make_older(path: Path) -> None:
    with open_warehouse(path) as store:
        made = store.rows(Extraction, "source = 'offline'")
        older = [row.model_copy(update={"extractor_version": "offline-0"}) for row in made]
        store.write(Change(Extraction, older))


def test_an_earlier_version_of_the_offline_extraction_is_updated_offline_and_kept(
    offline: Path,
) -> None:
    make_older(offline)
    with open_warehouse(offline):
        assert describe_extraction(of_judge(offline), None) is None
        assert "extracted offline" in (describe_kept_extractions(of_judge(offline)) or "")
    assert judged(offline)[0] == 0
    assert rows(offline, SOURCES) == [("offline", N_TEXTS), ("published", N_PUBLISHED)]
    versions = "SELECT count(*) FROM extractions WHERE extractor_version = 'offline-0'"
    assert value(offline, versions) == 0


def test_what_a_model_was_paid_to_judge_by_is_read_anew_only_on_demand(
    offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged(offline, extractor=OFFLINE)
    make_older(offline)
    by_offline = {"extractor": OFFLINE}
    with open_warehouse(offline) as store:
        for judge in ("gemini", OFFLINE):
            assert select_extractions(of_judge(offline, judge=judge)) == []
        board = describe_extractors(store, "sample")
        assert f"read {N_TEXTS} texts. To read them anew: " in board
        command = "evaluate --edition sample --extractor offline --extract-again"
        assert board.endswith(f"{command} --agent=sample_sketch")
        [said] = [r for r in estimate_evaluation(of_judge(offline))[1] if command in r]
        assert said.endswith(f"{command} --agent=sample_sketch --judge gemini --estimate")
        assert of_judge(offline).find_pending(VERDICTS) == []

        again = of_judge(offline, extract_again=True, **by_offline)
        assert len(select_extractions(again)) == N_TEXTS
        other = {"extract_again": True, "agents": ("sample_scholar",), **by_offline}
        assert [item.agent for item in select_extractions(of_judge(offline, **other))] == [""]
        with no_helpers():
            frame, remarks = estimate_evaluation(again)
            assert frame["calls"].sum() == 0
            assert any("finds makes 0 cells ready" in remark for remark in remarks)
            assert not any("--extract-again" in remark for remark in remarks)

            def find_more(title: str, text: str) -> ExtractedClaims:
                found = extract_claims(title, text)
                return replace(found, claims=(replace(found.claims[0], text="Another."),
                                              *found.claims[1:]))  # fmt: skip

            monkeypatch.setattr("tasks.claims.extract_claims", find_more)
            before = store.frame("FROM claims ORDER BY ALL")
            frame, remarks = estimate_evaluation(again)
            assert store.frame("FROM claims ORDER BY ALL").equals(before)
        expected = frame["calls"].sum()
        assert expected > 0
        assert any("finds makes 2 cells ready" in remark for remark in remarks)
        assert frame["usd"].sum() > 0
    assert judged(offline, extract_again=True, **by_offline) == (0, expected)
    with open_warehouse(offline) as store:
        assert "An earlier" not in describe_extractors(store, "sample")
    assert judged(offline, **by_offline) == (0, 0)


def test_what_costs_nothing_is_read_anew_by_itself(offline: Path) -> None:
    make_older(offline)
    with open_warehouse(offline) as store:
        assert "An earlier offline" in describe_extractors(store, "sample")
        assert len(select_extractions(of_judge(offline, judge=OFFLINE))) == N_TEXTS
        _, remarks = estimate_evaluation(of_judge(offline))
        assert not any("--extract-again" in said for said in remarks if "earlier" in said)


def test_before_agents_are_paid_the_extraction_of_their_reports_is_permitted(
    path: Path, extracted: Path
) -> None:
    def said(
        edition: str,
        judge: str = "gemini",
        extractor: str | None = None,
        budget: float | None = None,
    ) -> str | None:
        return describe_future_extraction(store, edition, [], judge, extractor, budget)

    with open_warehouse(path) as store:
        assert said("sample")
        assert said("not yet begun")
        assert said("not yet begun", extractor="openai") is None
        assert said("not yet begun", extractor=OFFLINE) is None
        assert said("not yet begun", budget=5.0) is None
        assert said("not yet begun", "local") is None
        assert said("not yet begun", OFFLINE) is None
    with open_warehouse(extracted) as store:
        assert said("sample") is None


def test_cells_wait_for_the_extraction_and_then_are_ready(path: Path, extracted: Path) -> None:
    with open_warehouse(path):
        waiting = [c for c in of_judge(path).find_pending(VERDICTS) if c.is_waiting]
    assert len(waiting) > 0
    with open_warehouse(extracted):
        assert of_judge(extracted).find_pending(VERDICTS) == []
