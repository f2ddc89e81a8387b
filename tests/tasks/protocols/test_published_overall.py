"""Wiki Live Challenge's published table: its overall column from its categories."""

import csv

import polars as pl
import pytest

from tasks.configuration.models import load_protocol
from tasks.judges.decisions import REFERENCE, REPORT
from tasks.metrics.ratios import aggregate
from tasks.protocols.wiki_writing import WikiWriting
from tests.flows.llm_runs import ROOT
from tests.scripted_judge import ScriptedJudge
from tests.tasks.protocols.framed import framed

PUBLISHED = ROOT / "../shared/data/published/wlc_main.csv"
PROTOCOL = WikiWriting(load_protocol("wiki_writing"))
N_ARTICLES = 100
COLUMNS = {"well_written": "well_written", "neutral": "neutral", "broad_coverage": "broad"}
"""By category, the table's column of its share of criteria won, in percent."""

pytestmark = [
    pytest.mark.published,
    pytest.mark.skipif(not PUBLISHED.exists(), reason="the published tables are not here"),
]


def systems() -> list[dict[str, str]]:
    if not PUBLISHED.exists():
        return []
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def verdicts(row: dict[str, str]) -> pl.DataFrame:
    """As many criteria won over 100 articles as each category's share says."""
    frames = []
    for category in PROTOCOL.criteria.categories:
        n_criteria = len(category.all_criteria)
        n_items = N_ARTICLES * n_criteria
        won = round(float(row[COLUMNS[category.id]]) / 100 * n_items)
        place = pl.int_range(n_items, eager=True)
        frames.append(
            pl.DataFrame({"place": place}).select(
                assignment=pl.format("x{}", pl.col("place") // n_criteria),
                step=pl.lit(category.id),
                item=pl.format("{}", pl.col("place") % n_criteria),
                status=pl.lit("ok"),
                label=pl.when(pl.col("place") < won)
                .then(pl.lit(REPORT))
                .otherwise(pl.lit(REFERENCE)),
            )
        )
    return pl.concat(frames)


@pytest.mark.parametrize("row", systems(), ids=lambda row: row["agent"])
def test_overall_is_pooled_over_21_10_and_8_criteria(row: dict[str, str]) -> None:
    judged = framed({f"x{number}": [] for number in range(N_ARTICLES)})
    judged = judged.model_copy(update={"verdicts": verdicts(row)})
    frame = PROTOCOL.compute_figures(judged, ScriptedJudge())
    scores = frame.filter(pl.col("metric") == "writing_overall")
    [entry] = [metric for metric in PROTOCOL.metrics if metric.name == "writing_overall"]
    overall = aggregate(entry.aggregate, scores, {})
    assert scores["n_items"].to_list() == [39] * N_ARTICLES
    assert overall is not None
    assert 100 * overall == pytest.approx(float(row["writing_overall"]), abs=0.01)
