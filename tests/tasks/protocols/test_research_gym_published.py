"""DeepResearchGym's figures from what was published of it."""

import csv
import json
from pathlib import Path

import pytest

from tasks.benchmarks.drgym import read_drgym
from tasks.judges.decisions import JudgeAnswer
from tasks.metrics.ratios import mean
from tasks.protocols.case import ItemAnswer
from tasks.warehouse.rows import Status
from tests.scripted_judge import ScriptedJudge
from tests.tasks.protocols.framed import scored
from tests.tasks.protocols.gym import PROTOCOL, case, extracted, figures

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="shared data not mounted")
LABELS = sorted((SHARED / "drgym").glob("kpr_labels_*.json"))
BY_HAND = {
    # (supported, contradicted) of the points of each question, counted in the published files.
    "GPTResearcher": {"31522": (10, 0, 10), "745702": (13, 0, 15), "795422": (9, 1, 24),
                      "923549": (49, 0, 57)},
    "open_deep_search": {"31522": (10, 0, 10), "745702": (9, 0, 15), "795422": (10, 0, 24),
                         "923549": (20, 0, 57)},
}  # fmt: skip


@pytest.mark.parametrize("path", LABELS, ids=lambda path: path.stem)
def test_published_labels_average_to_what_their_counts_say(path: Path) -> None:
    """Golden: GPT-4.1-mini's labels, put into the figures as verdicts; expected by hand."""
    published = json.loads(path.read_text("utf-8"))
    expected = BY_HAND[path.stem.removeprefix("kpr_labels_")]
    recalls, contradictions = [], []
    for question, labelled in published.items():
        labels = labelled["labels"]
        decided = [
            ItemAnswer(step="key_point", item=f"point:{number}",
                    answer=JudgeAnswer(status=Status.OK, label=label.lower()))
            for number, label in labels.items()
        ]  # fmt: skip
        found = scored(PROTOCOL, case(list(labels)), ScriptedJudge(), decided)
        counted = (found["kpr"]["numerator"], found["kpc"]["numerator"], found["kpr"]["n_items"])
        assert counted == expected[question]
        recalls.append(counted[0] / counted[2])
        contradictions.append(counted[1] / counted[2])
    assert mean(recalls) == pytest.approx(mean(s / n for s, _, n in expected.values()))
    assert mean(contradictions) == pytest.approx(mean(c / n for _, c, n in expected.values()))


def test_the_papers_table_is_readable_as_reference() -> None:
    with (SHARED / "published" / "drgym_main.csv").open(encoding="utf-8", newline="") as lines:
        table = list(csv.DictReader(lines))
    assert len(table) == 12
    names = {"kpr", "kpc", "citation_precision", "citation_recall", "clarity", "insight"}
    assert names <= {metric.name for metric in PROTOCOL.metrics}
    for row in table:
        assert all(0 <= float(row[name]) <= 100 for name in names)


@pytest.mark.parametrize(
    ("system", "published", "inherited", "paragraph", "own"),
    [("GPTResearcher", {"94.29", "90.82"}, 0.850, 0.644, 0.349),
     ("open_deep_search", {"97.78", "94.82"}, 0.814, 0.381, 0.210)],
)  # fmt: skip
def test_recall_of_the_recorded_reports_beside_the_published_column(
    system: str, published: set[str], inherited: float, paragraph: float, own: float
) -> None:
    """Golden: by the next marker anywhere, within the paragraph, and by own markers. In the paper a
    model attributes sources, to more claims than have a marker near them."""
    with (SHARED / "calibration" / "reports.jsonl").open(encoding="utf-8") as lines:
        texts = [row["report"] for row in map(json.loads, lines) if row["system"] == system]
    cases = [extracted(text) for text in texts]
    assert len(cases) == 10
    found = [figures(of) for of in cases]
    anywhere = [len({pair.number for pair in of.citations}) / len(of.claims) for of in cases]
    assert mean(anywhere) == pytest.approx(inherited, abs=0.0005)
    assert mean(f["citation_recall"][0] for f in found) == pytest.approx(paragraph, abs=0.0005)
    assert mean(f["citation_recall_own"][0] for f in found) == pytest.approx(own, abs=0.0005)
    with (SHARED / "published" / "drgym_main.csv").open(encoding="utf-8", newline="") as lines:
        name = {"GPTResearcher": "GPT-Researcher", "open_deep_search": "OpenDeepSearch"}[system]
        column = {r["citation_recall"] for r in csv.DictReader(lines) if r["system"] == name}
    assert column == published


def test_the_published_queries_hold_16_key_points_each_and_six_hold_none() -> None:
    queries = read_drgym(SHARED / "drgym").queries
    n_points = [len(query.points or ()) for query in queries]
    assert (len(queries), sum(n_points), n_points.count(0)) == (317, 5073, 6)
    assert sum(n_points) / len(queries) == pytest.approx(16.0, abs=0.01)
    # The paper's mean is 16.2, over all 1,000 of its queries.
    assert sum(n_points) / (len(queries) - 6) == pytest.approx(16.3, abs=0.02)
    assert all(query.points is not None for query in queries)
