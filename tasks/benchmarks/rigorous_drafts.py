"""Files of drafted bundles for people to revise: YAML with an entry in the published format.

Each rubric comes with the facts it is based on.
"""

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, StrictInt, model_validator

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.rigorous import (
    MOST_ITEMS,
    Keyword,
    Link,
    PublishedRubric,
    find_rubrics_problem,
)
from tasks.benchmarks.rows import PublishedText, validate_row
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import read_mapping
from tasks.judges.text import extract_terms

KEYWORDS = 5
"""Keywords of each kind."""
HEAD = """\
# A bundle for Rigorous Bench, drafted by a model from the article's facts.
# Check every rubric against its facts and correct or replace wrong ones. Keep at least 8 rubrics
# worth 30 points in total, 5 keywords of each kind (fak: terms a report should discuss, fdk: terms
# it should not drift to), and trusted links (tsl: one URL per line after "- "; `links` says which
# have been fetched and needs no entry for others). Then put your name at `reviewed_by` and run:
#   evergreen draft import FILE --edition {edition}
"""


class DraftRubric(PublishedRubric):
    """A rubric with the facts it is based on, by number."""

    facts: dict[StrictInt, str] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _restore_keys(cls, rubric: object) -> object:
        """Restore the keys `yes` and `no`, which YAML reads as booleans."""
        if not isinstance(rubric, dict):
            return rubric
        names = {True: "yes", False: "no"}
        return {names[k] if isinstance(k, bool) else k: value for k, value in rubric.items()}


class DraftEntry(Frozen):
    """An entry in the published format."""

    uid: PublishedText
    """The assignment's id."""
    query: PublishedText
    qsr: Annotated[tuple[DraftRubric, ...], Field(max_length=MOST_ITEMS)]
    tsl: Annotated[tuple[Link, ...], Field(max_length=MOST_ITEMS)]
    fak: Annotated[tuple[Keyword, ...], Field(max_length=MOST_ITEMS)]
    fdk: Annotated[tuple[Keyword, ...], Field(max_length=MOST_ITEMS)]


class DraftFile(Frozen):
    """A drafted bundle, as its file has it."""

    status: Literal["draft", "reviewed"] = "draft"
    """For people; only `reviewed_by` counts."""
    reviewed_by: str | None = None
    """The reviewer's name; empty until reviewed."""
    edition: str
    drafted_by: str
    """Judge and model version."""
    closed_book_share: Annotated[float, Field(ge=0, le=1)]
    """Share of the points that the judge's answer from memory got."""
    too_easy: bool
    problems: tuple[str, ...] = ()
    """Problems to fix before it can be imported."""
    entry: DraftEntry
    links: dict[str, Literal["ok", "unchecked"]] = Field(default_factory=dict)
    """For each trusted link, whether its page has been fetched."""
    sorted_out: tuple[str, ...] = ()
    """Drafted rubrics and keywords that were unusable."""

    @property
    def reviewer(self) -> str | None:
        """The reviewer's name; None if nobody has reviewed it."""
        return (self.reviewed_by or "").strip() or None


def render_draft(draft: DraftFile) -> str:
    """Render the file of a draft that nobody has reviewed yet."""
    fields = draft.model_dump(exclude_none=True, exclude={"status", "reviewed_by"})
    body = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=100)
    return f"{HEAD.format(edition=draft.edition)}status: draft\nreviewed_by:\n{body}"


def read_draft(path: Path) -> DraftFile:
    """Read a drafted file, revised or not.

    Raises:
        EditionError: no such file, or another format; names the file and the field.
    """
    try:
        draft = read_mapping(path)
    except ConfigurationError as error:
        raise EditionError(str(error)) from None
    return validate_row(path, draft, DraftFile, "Fix it, or remove the file and draft it again.")


def check_draft(path: Path, draft: DraftFile) -> None:
    """Raise EditionError if a draft is not a complete bundle; says what is missing."""
    if problem := find_rubrics_problem(draft.entry.qsr):
        raise EditionError(f"{path}: `entry.qsr`: {problem}.")
    for field in ("fak", "fdk"):
        keywords = getattr(draft.entry, field)
        if len({word.casefold() for word in keywords}) != KEYWORDS or len(keywords) != KEYWORDS:
            raise EditionError(
                f"{path}: `entry.{field}`: {len(keywords)} keywords; expected {KEYWORDS} different "
                "ones."
            )
    both = {w.casefold() for w in draft.entry.fak} & {w.casefold() for w in draft.entry.fdk}
    if both:
        raise EditionError(
            f"{path}: `entry.fdk`: {min(both)!r} is a focus keyword as well. A report cannot be "
            "expected to discuss a term and not to drift to it: choose another."
        )
    of_query = {*extract_terms(draft.entry.query)}
    for keyword in draft.entry.fak:
        if {*extract_terms(keyword)} <= of_query:
            raise EditionError(
                f"{path}: `entry.fak`: {keyword!r} comes from the query (or has only stop words), "
                "so every report would contain it. Choose another."
            )
