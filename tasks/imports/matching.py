"""Matching of report files to assignments by their names, before they are read.

A name that is an id or a title is certain. A number that is only a position in the edition's
order, and a similar name, are guesses that a person has to confirm.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal
from unicodedata import normalize

from rapidfuzz import fuzz

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.documents.document import KINDS as ENDINGS
from tasks.editions.names import check_edition
from tasks.files.opening import list_files, resolve_within
from tasks.foreign_text import HIDDEN, make_visible, refuse_hidden
from tasks.warehouse.rows import replace_surrogates
from tasks.warehouse.store import Warehouse

REPORTS = "report"
"""A folder of this name may be between the given folder and the agents' folders."""
MatchMethod = Literal["id", "title", "number", "likeness"]
"""`number`: the n-th assignment of the edition by id. The last two are guesses."""
GUESSES: frozenset[MatchMethod] = frozenset(["number", "likeness"])
MIN_LIKENESS = 70.0
"""Least similarity (0-100) of a match."""
MIN_LEAD = 5.0
"""Least lead in similarity over the second best assignment."""

_NUMBER = re.compile(r"(?:(?:idx|task|assignment|no|nr)[\s_.-]*)?0*(\d{1,6})", re.IGNORECASE)
_NOT_WORD = re.compile(r"[\W_]+")


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


class MatchedFile(Frozen):
    """A file with the assignment that it matches."""

    agent: str
    path: str
    """The path in the imported folder."""
    file: Path
    match: FileMatch


class MatchedFiles(Frozen):
    """The files under a path."""

    edition: str
    folder: Path | None
    """The path if it is a folder; then import issues of files no longer in it are removed."""
    files: tuple[MatchedFile, ...]


def match_reports(
    warehouse: Warehouse, path: Path, edition: str, agent: str | None
) -> MatchedFiles:
    """Match the files under `path` to assignments, by agent and name.

    Args:
        agent: the agent of all files; None if each agent has a folder of its own.

    Raises:
        UnknownName: no such edition.
        EditionError: no such path, no report files in it, or a folder of it leads elsewhere.
        HiddenCharacters: an agent's name has them; of files they are a problem of the match.
    """
    check_edition(warehouse, edition)
    known = dict(
        warehouse.frame(
            "SELECT a.assignment, coalesce(t.title, '') FROM assignments AS a LEFT JOIN articles "
            "AS t ON t.edition = a.edition AND t.article = a.article AND a.kind = 'write_article' "
            "WHERE a.edition = $1 ORDER BY a.assignment",
            [edition],
        ).iter_rows()
    )
    if not known:
        raise EditionError(
            f"{edition} has no assignments. Make them with `evergreen assign --edition {edition}` "
            "first."
        )
    files = []
    for name, paths in _find_files(path, agent):
        refuse_hidden(name, f"{path}: the agent")
        matches = match_names([file.stem for file in paths], known)
        files += [_make_file(name, path, *pair) for pair in zip(paths, matches, strict=True)]
    return MatchedFiles(edition=edition, folder=path if path.is_dir() else None, files=tuple(files))


def _make_file(agent: str, path: Path, file: Path, match: FileMatch) -> MatchedFile:
    relative = file.relative_to(path).as_posix() if path.is_dir() else file.name
    name = replace_surrogates(relative)
    if (shown := make_visible(name, one_line=True)) != name:
        match = FileMatch(file=match.file, problem=f"{HIDDEN}; rename it without them")
    return MatchedFile(agent=agent, path=shown, file=file, match=match)


def _find_files(path: Path, agent: str | None) -> Iterator[tuple[str, list[Path]]]:
    """Find the report files of each agent."""
    if not path.exists():
        raise EditionError(f"{path}: there is no such file or folder of reports.")
    if agent is not None:
        found = [(agent, list_files(path) if path.is_dir() else [path])]
    elif not path.is_dir():
        raise EditionError(f"{path} is a file: name the report's agent with --agent.")
    else:
        above = path / REPORTS if (path / REPORTS).is_dir() else path
        folders = sorted(f for f in above.iterdir() if f.is_dir() and not f.name.startswith("."))
        _refuse_outside([above, *folders], path)
        found = [(folder.name, list_files(folder)) for folder in folders]
    if not any(files for _, files in found):
        raise EditionError(
            f"{path} has no reports; expected files that end in {' '.join(ENDINGS)}"
            + ("." if agent else ", in a folder for each agent. Or name the agent with --agent.")
        )
    yield from found


