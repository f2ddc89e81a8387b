"""A drafted bundle as a file for a person to revise: YAML, with a published entry inside.

With each rubric stand the facts that it rests on.
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
    Text,
    check_rubrics,
)
from tasks.benchmarks.rows import checked
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import read_mapping
from tasks.judges.text import terms

KEYWORDS = 5
"""Of each kind."""
HEAD = """\
# A draft of a bundle for Rigorous Bench, made by a model from the article's facts.
# Read every rubric against its facts, correct or replace what is wrong, and keep at least 8 rubrics
# worth 30 points together, 5 keywords of each kind (fak: what a report should speak of, fdk: what
# it should not drift to), and links that can be trusted (tsl: addresses, one a line after "- ";
# `links` says which of them have been fetched and needs no entry for others). Then put your name
# at `reviewed_by`, and:
#   evergreen import rigorous-draft FILE --edition {edition}
"""


class DraftRubric(PublishedRubric):
    """A rubric with the facts that it rests on, by number."""

    facts: dict[StrictInt, str] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _plain_keys(cls, said: object) -> object:
        """YAML takes an unquoted `yes` for true; here it is a name."""
        if not isinstance(said, dict):
            return said
        names = {True: "yes", False: "no"}
        return {names[k] if isinstance(k, bool) else k: value for k, value in said.items()}


class DraftEntry(Frozen):
    """One entry in the published shape."""

    uid: Text
    """The assignment."""
    query: Text
    qsr: Annotated[tuple[DraftRubric, ...], Field(max_length=MOST_ITEMS)]
    tsl: Annotated[tuple[Link, ...], Field(max_length=MOST_ITEMS)]
    fak: Annotated[tuple[Keyword, ...], Field(max_length=MOST_ITEMS)]
    fdk: Annotated[tuple[Keyword, ...], Field(max_length=MOST_ITEMS)]


class DraftFile(Frozen):
    """All that a reviewer is given."""

    status: Literal["draft", "reviewed"] = "draft"
    """For people: whether it is reviewed is for `reviewed_by` to say."""
    reviewed_by: str | None = None
    """Who has read it; empty until then."""
    edition: str
    drafted_by: str
    """Judge and model version."""
    closed_book_share: Annotated[float, Field(ge=0, le=1)]
    """Of the rubrics' points, what the judge's answer from memory got."""
    too_easy: bool
    problems: tuple[str, ...] = ()
    """What must be mended before it can be taken in."""
    entry: DraftEntry
    links: dict[str, Literal["ok", "unchecked"]] = Field(default_factory=dict)
    """Of each trusted link, whether its page has been fetched."""
    sorted_out: tuple[str, ...] = ()
    """What was drafted and could not be used."""

    @property
    def reviewer(self) -> str | None:
        return (self.reviewed_by or "").strip() or None


def draft_text(draft: DraftFile) -> str:
    """The file's text; nobody has reviewed it yet."""
    said = draft.model_dump(exclude_none=True, exclude={"status", "reviewed_by"})
    body = yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=100)
    return f"{HEAD.format(edition=draft.edition)}status: draft\nreviewed_by:\n{body}"


def read_draft(path: Path) -> DraftFile:
    """A drafted file as it is now, perhaps revised.

    Raises:
        EditionError: no such file, or not in this form; names the file and the field.
    """
    try:
        draft = read_mapping(path)
    except ConfigurationError as error:
        raise EditionError(str(error)) from None
    return checked(path, draft, DraftFile, "Mend it, or remove the file and draft it anew.")


def check_draft(path: Path, draft: DraftFile) -> None:
    """Raise EditionError for a draft that is no whole bundle yet; says what is missing."""
    check_rubrics(f"{path}: `entry.qsr`", draft.entry.qsr)
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
            f"{path}: `entry.fdk`: {min(both)!r} is a focus keyword as well. A word that a report "
            "should speak of cannot be one that it should not drift to: choose another."
        )
    of_query = {*terms(draft.entry.query)}
    for keyword in draft.entry.fak:
        if {*terms(keyword)} <= of_query:
            raise EditionError(
                f"{path}: `entry.fak`: {keyword!r} is taken from the query (or is no word of its "
                "own): every report would hold it. Choose another."
            )
