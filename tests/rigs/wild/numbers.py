"""Bare numbers as marks ("the valley.12 It", "the valley 12."), told by how a report uses them.

Who numbers sources as they are cited makes 1, 2, 3 … of the first uses down the page: prices,
years and versions do not rise like that, and nothing but a mark stands glued to a full stop often.
A number is a mark only if the report's list has it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import correlation

from tests.rigs.wild.markers import Marker, Seen

GROUP = re.compile(r"(?<![\d$€£¥%#+\-–/=_])\d{1,3}(?:(?:, ?|,? ?[–-] ?)\d{1,3})*(?![\d%_=/])")
STOPS = ".!?;:,。！？；：、，…"
CLOSERS = "”\"'’»)）」』】*_]>"
COUNTING = (
    "or and to of by than from in at is are with for about over under size level turn step steps "
    "layer table figure phase stage section part chapter version top ratio score rating top day "
    "principle tier type class grade ou e de para em por que fase tabela seção passo nível etapa "
    "figura parte capítulo versão lacuna estágio"
)
GLUED, GLUED_WORD, BEFORE = "glued", "glued to a word", "before a stop"
ENOUGH = 4
"""Marks of one form, at least; or a tenth of the list."""


@dataclass(frozen=True)
class Candidate:
    """A number that could be a mark."""

    start: int
    end: int
    form: str
    numbers: tuple[str, ...]
    word: str
    """The word before it, if only a blank stands between."""
    after: str

    def counts(self, text: str) -> bool:
        """Whether its word counts something: "Table 2:", "Loihi 2" beside "Loihi 1"."""
        if not self.word:
            return False
        if self.word.lower() in COUNTING.split() or (self.after == ":" and self.word[0].isupper()):
            return True
        pattern = rf"\b{re.escape(self.word)} \d+ [^\W\d_]"
        return self.word[0].isupper() and bool(re.search(pattern, text))


def bare_markers(seen: Seen) -> list[Marker]:
    """The bare numbers of a report that cite; none where they do not behave like it."""
    listed = seen.sources.numbers()
    bracketed = {marker.number for marker in seen.markers if marker.number}
    if len(listed) < 2 or len(bracketed & listed) > 0.3 * len(listed):
        return []
    text = _prose(seen)
    found = list(_candidates(text))
    if len([marker for marker in seen.markers if marker.address]) > len(found):
        return []  # it cites by links; its bare numbers count something
    forms = {form for form in (GLUED, GLUED_WORD, BEFORE) if _cites(form, found, text, listed)}
    return list(_marks(found, forms, text, seen)) if forms else []


def _prose(seen: Seen) -> str:
    """The text with a mark (of equal length) for lists, marks already read and headings."""
    letters = list(seen.text)
    spans = [(m.start, m.end) for m in seen.markers]
    spans += [(found[0].start, found[-1].end) for found in seen.sources.lists]
    spans += [(m.start(), m.end()) for m in re.finditer(r"^#{1,6} .*$", seen.text, re.MULTILINE)]
    for start, end in spans:
        for at in range(start, end):
            letters[at] = letters[at] if letters[at] == "\n" else "\x00"
    return "".join(letters)


def _candidates(text: str) -> Iterator[Candidate]:
    for found in GROUP.finditer(text):
        before, after = text[max(0, found.start() - 14) : found.start()], text[found.end() :][:3]
        form = _form(before, after)
        if form and not re.search(r"\d,\d{3}\b", found.group()):
            numbers = tuple(re.findall(r"\d+", found.group()))
            word = re.search(r"([^\W\d_]+) $", text[max(0, found.start() - 30) : found.start()])
            last = after.lstrip("*")[:1]
            yield Candidate(
                found.start(), found.end(), form, numbers, word[1] if word else "", last
            )


def _form(before: str, after: str) -> str | None:
    """How a number stands, if it can be a mark there."""
    last, follower = before[-1:], after[:1]
    ends = not after.strip() or follower.isspace() or follower in "*_|<\x00" + CLOSERS + STOPS
    ends = ends and not (follower in ".,:" and after[1:2].isdigit())
    if not last or not ends:
        return None
    if last in STOPS + CLOSERS:
        core = before.rstrip(CLOSERS)
        said = core.rstrip(STOPS)
        if not said.strip("\x00 \n|>-*#\t") or core[-1:] in "、，：；:;":
            return None  # begins its line or cell, or goes on after a comma
        told = core != said or last in "”\"'’»)）」』"
        return GLUED if told and len(said) - len(said.rstrip("0123456789")) in (0, 4) else None
    if last == " " and (before[-2:-1].isalnum() or before[-2:-1] in tuple("%°" + CLOSERS[:-1])):
        stops = follower in STOPS + ")）」』*|\n" or re.match(r" {0,2}(\||\n|$)", after)
        return BEFORE if stops else None
    glued = last.isalpha() and last.islower() and before[-3:].isalpha()
    return GLUED_WORD if glued else None


def _cites(form: str, found: Sequence[Candidate], text: str, listed: set[str]) -> bool:
    """Whether the numbers of a form are marks, not prices and counts."""
    these = [c for c in found if c.form == form and not c.counts(text)]
    inside = [number for c in these for number in c.numbers[:1] if number in listed]
    needed = max(ENOUGH, 0.1 * len(listed))
    if len(inside) < needed or len(inside) < 0.6 * len(these):
        return False
    first_uses = [int(number) for number in dict.fromkeys(inside)]
    if len(first_uses) < max(3, 0.06 * len(listed)):
        return False
    rising = correlation(range(len(first_uses)), first_uses)
    return rising > 0.3 or (form == GLUED and len(inside) > 2 * needed)


def _marks(found: Sequence[Candidate], forms: set[str], text: str, seen: Seen) -> Iterator[Marker]:
    listed, highest = seen.sources.numbers(), 0
    reach = max(12, len(listed) // 3) if BEFORE in forms else 0
    for candidate in found:
        if candidate.form not in forms | {BEFORE} or candidate.counts(text):
            continue
        for number in candidate.numbers:
            near = int(number) <= highest + max(4, reach)
            if number not in listed or (candidate.form == BEFORE and not near):
                break
            highest = max(highest, int(number))
            address = seen.sources.address(number, candidate.start)
            yield Marker(candidate.start, candidate.end, candidate.form, number, address)