def _refuse_outside(folders: Sequence[Path], path: Path) -> None:
    for folder in folders:
        try:
            resolve_within(folder, path)
        except OSError as error:
            raise EditionError(
                f"{folder} cannot be read ({error.strerror or error}). Put the folder itself there."
            ) from None


def match_names(names: Sequence[str], known: Mapping[str, str]) -> list[FileMatch]:
    """Match each name, in order; names that claim the same assignment get none.

    known: the assignments with their titles, empty for those without one.
    """
    matches = [_match_name(name, known) for name in names]
    claimed: dict[str, list[FileMatch]] = defaultdict(list)
    for match in matches:
        if match.assignment is not None:
            claimed[match.assignment].append(match)
    return [
        m if m.assignment is None else _reject_rivals(m, claimed[m.assignment]) for m in matches
    ]


def _match_name(name: str, known: Mapping[str, str]) -> FileMatch:
    normalized = _normalize(name)
    ways: list[tuple[MatchMethod, Callable[[str, str], bool]]] = [
        ("id", lambda assignment, _: assignment == name),
        ("title", lambda _, title: title != "" and title == name),
        ("id", lambda assignment, _: normalized != "" and _normalize(assignment) == normalized),
        ("title", lambda _, title: normalized != "" and _normalize(title) == normalized),
        ("id", lambda assignment, _: _is_same_number(name, assignment)),
    ]
    for how, is_named in ways:
        found = [assignment for assignment, title in known.items() if is_named(assignment, title)]
        if len(found) == 1:
            return FileMatch(file=name, assignment=found[0], how=how)
        if found:
            named = ", ".join(found[:3])
            named += f" and {len(found) - 3} more" if len(found) > 3 else ""
            problem = f"its name is that of {len(found)} assignments: {named}"
            return FileMatch(file=name, problem=problem)
    number = _NUMBER.fullmatch(name)
    if number is None:
        return _match_by_likeness(name, known)
    place = int(number[1])
    if not 1 <= place <= len(known):
        problem = f"there is no assignment {place}: the edition has {len(known)}"
        return FileMatch(file=name, problem=problem)
    return FileMatch(file=name, assignment=sorted(known)[place - 1], how="number")


def _match_by_likeness(name: str, known: Mapping[str, str]) -> FileMatch:
    if not known:
        return FileMatch(file=name, problem="the edition has no assignments")
    words = " ".join(_words(name))
    scores = {
        assignment: max(_compute_likeness(words, assignment), _compute_likeness(words, title))
        for assignment, title in known.items()
    }
    best, *others = sorted(scores, key=lambda assignment: (-scores[assignment], assignment))
    second = others[0] if others else None
    match = FileMatch(
        file=name,
        score=scores[best],
        runner_up=second,
        runner_up_score=None if second is None else scores[second],
    )
    if scores[best] < MIN_LIKENESS:
        problem = f"no assignment has a name like it; the nearest is {best}"
        return match.model_copy(update={"problem": problem})
    if second is not None and scores[best] - scores[second] < MIN_LEAD:
        return match.model_copy(update={"problem": f"it may be {best} or {second}"})
    return match.model_copy(update={"assignment": best, "how": "likeness"})


def _reject_rivals(match: FileMatch, rivals: Sequence[FileMatch]) -> FileMatch:
    """Remove a match's assignment if another file has as good a claim."""
    others = [r for r in rivals if r is not match and (match.is_guess or not r.is_guess)]
    if not others:
        return match
    # Files of one name in two formats have the same name here.
    other = "the same file in another format" if others[0].file == match.file else others[0].file
    problem = f"{other} is for {match.assignment} as well; remove one of the two files"
    return match.model_copy(update={"assignment": None, "how": None, "problem": problem})


def _compute_likeness(normalized: str, other: str) -> float:
    """Return the similarity, 0-100, in any word order; extra words on one side count half."""
    words = " ".join(_words(other))
    if not normalized or not words:
        return 0.0
    in_order = fuzz.token_sort_ratio(normalized, words)
    return round((in_order + fuzz.token_set_ratio(normalized, words)) / 2, 1)


def _is_same_number(name: str, assignment: str) -> bool:
    one, other = _NUMBER.fullmatch(name), _NUMBER.fullmatch(assignment)
    return one is not None and other is not None and int(one[1]) == int(other[1])


def _words(name: str) -> list[str]:
    return _NOT_WORD.sub(" ", normalize("NFKC", name).casefold()).split()


def _normalize(name: str) -> str:
    return "".join(_words(name))
