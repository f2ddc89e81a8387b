"""`evergreen protocols`."""

import csv
import json

from tasks.configuration.models import load_protocol
from tasks.protocols.registry import PROTOCOLS
from tests.flows.conftest import Evergreen


def test_a_protocol_is_described_metric_by_metric_in_words(evergreen: Evergreen) -> None:
    code, said, _ = evergreen("protocols", "wiki_writing")
    assert code == 0
    assert "Missing report: 0" in said
    assert max(map(len, said.splitlines())) <= 120
    flat = " ".join(said.split())
    for metric in load_protocol("wiki_writing").metrics:
        assert f"{metric.title} ({metric.name}) {metric.description} Equation: " in flat
        for text in (metric.equation, metric.denominator, metric.undecided, *metric.differs):
            assert " ".join(text.split()) in flat


def test_programs_get_a_row_per_metric(evergreen: Evergreen) -> None:
    _, said, _ = evergreen("protocols", "wiki_writing", "--format", "json")
    names = [metric.name for metric in load_protocol("wiki_writing").metrics]
    assert [row["metric"] for row in json.loads(said)] == names
    _, said, _ = evergreen("protocols", "wiki_writing", "--format", "csv")
    assert [row["metric"] for row in csv.DictReader(said.splitlines())] == names


def test_all_protocols_are_listed_and_an_unknown_one_is_refused(evergreen: Evergreen) -> None:
    _, said, _ = evergreen("protocols", "--format", "json")
    assert [row["protocol"] for row in json.loads(said)] == sorted(PROTOCOLS)
    assert "pairs" in json.loads(said)[0]
    code, _, remarks = evergreen("protocols", "wiki")
    assert code == 1
    assert "no protocol 'wiki'. Did you mean wiki_fact or wiki_writing?" in remarks
