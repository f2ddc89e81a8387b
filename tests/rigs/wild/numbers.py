"""Bare numbers as marks ("the valley.12 It", "the valley 12."), told by their first uses.

Who numbers sources as they are cited makes 1, 2, 3 … of the first uses down the page. The longest
rising chain of numbers tells whether a report does that; prices, years and versions do not rise.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.rigs.wild.markers import Marker, Seen, longest_rise

GROUP = re.compile(r"(?<![\d$€£¥%#+\-–/=_])\d{1,3}(?:(?:, ?|,? ?[–-] ?)\d{1,3})*(?![\d%_=/])")
STOPS = ".!?;:,。！？；：、，…"
CLOSERS = "”\"'’»)）」』】*_]>"
NEEDED = 0.35
"""Share of a list's numbers that a chain must reach."""


@dataclass(frozen=True)
class Candidate:
    """A number that could be a mark."""

    start: int
    end: int
    form: str
    numbers: tuple[str, ...]
    word: str
    """The word before it, if only a blank stands between."""


def bare_markers(seen: Seen) -> list[Marker]:
    """The bare numbers of a report that cite; none where they do not rise."""
    listed = seen.sources.numbers()
    bracketed = {m.number for m in seen.markers if m.number}
    if len(listed) < 2 or len(bracketed & listed) > 0.3 * len(listed):
        return []
    text = _prose(seen)
    found = [c for c in _candidates(text) if set(c.numbers) & listed]
    if len([m for m in seen.markers if m.address]) > len(found):
        return []  # it cites by links; its bare numbers count something
    accepted: list[Candidate] = []
    for form in ("glued", "before a stop", "glued to a word"):
        these = [candidate for candidate in found if candidate.form == form]
        chain = _chain(these)
        least = 0.3 if form == "glued to a word" else 0.1
        if len(chain) >= max(2, NEEDED * len(listed)) and len(chain) > least * len(these):
            accepted += these
    accepted.sort(key=lambda c: c.start)
    chain, names = _chain(accepted), _names(text)
    return list(_marks(accepted, chain, names, seen))


def _prose(seen: Seen) -> str:
    """The text with blanks (of equal length) for lists, marks already read and headings."""
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
        before, after = text[max(0, found.start() - 12) : found.start()], text[found.end() :][:3]
        form = _form(before, after)
        if form and not re.search(r"\d,\d{3}\b", found.group()):
            numbers = tuple(re.findall(r"\d+", found.group()))
            word = re.search(r"([^\W\d_]+) $", text[max(0, found.start() - 30) : found.start()])
            yield Candidate(found.start(), found.end(), form, numbers, word[1] if word else "")


def _form(before: str, after: str) -> str | None:
    """How a number stands, if it can be a mark there."""
    last = before[-1:]
    ends = not after.strip() or after[0].isspace() or after[0] in "*_|<\x00" + CLOSERS + STOPS
    wide = bool(after) and (ord(after[0]) > 0x2E7F or after[0] in STOPS)
    if last in STOPS + CLOSERS and last:
        core = before.rstrip(CLOSERS)
        said = core.rstrip(STOPS)
        if not said.strip("\x00 \n|>-*#"):
            return None  # begins its line or cell
        digits = len(said) - len(said.rstrip("0123456789"))
        told = core != said or before[-1] in "”\"'’»)）」』"
        follows = ends and not (after[:1] == "." and after[1:2].isdigit())
        return "glued" if told and digits in (0, 4) and (follows or wide) else None
    if last == " " and (before[-2:-1].isalnum() or before[-2:-1] in tuple("%°]" + CLOSERS)):
        stop = after[:1] in ("", "\n", "|") or after[0] in STOPS + ")）」』*" or after[:2] == " |"
        stop = stop or after[:3] in ("  \n", " \n")
        number_goes_on = after[:1] in tuple(".,") and after[1:2].isdigit()
        return "before a stop" if stop and not number_goes_on else None
    if last.isalpha() and last.islower() and before[-3:].isalpha() and (ends or wide):
        return "glued to a word"
    return None


def _chain(candidates: Sequence[Candidate]) -> list[int]:
    return longest_rise([int(number) for c in candidates for number in c.numbers])


def _names(text: str) -> Counter[str]:
    """Words with a number behind them in the middle of a sentence: "Claude 3 was"."""
    return Counter(
        f"{m[1]} {m[2]}" for m in re.finditer(r"([^\W\d_]+) (\d{1,3})(?= [^\W\d])", text)
    )


def _marks(
    candidates: Sequence[Candidate], chain: Sequence[int], names: Counter[str], seen: Seen
) -> Iterator[Marker]:
    listed, highest = seen.sources.numbers(), 0
    rising = set(chain)
    for candidate in candidates:
        for number in candidate.numbers:
            if number not in listed:
                break
            value = int(number)
            new = value > highest and (value in rising or value <= highest + 3)
            if value > highest and (not new or value > highest + 12):
                break
            if candidate.form == "before a stop" and names[f"{candidate.word} {number}"]:
                break
            highest = max(highest, value)
            address = seen.sources.address(number, candidate.start)
            yield Marker(candidate.start, candidate.end, candidate.form, number, address)
