"""A model's empty list for a text with statements: asked about once more, then kept and marked."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tasks.claims import CLAIMS, ExtractionFailed, describe_kept_extractions
from tasks.planning.permission import describe_extraction
from tasks.publishing.boards import make_board_views
from tasks.publishing.material import load_material
from tasks.scoring.extractors import count_empty_lists, find_empty_lists
from tasks.warehouse.calls import Call
from tasks.warehouse.rows import Assignment, Extraction, Report, content_sha
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import at_hand, rows
from tests.flows.plain_evaluation import evaluate_plainly
from tests.servers.asked import Asked
from tests.servers.base import Said
from tests.servers.gemini import GeminiServer
from tests.tasks.annotated import sample_warehouse
from tests.tasks.runs import do_pending, plan_of

pytestmark = pytest.mark.usefixtures("judges")
AGENT = "sample_sketch"
N_REPORTS, N_FACTS = 3, 1
"""What a model extracts of this agent's reports, and of the articles."""
EMPTY = '{"claims": []}'
BLANK = '{"claims": [{"statement": " ", "markers": []}, {"statement": "…", "markers": ["[1]"]}]}'
LISTS = f"SELECT n_items, n_offline FROM extractions WHERE agent = '{AGENT}' ORDER BY assignment"


class Extractor(GeminiServer):
    """Answers what it is asked about reports as a test says, by the number of turns."""

    def __init__(self, *answers: str | None, asked_for: str = "report") -> None:
        super().__init__()
        self.answers = answers
        self.asked_for = asked_for
        self.turns: list[int] = []

    def said(self, asked: Asked, fault: str | None) -> Said:
        said = super().said(asked, fault)
        if f"BEGIN {self.asked_for} " in asked.user:
            self.turns.append(len(asked.turns))
            said.text = self.answers[min(len(asked.turns) // 2, len(self.answers) - 1)] or said.text
        return said


CHOSEN: dict[str, Any] = {"protocols": ("wiki_fact",), "agents": (AGENT,), "judge": "gemini"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return sample_warehouse(tmp_path)


def extract(path: Path, server: Extractor, **more: Any) -> list[int]:
    """Have the server's model extract; return the turns of what it was asked about them."""

    server.turns.clear()
    with at_hand(server, "gemini"), open_warehouse(path) as store:
        for item in plan_of(store, "sample", **CHOSEN, **more).find_pending(CLAIMS):
            for error in do_pending(store, CLAIMS, "sample", [item], **CHOSEN):
                raise error
    return server.turns


def test_a_second_answer_with_claims_counts(path: Path) -> None:
    server = Extractor(EMPTY, None)
    assert sorted(extract(path, server)) == [1] * N_REPORTS + [3] * N_REPORTS
    assert all(n_items > 0 and n_offline >= 2 for n_items, n_offline in rows(path, LISTS))
    assert extract(path, server) == extract(path, server, extract_again=True) == []
    assert server.log.n_bought_again == 0


def test_statements_without_a_word_are_none(path: Path) -> None:
    assert sorted(extract(path, Extractor(BLANK))) == [1] * N_REPORTS + [3] * N_REPORTS
    assert {n_items for n_items, _ in rows(path, LISTS)} == {0}


def test_a_list_that_stays_empty_is_kept_and_marked(path: Path, evergreen: Evergreen) -> None:
    server = Extractor(EMPTY)
    assert sorted(extract(path, server)) == [1] * N_REPORTS + [3] * N_REPORTS
    assert extract(path, server) == extract(path, server, extract_again=True) == []
    counts = rows(path, LISTS)
    assert all(n_items == 0 and n_offline >= 2 for n_items, n_offline in counts)
    evaluate_plainly(path, ("wiki_fact",))
    assert_marked(path, evergreen, f"asked twice); the offline extractor finds {counts[0][1]}")
    stored_before(path)
    assert_marked(path, evergreen, f"asked once); the offline extractor finds {counts[0][1]}")


def assert_marked(path: Path, evergreen: Evergreen, said: str) -> None:
    """The board, its JSON and the site mark the agent, and no other; `explain` says why."""
    _, out, _ = evergreen("leaderboard", "--edition", "sample", "--warehouse", path)
    marked = {line.split()[1] for line in out.splitlines() if "‡" in line.split("‡:")[0]}
    assert marked == {AGENT}
    assert "‡: no claims" in out
    assert f"Reports: {AGENT} {N_REPORTS}." in " ".join(out.split())
    _, out, _ = evergreen("leaderboard", "--edition", "sample", "--warehouse", path,
                          "--format", "json")  # fmt: skip
    assert {(row["agent"] == AGENT) for row in json.loads(out) if row["n_empty_lists"]} == {True}
    [first, *_] = sorted(rows(path, f"SELECT assignment FROM reports WHERE agent = '{AGENT}'"))
    code, out, err = evergreen("explain", f"{AGENT}/{first[0]}", "--warehouse", path)
    assert code == 0, err
    assert said in " ".join(out.split())
    with open_warehouse(path) as store:
        [view] = make_board_views(load_material(store, "sample", [], "passages"))
    cells = {entry.agent: {cell.n_empty_lists for cell in entry.cells} for entry in view.entries}
    assert cells.pop(AGENT) == {N_REPORTS}
    assert set().union(*cells.values()) == {0}
    assert any(note.startswith("‡") for note in view.notes)


def stored_before(path: Path) -> None:
    """Empty lists as an earlier version of Evergreen has stored them: it asked once."""
    with open_warehouse(path) as store:
        made = store.rows(Extraction, f"agent = '{AGENT}'")
        store.write(Change(Extraction, [r.model_copy(update={"n_offline": None}) for r in made]))
        asked_again = [call for call in store.rows(Call, "true") if "[model]" in call.prompt]
        assert len(asked_again) == N_REPORTS
        for call in asked_again:
            store.write(Change(Call, [], replacing={"call_id": call.call_id}))


def test_a_stored_list_is_asked_about_only_if_it_is_to_be_extracted_again(path: Path) -> None:
    extract(path, Extractor(EMPTY))
    stored_before(path)
    server = Extractor(EMPTY, None)
    assert extract(path, server) == []
    with open_warehouse(path) as store:
        plan = plan_of(store, "sample", **CHOSEN)
        assert describe_extraction(plan, None) is None
        assert "claims of 3 reports" in (describe_kept_extractions(plan) or "")
        more = plan_of(store, "sample", extract_again=True, **CHOSEN)
        again = describe_extraction(more, None) or ""
        assert again.startswith("gemini would extract the facts or claims of 3 texts for about $")
        assert "$0.00)" not in again
    assert extract(path, server, extract_again=True) == [3] * N_REPORTS
    assert all(n_items > 0 for n_items, _ in rows(path, LISTS))
    assert extract(path, server, extract_again=True) == []


def test_a_failed_second_request_leaves_the_text_pending_and_is_asked_alone(path: Path) -> None:
    failing = Extractor(EMPTY, "nothing")
    with pytest.raises(ExtractionFailed, match="unusable"):
        extract(path, failing)
    assert (failing.turns, rows(path, LISTS)) == ([1, 3, 5], [])
    assert sorted(extract(path, Extractor(EMPTY))) == [1, 1, 3, 3, 5], "5: it is repaired"
    assert len(rows(path, LISTS)) == N_REPORTS


def test_a_text_without_statements_is_asked_about_once(path: Path) -> None:
    text = "See above."
    with open_warehouse(path) as store:
        bare = [
            row.model_copy(update={"text": text, "text_sha": content_sha(text)})
            for row in store.rows(Report, f"agent = '{AGENT}'")
        ]
        store.write(Change(Report, bare))
    server = Extractor(EMPTY)
    assert extract(path, server) == [1] * N_REPORTS
    assert extract(path, server, extract_again=True) == []
    with open_warehouse(path) as store:
        assert find_empty_lists(store, "sample").is_empty()


def test_an_articles_empty_list_of_facts_is_asked_about_and_marks_all_agents(path: Path) -> None:
    assert extract(path, Extractor('{"facts": []}', asked_for="article")) == [1, 3]
    metrics = ("coverage_wiki", "wiki_conflict", "ref_acc", "leakage_rate")
    keys = [(agent, "wiki_fact", name) for agent in (AGENT, "sample_blogger") for name in metrics]
    board = pl.DataFrame(keys, schema=["agent", "protocol", "metric"], orient="row")
    with open_warehouse(path) as store:
        found = count_empty_lists(store, "sample", board)["n_empty_lists"].to_list()
        assert {*find_empty_lists(store, "sample")["what"]} == {"facts"}
    assert found == [1, 1, 0, 0] * 2


@pytest.mark.parametrize(
    ("protocol", "metric", "n"),
    [
        ("research_gym", "citation_recall", 1), ("research_gym", "kpr", 0),
        ("fact", "valid_rate", 1),
        ("wiki_fact", "coverage_wiki", 0), ("race", "race_overall", 0), ("gone", "citation_x", 0),
    ],
)  # fmt: skip
def test_figures_are_marked_that_rest_on_claims_of_their_protocols_reports(
    tmp_path: Path, protocol: str, metric: str, n: int
) -> None:
    of = {"edition": "e", "agent": "a", "assignment": "q"}
    text = "Ants are small insects.\n\nThey live nearly everywhere on Earth."
    asked = Assignment(edition="e", assignment="q", article="", kind="research", prompt=None,
                       prompt_sha=None, query="Where?")  # fmt: skip
    report = Report(**of, text=text, text_sha="t", status="ok", source_path="here")
    made = Extraction(**of, source="published", extractor_version="published", input_sha="t",
                      output_sha="o", n_items=0)  # fmt: skip
    board = pl.DataFrame({"agent": ["a"], "protocol": [protocol], "metric": [metric]})
    with open_warehouse(tmp_path / "w.duckdb") as store:
        store.write(Change(Assignment, [asked]), Change(Report, [report]))
        store.write(Change(Extraction, [made]))
        assert count_empty_lists(store, "e", board)["n_empty_lists"].to_list() == [n]
        assert find_empty_lists(store, "e")["said"].to_list() == [
            "no claims (as published); the offline extractor finds 2"
        ]
