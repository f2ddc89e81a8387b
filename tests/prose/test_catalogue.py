"""Every protocol is whole: its file, its prompts, a sample, a golden test and a paragraph."""

import ast
import re
from pathlib import Path

import pytest

from tasks.configuration.folders import PACKAGED
from tasks.configuration.models import load_protocol
from tasks.configuration.rubrics import load_rubric
from tasks.judges.llm.prompts import load_prompt
from tasks.judges.questions.registry import get_questions, list_forms
from tasks.protocols.own_rubric import OwnRubric
from tasks.protocols.registry import PROTOCOLS, get_protocol

ROOT = Path(__file__).resolve().parents[2]
OWN = "own_rubric"
"""The protocol that a rubric of one's own becomes: it has an example in place of a file."""
NAMES = [*sorted(PROTOCOLS), OWN]
TESTS = "tests/tasks/protocols"
GOLDEN = {
    "claim_discovery": "tests/tasks/scoring/test_by_category.py::"
    "test_the_paper_s_average_is_the_mean_of_its_eight_categories_for_two_of_four_agents",
    "fact": f"{TESTS}/test_fact.py::test_figures_by_hand",
    "own_rubric": f"{TESTS}/test_own_rubric.py::"
    "test_the_score_is_the_weighted_mean_of_what_each_item_is_worth_by_hand",
    "race": f"{TESTS}/test_race.py::test_figures_are_the_report_s_share_of_both_totals_by_hand",
    "research_gym": f"{TESTS}/test_research_gym.py::"
    "test_six_supported_of_thirteen_key_points_is_six_thirteenths_and_none_is_contradicted",
    "rigorous": "tests/tasks/metrics/test_integrated_score.py::"
    "test_the_published_table_averages_products_and_ratios",
    "rubric_bench": "tests/tasks/benchmarks/test_drb2.py::"
    "test_the_published_file_holds_7204_items_and_none_twice",
    "wiki_fact": f"{TESTS}/test_recorded_figures.py::"
    "test_verifiability_covers_30_of_72_facts_and_contradicts_in_19_of_135_claims",
    "wiki_writing": f"{TESTS}/test_published_overall.py::"
    "test_overall_is_pooled_over_21_10_and_8_criteria",
}
"""The test that holds a protocol's figures to published facts, or to a case counted by hand."""
SAMPLES = {
    "claim_discovery": "tests/tasks/benchmarks/questions_builder.py",
    "fact": "data/sample",
    "own_rubric": "configs/rubrics/reader.yaml",
    "race": "tests/tasks/benchmarks/deepresearch_copy.py",
    "research_gym": "tests/rigs/research_editions.py",
    "rigorous": "tests/tasks/rigorous_cases.py",
    "rubric_bench": "tests/tasks/rubric_reports.py",
    "wiki_fact": "data/sample",
    "wiki_writing": "data/sample",
}
"""Something in this repository on which it runs."""
TITLES = {OWN: "Your own rubric"} | {name: load_protocol(name).title for name in PROTOCOLS}


def test_nothing_is_listed_that_is_no_protocol() -> None:
    assert GOLDEN.keys() == SAMPLES.keys() == {*NAMES}


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_a_protocol_has_a_file_that_says_what_it_measures(name: str) -> None:
    entry, made = load_protocol(name), get_protocol(name)
    assert entry.name == name == made.name
    assert entry.source
    assert entry.editions, "what editions is it made for?"
    metrics = [metric.name for metric in entry.metrics]
    assert len({*metrics}) == len(metrics)
    assert all(metric.title and metric.description for metric in entry.metrics)


def test_a_rubric_of_one_s_own_has_an_example() -> None:
    rubric = load_rubric(ROOT / SAMPLES[OWN])
    assert 6 <= len(rubric.items) <= 8
    assert OwnRubric("reader", rubric).metrics[0].name == "rubric_score"


@pytest.mark.parametrize("name", NAMES)
def test_a_protocol_has_prompts_that_load_and_forms_for_the_answers(name: str) -> None:
    folder = OwnRubric.prompts if name == OWN else get_protocol(name).prompts
    if not get_questions(folder):
        return  # it asks judges nothing
    steps = sorted(path.stem for path in (PACKAGED / "prompts" / folder).glob("*.md"))
    assert steps, f"write configs/prompts/{folder}/<step>.md"
    assert all(load_prompt(folder, step).system for step in steps)
    assert list_forms(folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_protocol_has_a_sample_and_a_golden_test(name: str) -> None:
    assert (ROOT / SAMPLES[name]).exists()
    file, _, test = GOLDEN[name].partition("::")
    functions = [
        node.name
        for node in ast.walk(ast.parse((ROOT / file).read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    assert test in functions


@pytest.mark.parametrize("name", NAMES)
def test_the_guide_to_benchmarks_lists_a_protocol(name: str) -> None:
    guide = (ROOT / "docs" / "how-to" / "benchmarks.md").read_text("utf-8")
    row = rf"^\| \[?{re.escape(TITLES[name])}\b"
    assert re.search(row, guide, re.MULTILINE), f"no row on {TITLES[name]}"
