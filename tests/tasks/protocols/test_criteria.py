"""The writing criteria: complete, in our own words, each with its guideline."""

import json
import re
from pathlib import Path

import pytest

from tasks.configuration.criteria import load_criteria
from tasks.configuration.errors import ConfigurationError

RECORDED = Path(__file__).resolve().parents[4] / "shared/data/wlc/recorded_verdicts/writing.json"
CRITERIA = load_criteria("criteria/wikipedia_good_article.yaml")


def test_the_39_criteria_are_complete() -> None:
    sizes = {category.id: len(category.all_criteria) for category in CRITERIA.categories}
    assert sizes == {"well_written": 21, "broad_coverage": 8, "neutral": 10}
    indices = [c.index for category in CRITERIA.categories for c in category.all_criteria]
    assert indices == list(range(39))


def test_every_criterion_names_a_guideline_of_wikipedia() -> None:
    for category in CRITERIA.categories:
        for criterion in category.all_criteria:
            assert criterion.guideline
            assert criterion.guideline.startswith("https://en.wikipedia.org/wiki/Wikipedia:")


def published() -> dict[str, tuple[int, str]]:
    if not RECORDED.exists():
        pytest.skip(f"{RECORDED} is absent: the published criteria cannot be compared")
    details = json.loads(RECORDED.read_text("utf-8"))["details"]
    return {
        entry["criterion_id"]: (entry["criterion_index"], entry["criterion_text"])
        for entries in details.values()
        for entry in entries
    }


@pytest.mark.published
def test_ids_and_indices_are_the_published_ones() -> None:
    ours = {c.id: c.index for category in CRITERIA.categories for c in category.all_criteria}
    assert ours == {name: index for name, (index, _) in published().items()}


@pytest.mark.published
def test_no_published_sentence_is_repeated() -> None:
    theirs = {run for _, text in published().values() for run in runs(text)}
    for category in CRITERIA.categories:
        for criterion in category.all_criteria:
            shared = sorted(runs(criterion.text) & theirs)
            assert not shared, f"{criterion.id} repeats {shared[:3]}"


def runs(text: str, length: int = 6) -> set[tuple[str, ...]]:
    """Runs of words that no punctuation interrupts: the words to watch, which are data and
    must be the same, stand between commas and so never make one."""
    clauses = [re.findall(r"\w+", clause) for clause in re.split(r"[^\w\s'’-]", text.lower())]
    return {
        tuple(words[i : i + length]) for words in clauses for i in range(len(words) - length + 1)
    }


def test_a_file_in_the_published_layout_is_read_as_it_is(tmp_path: Path) -> None:
    criterion = {"id": "a_1", "index": 0, "text": "One."}
    nested = {"id": "sub", "name": "Sub", "criteria": [criterion]}
    content = {
        "name": "Published",
        "description": "more than we need",
        "version": "1.0",
        "categories": [{"id": "a", "name": "A", "subcategories": [nested]}],
    }
    path = tmp_path / "criteria.json"
    path.write_text(json.dumps(content), "utf-8")
    [category] = load_criteria(str(path)).categories
    assert [c.id for c in category.all_criteria] == ["a_1"]


def test_an_id_used_twice_is_refused(tmp_path: Path) -> None:
    twice = [{"id": "a_1", "index": 0, "text": "One."}, {"id": "a_1", "index": 1, "text": "Two."}]
    content = {"name": "x", "version": 1, "categories": [{"id": "a", "criteria": twice}]}
    path = tmp_path / "criteria.json"
    path.write_text(json.dumps(content), "utf-8")
    with pytest.raises(ConfigurationError, match="a_1"):
        load_criteria(str(path))
