"""What `evergreen analyse` prints, and what it gives to programs."""

import csv
import io
import json
from pathlib import Path

import pytest

from tasks.analysis.analyses import TABLES
from tasks.analysis.tables import LAYOUT
from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.tasks.scored_articles import WRITING, articles, scored

CATEGORIES = ("Art [bold]", "Art [bold]", "War", "War", "Maths")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("analysed") / "w.duckdb"
    with open_warehouse(path) as opened:
        articles(opened, CATEGORIES, views=[1_000, 3_000, 40, None, 700])
        values = {"good": (0.5, 0.7, 0.4, 0.1, 0.3), "poor": (0.1, 0.2, 0.3, None, 0.2)}
        scored(opened, {WRITING: values, ("wiki_fact", "leakage_rate"): {"good": (0.25,)}})
    return path


def told(evergreen: Evergreen, warehouse: Path, *more: str | Path) -> str:
    code, out, said = evergreen("analyse", "--edition", "e", "--warehouse", warehouse, *more)
    assert code == 0, said
    return out


def test_all_analyses_stand_below_each_other_with_what_they_rest_on(
    warehouse: Path, evergreen: Evergreen
) -> None:
    out = told(evergreen, warehouse)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0].endswith("Wiki Writing: Writing (percent, higher is better)")
    titles = [shown.title for name in LAYOUT if name != "trend" for shown in LAYOUT[name]]
    at = [next(n for n, line in enumerate(lines) if line.startswith(title)) for title in titles]
    assert at == sorted(at)
    # Category, mean, articles, reports, missing, over complete articles, their number, views …
    assert "Art [bold] 37.5 2 4 0 37.5 2 2,000 – – –" in lines
    assert "War 22.5 2 3 1 35.0 1 40 – – –" in lines
    assert "leakage_rate good 25.0 2 10 1 provisional" in lines  # of one article
    assert "A trend needs two editions with figures by offline; there is only this one." in lines
    assert "Conflict: nothing to show." in lines


def test_one_analysis_is_shown_alone(warehouse: Path, evergreen: Evergreen) -> None:
    out = told(evergreen, warehouse, "--only", "correlation")
    assert "Pearson's r" in out
    assert "links, bytes" not in out, "each has a reason of its own"
    assert "links: no article of the edition records its external links." in out
    assert "Difficulty of the categories" not in out


def test_programs_get_an_object_of_tables_or_one_csv(
    warehouse: Path, evergreen: Evergreen, tmp_path: Path
) -> None:
    said = json.loads(told(evergreen, warehouse, "--format", "json"))
    assert (said["edition"], said["judge"], said["protocol"], said["metric"]) == (
        "e", "offline", *WRITING,
    )  # fmt: skip
    frames = [name for names in TABLES.values() for name in names]
    assert [name for name in said if name in frames] == frames
    assert [row["category"] for row in said["difficulty"]] == ["War", "Maths", "Art [bold]"]
    assert said["ages"][0]["created_at"] == "2025-03-01 00:00:00"
    assert said["anova"][0]["p"] is not None
    to = tmp_path / "cost.csv"
    assert told(evergreen, warehouse, "--only", "cost", "--output", to) == ""
    rows = list(csv.DictReader(io.StringIO(to.read_text("utf-8"))))
    assert {row["table"] for row in rows} <= {"cost", "judging"}
    every = told(evergreen, warehouse, "--format", "csv")
    assert {row["table"] for row in csv.DictReader(io.StringIO(every))} >= {"difficulty", "ages"}
