"""`evergreen explain` and `schema` in the hands of a person: all of it, and nothing that acts."""

import json
import re
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.display.formats import format_json
from tasks.imports.wlc import import_edition
from tasks.warehouse.explanations import ExplainedReport
from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.sample_edition import PART

NAME = "sample_blogger/Mercury_(planet)"
HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold red]gone[/] [link=https://evil]x[/link] \x9b31m \u202egpj"
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def warehouse(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copy(sample, tmp_path_factory.mktemp("explain") / "w.duckdb"))


def printed(evergreen: Evergreen, warehouse: Path, *more: str) -> str:
    code, out, err = evergreen("explain", NAME, *more, "--warehouse", warehouse)
    assert code == 0, err
    return out


def as_object(evergreen: Evergreen, warehouse: Path, *more: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(printed(evergreen, warehouse, "--format", "json", *more))
    return loaded


def test_a_report_is_told_with_its_figures_claims_and_facts(
    evergreen: Evergreen, warehouse: Path
) -> None:
    out = printed(evergreen, warehouse)
    report = as_object(evergreen, warehouse)
    assert f"{report['title']} · {report['agent_name']} · sample" in out
    assert "offline lexical judge, no LLM used" in out
    assert "\nRead " not in out
    for claim in report["claims"]:
        assert claim["text"][:60] in out
    for fact in report["facts"]:
        assert fact["text"][:60] in out
    coverage = next(s for s in report["scores"] if s["metric"] == "coverage_wiki")
    row = next(line for line in out.splitlines() if " Coverage  " in line)
    assert f"{coverage['value'] * 100:.1f}" in row
    assert str(coverage["n_items"]) in row.split()


def test_marks_can_be_read_without_colour(evergreen: Evergreen, warehouse: Path) -> None:
    out = printed(evergreen, warehouse)
    assert "\x1b" not in out
    assert re.search(r"^ +\d+ +(✓ supported|○ not supported)", out, re.MULTILINE)
    assert "✓ covered" in out
    assert "○ not found" in out


def test_one_claim_is_told_whole(evergreen: Evergreen, warehouse: Path) -> None:
    (claim,) = as_object(evergreen, warehouse, "--claim", "0")["claims"]
    out = " ".join(printed(evergreen, warehouse, "--claim", "0").split())
    (citation,) = claim["citations"]
    (decision,) = citation["decisions"]
    for value in (
        citation["url"], citation["page"]["text_sha"], citation["page"]["title"],
        decision["model_version"], decision["prompt_sha"], decision["evidence"][:50],
        decision["reason"][:50], "no model was called", "evergreen pages show",
    ):  # fmt: skip
        assert value in out
    assert "Facts of the reference" not in out


def test_one_fact_is_told_whole(evergreen: Evergreen, warehouse: Path) -> None:
    (fact,) = as_object(evergreen, warehouse, "--fact", "3")["facts"]
    out = " ".join(printed(evergreen, warehouse, "--fact", "3").split())
    assert fact["text"] in out
    assert fact["decisions"][0]["reason"][:50] in out
    assert "Claims" not in out
    assert "Coverage (soft)" not in out, "its figures are those of the whole report"


def test_a_fact_says_what_was_decided_by_all_claims_only_where_that_differs(
    evergreen: Evergreen, warehouse: Path
) -> None:
    facts = as_object(evergreen, warehouse)["facts"]
    labels = [[f[by][0]["label"] for by in ("decisions", "by_all_claims")] for f in facts]
    out = printed(evergreen, warehouse)
    assert out.count("by all claims: ") == 1 + sum(a != b for a, b in labels)  # 1: the heading's
    assert "coverage_all" not in out
    assert "wiki_fact · coverage_all" in printed(evergreen, warehouse, "--fact", "0")


def test_only_what_is_open_is_left(evergreen: Evergreen, warehouse: Path, tmp_path: Path) -> None:
    done = as_object(evergreen, warehouse, "--open")
    assert done["claims"] == done["facts"] == done["scores"] == []
    waiting = Path(shutil.copy(warehouse, tmp_path / "w.duckdb"))
    with duckdb.connect(str(waiting)) as connection:
        connection.execute(
            "UPDATE verdicts SET status = 'skipped', label = NULL WHERE agent = 'sample_blogger' "
            "AND step = 'citation' AND starts_with(item, 'claim:2 ')"
        )
    assert [claim["number"] for claim in as_object(evergreen, waiting, "--open")["claims"]] == [2]


def test_hostile_text_reaches_neither_the_terminal_nor_the_markup(
    evergreen: Evergreen, warehouse: Path, tmp_path: Path
) -> None:
    hostile = Path(shutil.copy(warehouse, tmp_path / "w.duckdb"))
    with duckdb.connect(str(hostile)) as connection:
        for sql in (
            "UPDATE claims SET text = $1 || text",
            "UPDATE facts SET text = $1 || text",
            "UPDATE verdicts SET evidence = $1, reason = $1, model_version = $1",
            "UPDATE pages SET title = $1, error = $1",
            "UPDATE reports SET text = $1, source_path = $1",
            "UPDATE scores SET reason = $1",
            "UPDATE articles SET title = title || $1",
            "UPDATE agents SET name = $1",
        ):
            connection.execute(sql, [HOSTILE])
    for more in ([], ["--claim", "0", "--fact", "0"], ["--format", "json"], ["--open"]):
        out = printed(evergreen, hostile, *more)
        assert not UNSEEN.search(out)
        assert "[bold red]gone[/]" in out
    assert as_object(evergreen, hostile)["text"] == HOSTILE


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_json_says_what_the_report_says_without_a_character_that_acts(text: str) -> None:
    report = ExplainedReport(
        id="0", edition="e", agent="a", agent_name="a", assignment="x", article=None, title="t",
        url=None, kind="research", prompt=None, query=None, status="ok", text=text, text_sha="s",
        source_path="p", usd=None, seconds=None, model_version=None, claims=(),
        pairs_reliable=True, pairs_reason=None, facts=(), others=(), scores=(),
    )  # fmt: skip
    written = format_json(asdict(report))
    assert json.loads(written)["text"] == text
    assert not UNSEEN.search(written)


def test_the_schema_is_told_without_a_warehouse(evergreen: Evergreen) -> None:
    code, out, _ = evergreen("schema", "--format", "json")
    assert code == 0
    kinds = {row["name"]: row["kind"] for row in json.loads(out)}
    assert (kinds["leaderboard"], kinds["coverage_by_fact"]) == ("table", "view")
    code, out, _ = evergreen("schema", "coverage_by_fact", "--format", "json")
    told = {row["column"]: row["what"] for row in json.loads(out)}
    assert told["share"] == "n_covered / n_agents, 0-1; null if there is no verdict."
    code, _, err = evergreen("schema", "coverage_by_fcat")
    assert code == 1
    assert "coverage_by_fact" in err


def test_an_agent_that_nobody_has_judged_has_no_claims_that_hold(
    evergreen: Evergreen, tmp_path: Path
) -> None:
    path = tmp_path / "w.duckdb"
    with open_warehouse(path) as store:
        import_edition(store, PART, "sample")
    _, out, _ = evergreen("explain", "sample_blogger", "--warehouse", path)
    titles = [line for line in out.splitlines() if line.startswith("sample_blogger/")]
    assert titles
    assert all(line.endswith("not judged yet: evergreen evaluate") for line in titles)
    assert out.strip().endswith("No claim of these reports has been judged.")
    assert len(re.findall(r"^  read: \d.* words, \d+ claims?[ ,]", out, re.M)) == len(titles)
    _, out, _ = evergreen("explain", NAME, "--warehouse", path)
    assert re.search(r"^Read +\d.* words, [1-9]\d* claims ", out, re.M)


def test_an_agent_alone_is_answered_with_its_claims_that_are_not_supported(
    evergreen: Evergreen, warehouse: Path
) -> None:
    code, out, err = evergreen("explain", "sample_blogger", "--warehouse", warehouse)
    assert code == 0, err
    asked = ("explain", "sample_blogger", "--format", "json", "--warehouse", warehouse)
    reports = json.loads(evergreen(*asked)[1])
    failed = [claim for report in reports for claim in report["claims"]]
    whole = as_object(evergreen, warehouse)
    [mercury] = [report for report in reports if report["title"] == whole["title"]]
    assert mercury["claims"] == [
        claim for claim in whole["claims"] if set(claim["outcomes"].values()) == {"not_supported"}
    ]
    assert len(failed) > len(mercury["claims"]) > 0
    assert all(claim["text"][:60] in out for claim in failed)
    assert f"\n{len(failed)} of " in out
    assert f" in {len(reports)} reports of sample are not supported by the pages" in out
