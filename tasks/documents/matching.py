"""Match report files to assignments by file name.

A name that is an id or a title is certain. A number that is only a position in the edition's
order, and a similar name, are guesses that a person has to confirm.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal
from unicodedata import normalize

from rapidfuzz import fuzz

from tasks.base import Frozen

MatchMethod = Literal["id", "title", "number", "likeness"]
"""`number`: the n-th assignment of the edition by id. The last two are guesses."""
GUESSES: frozenset[MatchMethod] = frozenset(["number", "likeness"])
MIN_LIKENESS = 70.0
"""Least similarity (0-100) of a match."""
MIN_LEAD = 5.0
"""Least lead in similarity over the second best assignment."""

_NUMBER = re.compile(r"(?:(?:idx|task|assignment|no|nr)[\s_.-]*)?0*(\d{1,6})", re.IGNORECASE)
_NOT_WORD = re.compile(r"[\W_]+")


class AssignmentName(Frozen):
    """An assignment's id and title, after which a file may be named."""

    assignment: str
    title: str
    """Empty if it has none."""


class FileMatch(Frozen):
    """The assignment found for a file, or the reason why there is none."""

    file: str
    """The file's name without its extension."""
    assignment: str | None = None
    """None if no assignment, or more than one, was found."""
    how: MatchMethod | None = None
    score: float | None = None
    """Similarity, 0-100; None if it was not computed."""
    runner_up: str | None = None
    runner_up_score: float | None = None
    problem: str | None = None
    """Why there is no assignment."""

    @property
    def is_guess(self) -> bool:
        return self.how in GUESSES


def match_names(names: Sequence[str], known: Sequence[AssignmentName]) -> list[FileMatch]:
    """Match each name, in order; names that claim the same assignment get none."""
    matches = [_match_name(name, known) for name in names]
    claimed: dict[str, list[FileMatch]] = defaultdict(list)
    for match in matches:
        if match.assignment is not None:
            claimed[match.assignment].append(match)
    return [
        m if m.assignment is None else _reject_rivals(m, claimed[m.assignment]) for m in matches
    ]


def _match_name(name: str, known: Sequence[AssignmentName]) -> FileMatch:
    normalized = _normalize(name)
    ways: list[tuple[MatchMethod, list[str]]] = [
        ("id", [k.assignment for k in known if k.assignment == name]),
        ("title", [k.assignment for k in known if k.title and k.title == name]),
        (
            "id",
            [k.assignment for k in known if normalized and _normalize(k.assignment) == normalized],
        ),
        (
            "title",
            [k.assignment for k in known if normalized and _normalize(k.title) == normalized],
        ),
        ("id", [k.assignment for k in known if _is_same_number(name, k.assignment)]),
    ]
    for how, found in ways:
        if len(found) == 1:
            return FileMatch(file=name, assignment=found[0], how=how)
        if found:
            problem = f"its name is that of {len(found)} assignments: {_join_names(found)}"
            return FileMatch(file=name, problem=problem)
    number = _NUMBER.fullmatch(name)
    if number is None:
        return _match_by_likeness(name, known)
    place = int(number[1])
    if not 1 <= place <= len(known):
        problem = f"there is no assignment {place}: the edition has {len(known)}"
        return FileMatch(file=name, problem=problem)
    ordered = sorted(k.assignment for k in known)
    return FileMatch(file=name, assignment=ordered[place - 1], how="number")


def _match_by_likeness(name: str, known: Sequence[AssignmentName]) -> FileMatch:
    normalized = " ".join(_words(name))
    ranked = sorted(
        (
            (
                max(
                    _compute_likeness(normalized, k.assignment),
                    _compute_likeness(normalized, k.title),
                ),
                k,
            )
            for k in known
        ),
        key=lambda scored: (-scored[0], scored[1].assignment),
    )
    if not ranked:
        return FileMatch(file=name, problem="the edition has no assignments")
    score, best = ranked[0]
    second = ranked[1] if len(ranked) > 1 else None
    compared = {
        "file": name,
        "score": score,
        "runner_up": second[1].assignment if second else None,
        "runner_up_score": second[0] if second else None,
    }
    if score < MIN_LIKENESS:
        problem = f"no assignment has a name like it; the nearest is {best.assignment}"
        return FileMatch(**compared, problem=problem)
    if second is not None and score - second[0] < MIN_LEAD:
        problem = f"it may be {best.assignment} or {second[1].assignment}"
        return FileMatch(**compared, problem=problem)
    return FileMatch(**compared, assignment=best.assignment, how="likeness")


def _reject_rivals(match: FileMatch, rivals: Sequence[FileMatch]) -> FileMatch:
    """Remove a match's assignment if another file has as good a claim."""
    others = [r for r in rivals if r is not match and (match.is_guess or not r.is_guess)]
    if not others:
        return match
    # Files of one name in two formats have the same name here.
    others_said = "another format of it" if others[0].file == match.file else others[0].file
    problem = f"{match.assignment} is also answered by {others_said}; keep one of them"
    return match.model_copy(update={"assignment": None, "how": None, "problem": problem})


def _compute_likeness(normalized: str, other: str) -> float:
    """Return the similarity, 0-100, in any word order; extra words on one side count half."""
    words = " ".join(_words(other))
    if not normalized or not words:
        return 0.0
    return round(
        (fuzz.token_sort_ratio(normalized, words) + fuzz.token_set_ratio(normalized, words)) / 2, 1
    )


def _is_same_number(name: str, assignment: str) -> bool:
    one, other = _NUMBER.fullmatch(name), _NUMBER.fullmatch(assignment)
    return one is not None and other is not None and int(one[1]) == int(other[1])


def _words(name: str) -> list[str]:
    return _NOT_WORD.sub(" ", normalize("NFKC", name).casefold()).split()


def _normalize(name: str) -> str:
    return "".join(_words(name))


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
