"""`evergreen import drgym`, and reports for its queries."""

import json
from pathlib import Path

import pytest

from tasks.warehouse.results import LeaderboardRow
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import SAMPLE, rows
from tests.rigs.research_editions import write_research_editions

POINTS = [{"point_number": 1, "point_content": "By day.", "original_point_number": [1]}]
CLICKED = [
    {"id": str(n), "question": f"Why {n}?", "DocStream": [{"CluewebURLHash": "x"}] * n}
    for n in range(1, 5)
]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "gym"
    folder.mkdir()
    queries = [{"id": "12", "query": "How?"}, {"id": "923549", "query": "Why?"}]
    points = [
        {"id": "12", "question": "How?", "key_points": POINTS},
        {"id": "923549", "question": "Why?", "key_points": []},
    ]
    for name, listed in (("queries", queries), ("key_points", points)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, listed)), "utf-8")
    return folder


def test_queries_are_imported_and_reports_find_them_by_their_ids(
    copy: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    path = tmp_path / "w.duckdb"
    code, _, said = evergreen("import", "drgym", copy, "--warehouse", path)
    assert code == 0
    assert "gym: 2 queries (2 new). Their key points: 1. Queries without any" in said
    assert "evergreen ask --agent AGENT --edition gym" in said
    code, _, said = evergreen("import", "drgym", copy, "--warehouse", path)
    assert (code, "2 queries (0 new)" in said) == (0, True)
    assert rows(path, "SELECT assignment, kind, query FROM assignments ORDER BY ALL") == [
        ("12", "research", "How?"), ("923549", "research", "Why?"),
    ]  # fmt: skip
    reports = tmp_path / "reports" / "somebody"
    reports.mkdir(parents=True)
    for name in ("12.md", "923549.md", "13.md"):
        (reports / name).write_text(f"# {name}\n\nIt is so.", "utf-8")
    code, _, said = evergreen("import", "reports", tmp_path / "reports", "--edition", "gym",
                              "--warehouse", path)  # fmt: skip
    assert "left out: somebody/13.md" in said
    assert "Next: evergreen fetch" in said
    found = dict(rows(path, "SELECT assignment, text FROM reports"))
    assert found.keys() == {"12", "923549"}
    assert all(text.startswith(f"# {key}.md") for key, text in found.items())


def test_reports_for_a_protocol_that_looks_at_no_pages_are_evaluated_next(
    tmp_path: Path, evergreen: Evergreen
) -> None:
    path, folder = tmp_path / "w.duckdb", tmp_path / "somebody"
    with open_warehouse(path) as warehouse:
        write_research_editions(warehouse)
    folder.mkdir()
    (folder / "harbour.md").write_text("# The harbour\n\nIt is old.", "utf-8")
    given = ("--edition", "bench", "--warehouse", path)
    code, _, said = evergreen("import", "reports", folder, *given, "--agent", "somebody")
    assert (code, said.splitlines()[-1]) == (0, "Next: evergreen evaluate --edition bench")
    code, said, remarks = evergreen("evaluate", "--estimate", *given, "--judge", "offline")
    assert (code, said.strip()) == (0, "")
    assert "No calls: no cell that is ready to be judged needs any." in remarks
    code, _, remarks = evergreen("evaluate", "--estimate", *given, "--judge", "offline",
                                 "--protocol", "race", "--protocol", "claim_discovery")  # fmt: skip
    assert "race does not apply to bench: it needs a reference article" in remarks
    assert (
        "it judges answers to questions, but the edition has answers to research queries" in remarks
    )


def test_a_protocol_that_applies_to_nothing_is_mentioned_only_to_who_named_it(
    tmp_path: Path, evergreen: Evergreen
) -> None:
    given = ("--edition", "sample", "--warehouse", tmp_path / "w.duckdb")
    assert evergreen("import", "wlc", SAMPLE, *given)[0] == 0
    said = "claim_discovery does not apply to sample: it judges answers to questions"
    estimate = ("evaluate", "--estimate", *given, "--judge", "offline")
    assert said not in evergreen(*estimate)[2]
    assert said in evergreen(*estimate, "--protocol", "wiki_fact", "--protocol",
                             "claim_discovery")[2]  # fmt: skip


def test_a_leaderboard_without_figures_says_what_there_is(
    tmp_path: Path, evergreen: Evergreen
) -> None:
    path = tmp_path / "w.duckdb"
    with open_warehouse(path) as warehouse:
        write_research_editions(warehouse)
    asked = ("leaderboard", "--edition", "bench", "--warehouse", path)
    code, _, said = evergreen(*asked)
    assert (code, "Run `evergreen evaluate --edition bench` first." in said) == (1, True)
    board = LeaderboardRow(
        edition="bench", protocol="rubric_bench", agent="terse", metric="rubric_total", judge="j",
        value=0.5, macro=0.5, micro=0.5, n_items=1, n_reports=1, n_open=0, provisional=False,
    )  # fmt: skip
    with open_warehouse(path) as warehouse:
        warehouse.write(Change(LeaderboardRow, [board]))
    assert evergreen(*asked)[0] == 0


def test_top_takes_the_queries_with_the_most_clicked_documents(
    copy: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    path, file = tmp_path / "w.duckdb", tmp_path / "researchy.jsonl"
    file.write_text("\n".join(map(json.dumps, CLICKED)), "utf-8")
    code, _, said = evergreen("import", "drgym", file, "--top", "2", "--warehouse", path)
    assert code == 0
    assert "researchy: 2 of 4 queries, those with the most clicked documents (2 new)." in said
    assert "They have no key points" in said
    assert rows(path, "SELECT assignment FROM assignments ORDER BY ALL") == [("3",), ("4",)]
    code, _, said = evergreen("import", "drgym", copy, "--top", "2", "--warehouse", path)
    assert code == 1
    assert "--top cannot be used" in " ".join(said.split())
