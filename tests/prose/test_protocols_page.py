"""Every protocol says how its figures are defined, and the page of all says the same."""

from pathlib import Path

import pytest

from tasks.configuration.models import MetricEntry, load_protocol
from tasks.protocols.registry import PROTOCOLS
from tasks.scoring.board_notes import describe_missing
from tests.docs.protocols_page import WRITE, render_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "protocols.md"
METRICS = [(name, metric) for name in PROTOCOLS for metric in load_protocol(name).metrics]


@pytest.mark.parametrize(("protocol", "metric"), METRICS, ids=[m.name for _, m in METRICS])
def test_a_metric_says_what_it_is_a_share_of(protocol: str, metric: MetricEntry) -> None:
    where = f"configs/protocols/{protocol}.yaml: {metric.name}"
    assert metric.equation, f"{where} has no `equation`"
    assert metric.denominator, f"{where} has no `denominator`"
    assert metric.undecided, f"{where} has no `undecided`"


@pytest.mark.parametrize(("protocol", "metric"), METRICS, ids=[m.name for _, m in METRICS])
def test_the_page_shows_all_that_a_metric_s_entry_says(protocol: str, metric: MetricEntry) -> None:
    section = render_page().split(f"\n`{protocol}`, version ")[1].split("\n## ")[0]
    [row] = [line for line in section.splitlines() if f"<br>`{metric.name}`<br>" in line]
    missing = describe_missing(metric, load_protocol(protocol).missing)
    said = (metric.title, metric.equation, metric.denominator, missing, metric.undecided)
    for text in (*said, *metric.differs):
        assert text.replace("|", "\\|") in row


def test_the_page_is_made_from_the_files() -> None:
    assert PAGE.read_text("utf-8") == render_page(), f"run `{WRITE}`"
