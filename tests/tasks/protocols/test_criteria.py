"""The writing criteria: complete, in our own words, each with its guideline."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tasks.configuration.criteria import WritingCriteria, load_criteria
from tasks.configuration.errors import ConfigurationError

SHARED = Path(__file__).resolve().parents[4] / "shared/data"
RECORDED = SHARED / "wlc/recorded_verdicts/writing.json"
PAPER = SHARED / "published/wlc_paper_criteria.txt"
CRITERIA, FULL = load_criteria("short"), load_criteria("full")
both = pytest.mark.parametrize("criteria", [CRITERIA, FULL], ids=["short", "full"])


@both
def test_the_39_criteria_are_complete(criteria: WritingCriteria) -> None:
    sizes = {category.id: len(category.all_criteria) for category in criteria.categories}
    assert sizes == {"well_written": 21, "broad_coverage": 8, "neutral": 10}
    indices = [c.index for category in criteria.categories for c in category.all_criteria]
    assert indices == list(range(39))


def test_both_texts_of_a_criterion_have_one_id_and_one_guideline() -> None:
    short, full = (
        [(c.id, c.index, c.guideline) for category in of.categories for c in category.all_criteria]
        for of in (CRITERIA, FULL)
    )
    assert short == full


@both
def test_every_criterion_names_a_guideline_of_wikipedia(criteria: WritingCriteria) -> None:
    for category in criteria.categories:
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
def test_the_full_criteria_have_every_word_to_watch_of_the_paper() -> None:
    if not PAPER.exists():
        pytest.skip(f"{PAPER} is absent: the paper's word lists cannot be compared")
    rules = re.findall(r"(?m)^\d+\. ([^:]+): .*?Words to [Ww]atch: (.*)$", PAPER.read_text("utf-8"))
    assert len(rules) == 11
    ours = [c.text for c in FULL.categories[0].all_criteria if c.id.startswith("ww_wtw_")]
    for (name, listed), text in zip(rules, ours, strict=True):
        words = re.sub(
            r"\bX\b|\bas Y\b|\[Name\]'s|Also, scare-quoting.*|\.\.\.|\(.*?\)", "", listed
        )
        for word in filter(None, (word.strip(" ./") for word in re.split(r"[,/]", words))):
            last = word.split()[-1]
            assert last.casefold() in text.casefold(), f"{name}: {word!r} is missing"


@pytest.mark.published
@both
def test_no_published_sentence_is_repeated(criteria: WritingCriteria) -> None:
    theirs = {run for _, text in published().values() for run in runs(text)}
    theirs |= runs(PAPER.read_text("utf-8"))
    theirs -= runs("at the end of the day")  # a cliché of the list
    for category in criteria.categories:
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


def write_criteria(folder: Path, *categories: dict[str, Any], **more: Any) -> str:
    path = folder / "criteria.json"
    path.write_text(json.dumps({"name": "x", "version": 1, "categories": categories} | more))
    return str(path)


def test_a_file_in_the_published_layout_is_read_as_it_is(tmp_path: Path) -> None:
    criterion = {"id": "a_1", "index": 0, "text": "One."}
    nested = {"id": "sub", "name": "Sub", "criteria": [criterion]}
    published = {"id": "a", "name": "A", "subcategories": [nested]}
    path = write_criteria(tmp_path, published, version="1.0", description="more than we need")
    [category] = load_criteria(path).categories
    assert [c.id for c in category.all_criteria] == ["a_1"]


def test_an_id_used_twice_is_refused(tmp_path: Path) -> None:
    twice = [{"id": "a_1", "index": 0, "text": "One."}, {"id": "a_1", "index": 1, "text": "Two."}]
    with pytest.raises(ConfigurationError, match="a_1"):
        load_criteria(write_criteria(tmp_path, {"id": "a", "criteria": twice}))
