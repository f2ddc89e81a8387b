"""`annotate` and `agreement` as people type them."""

import json
from pathlib import Path

import polars as pl
import pytest

from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.tasks.annotated import AGENT, ARTICLE, judged, render_csv, sample_warehouse


@pytest.fixture(autouse=True)
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sample_warehouse(tmp_path)
    with open_warehouse(path) as store:
        judged(store, "one", {("neutral", "n_1"): "reference", ("neutral", "n_2"): "report"})
        judged(store, "two", {("neutral", "n_1"): "reference", ("neutral", "n_2"): "reference"})
    monkeypatch.setenv("EVERGREEN_WAREHOUSE", str(path))


def test_a_sheet_goes_out_and_comes_back(evergreen: Evergreen, tmp_path: Path) -> None:
    _, _, made = evergreen(
        "annotate", "make", "--edition", "sample", "--kind", "criteria",
        "--agent", AGENT, "--items", "1", "--seed", "4", "--to", tmp_path / "s",
    )  # fmt: skip
    [page] = (tmp_path / "s").iterdir()
    assert page.suffix == ".html"
    assert "39 questions in 1 part." in made
    assert "evergreen annotate import criteria-" in made
    table = json.loads(page.read_text().split('id="rows">')[1].split("</script>")[0])
    filled = tmp_path / f"{page.stem}.filled.csv"
    filled.write_text(render_csv([[*row[:-2], "tie", ""] for row in table["rows"]]))
    _, _, said = evergreen("annotate", "import", filled, "--annotator", "ann")
    assert "39 of 39 questions labelled (39 new, 0 changed), 0 left open" in said


def test_fewer_than_asked_for_is_said(evergreen: Evergreen, tmp_path: Path) -> None:
    _, _, made = evergreen(
        "annotate", "make", "--edition", "sample", "--kind", "reports",
        "--items", "500", "--to", tmp_path,
    )  # fmt: skip
    assert "There are only 9, not 500" in made


def test_agreement_is_printed_with_what_its_numbers_mean(evergreen: Evergreen) -> None:
    _, out, _ = evergreen("compare", "judges", "--edition", "sample")
    assert "Judges with each other" in out
    assert "n_items: items both decided" in out
    assert "–" in out


def test_agreement_for_programs(evergreen: Evergreen, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "assignment,agent,protocol,step,item,label\n"
        f"{ARTICLE},{AGENT},wiki_writing,neutral,n_1,reference\n"
        f"{ARTICLE},{AGENT},wiki_writing,neutral,n_7,reference\n",
        "utf-8",
    )
    ask = ("compare", "judges", "--edition", "sample", "--judge", "one", "--labels", labels,
           "--format")  # fmt: skip
    found = json.loads(evergreen(*ask, "json")[1])
    assert found["judges"] == [
        {"protocol": "wiki_writing", "judge": "one", "n_decided": 2, "n_with_people": 1,
         "n_assignments": 1, "alike": 1.0, "alike_low": None, "alike_high": None,
         "kappa": None, "kappa_low": None, "kappa_high": None, "usd_per_article": None}
    ]  # fmt: skip
    assert found["between_judges"] == []
    _, table, remarks = evergreen(*ask, "csv")
    assert "1 labels are for items that no judge has decided" in remarks
    frame = pl.read_csv(table.encode())
    assert frame["table"].to_list() == ["judges", "with_people", "with_people"]


def test_what_a_user_gets_wrong_is_told_in_words(evergreen: Evergreen, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere.csv"
    code, _, said = evergreen("annotate", "import", missing, "--annotator", "ann")
    assert (code, "cannot be read" in said) == (1, True)
