"""Which assignment a file answers, by the file's name.

What a name says in so many words (an id, a title) is certain. A number that is only a place in
the edition's order, and a likeness, are guesses: somebody has to agree to them.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal
from unicodedata import normalize

from rapidfuzz import fuzz

from tasks.base import Frozen

How = Literal["id", "title", "number", "likeness"]
"""`number`: the n-th assignment of the edition in order of the ids. The last two are guesses."""
GUESSES: frozenset[How] = frozenset(["number", "likeness"])
MIN_LIKENESS = 70.0
"""Of 100; below it a name is like no assignment's."""
MIN_LEAD = 5.0
"""By how much an assignment must be more like a file's name than the next one."""

_NUMBER = re.compile(r"(?:(?:idx|task|assignment|no|nr)[\s_.-]*)?0*(\d{1,6})", re.IGNORECASE)
_NOT_WORD = re.compile(r"[\W_]+")


class Known(Frozen):
    """An assignment, as a file may call it."""

    assignment: str
    title: str
    """Empty where it has none."""


class Match(Frozen):
    """What a file's name was taken for."""

    file: str
    """Its name without the ending."""
    assignment: str | None = None
    """None where nothing was found, or more than one thing."""
    how: How | None = None
    score: float | None = None
    """Likeness, 0-100; None where nothing was compared."""
    runner_up: str | None = None
    runner_up_score: float | None = None
    problem: str | None = None
    """Why no assignment, in words."""

    @property
    def guessed(self) -> bool:
        return self.how in GUESSES


def match_names(names: Sequence[str], known: Sequence[Known]) -> list[Match]:
    """A match for each name, in their order; two names for one assignment leave both without."""
    matches = [_match(name, known) for name in names]
    claimed: dict[str, list[Match]] = defaultdict(list)
    for match in matches:
        if match.assignment is not None:
            claimed[match.assignment].append(match)
    return [m if m.assignment is None else _alone(m, claimed[m.assignment]) for m in matches]


def _match(name: str, known: Sequence[Known]) -> Match:
    said = _normal(name)
    ways: list[tuple[How, list[str]]] = [
        ("id", [k.assignment for k in known if k.assignment == name]),
        ("title", [k.assignment for k in known if k.title and k.title == name]),
        ("id", [k.assignment for k in known if said and _normal(k.assignment) == said]),
        ("title", [k.assignment for k in known if said and _normal(k.title) == said]),
        ("id", [k.assignment for k in known if _same_number(name, k.assignment)]),
    ]
    for how, found in ways:
        if len(found) == 1:
            return Match(file=name, assignment=found[0], how=how)
        if found:
            problem = f"its name is that of {len(found)} assignments: {_listed(found)}"
            return Match(file=name, problem=problem)
    number = _NUMBER.fullmatch(name)
    if number is None:
        return _most_alike(name, known)
    place = int(number[1])
    if not 1 <= place <= len(known):
        problem = f"there is no assignment {place}: the edition has {len(known)}"
        return Match(file=name, problem=problem)
    ordered = sorted(k.assignment for k in known)
    return Match(file=name, assignment=ordered[place - 1], how="number")


def _most_alike(name: str, known: Sequence[Known]) -> Match:
    said = " ".join(_words(name))
    ranked = sorted(
        ((max(_likeness(said, k.assignment), _likeness(said, k.title)), k) for k in known),
        key=lambda scored: (-scored[0], scored[1].assignment),
    )
    if not ranked:
        return Match(file=name, problem="the edition has no assignments")
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
        return Match(**compared, problem=problem)
    if second is not None and score - second[0] < MIN_LEAD:
        problem = f"it may be {best.assignment} or {second[1].assignment}"
        return Match(**compared, problem=problem)
    return Match(**compared, assignment=best.assignment, how="likeness")


def _alone(match: Match, rivals: Sequence[Match]) -> Match:
    """The match; without its assignment if another file's name says as much."""
    others = [r for r in rivals if r is not match and (match.guessed or not r.guessed)]
    if not others:
        return match
    # Files of one name in two formats have the same name here.
    others_said = "another format of it" if others[0].file == match.file else others[0].file
    problem = f"{match.assignment} is also answered by {others_said}; keep one of them"
    return match.model_copy(update={"assignment": None, "how": None, "problem": problem})


def _likeness(said: str, other: str) -> float:
    """0-100: the words in any order; what one of them has beside the other's counts half."""
    words = " ".join(_words(other))
    if not said or not words:
        return 0.0
    return round((fuzz.token_sort_ratio(said, words) + fuzz.token_set_ratio(said, words)) / 2, 1)


def _same_number(name: str, assignment: str) -> bool:
    one, other = _NUMBER.fullmatch(name), _NUMBER.fullmatch(assignment)
    return one is not None and other is not None and int(one[1]) == int(other[1])


def _words(name: str) -> list[str]:
    return _NOT_WORD.sub(" ", normalize("NFKC", name).casefold()).split()


def _normal(name: str) -> str:
    return "".join(_words(name))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
