"""A report's lists of sources, and the address behind each number."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.rigs.wild.addresses import first_address, key

BULLET = re.compile(r"[ \t>]*(?:[-*+•]\s+)?(?:\*\*|__)?")
NUMBER = re.compile(r"\d{1,3}(?:_\d{1,3})?")
LABEL = re.compile(
    r"(?P<cell>\|\s*)?(?:\*\*)?(?P<open>(?:\\?[\[【(^]){0,4})(?:(?!Fig|Tab)[A-Za-z]{1,8}[ :]?)?"
    r"(?P<numbers>\d{1,3}(?:_\d{1,3})?(?:[ ,]+\d{1,3})*)(?!\d)(?P<close>(?:\^?\\?[\]】)]){0,2})"
    r"(?P<target>\([^\s()]*\))?(?P<stop>\\?[.):：、]|\*\*)?(?P<blank>\s|$)?"
)
SENTENCES = re.compile(r"[a-z\)”\"]{2}[.!?]\s+[A-Z]|[。！？].")
LINK = re.compile(r"\]\((?:[^()\s]|\([^()]*\)|\s)*\)")
HEADING = re.compile(
    r"\b(?:sources?|references?|citations?|works cited|bibliograph\w+|further reading)\b"
    r"|fontes|referências|citadas|fuentes|quellen|nguồn|tài liệu|อ้างอิง"
    r"|(?:参考|来源|引用|出典|文献)(?:资料|链接|列表|目录|文献|信息)?[\s*：:）)]*$",
    re.IGNORECASE,
)
LINKED_NUMBERS = re.compile(
    r"(?:\\?\[[\[(*]*\d{1,3}[\])*]*\]\([^\s()]*(?:\([^\s()]*\)[^\s()]*)*\)\s*)+"
)
ONLY_LINK = re.compile(r"\(\[[^\[\]]*\]\([^\s()]*\)\)")
NUMBERED = re.compile(r"\[\W*\d{1,3}\W*\]\(")
TITLE = re.compile(r"^(?:(#{1,6}) +(.+?)|\*\*([^*\n]{2,60})\*\*:?)[ \t]*$", re.MULTILINE)
LISTED = re.compile(r"[ \t>]*(?:[-*+•|]|\d{1,3}\\?[.)]\s|\\?[\[【]|<?https?://)")
AFTER_LAST = 90
"""Words of a closing note that may follow the last list."""


@dataclass(frozen=True)
class Entry:
    """One source: its numbers (none in a plain list) and its address, if it has one."""

    start: int
    end: int
    style: str
    numbers: tuple[str, ...]
    text: str
    address: str | None


@dataclass
class Sources:
    """All lists of a report."""

    lists: list[list[Entry]] = field(default_factory=list)

    @property
    def entries(self) -> Iterator[Entry]:
        return (entry for found in self.lists for entry in found)

    def holds(self, place: int) -> bool:
        return any(found[0].start <= place < found[-1].end for found in self.lists)

    def address(self, number: str, place: int) -> str | None:
        """The address behind a number; of several lists, the next one down the page."""
        found = [e for e in self.entries if number in e.numbers and e.address]
        after = [entry for entry in found if entry.start > place]
        chosen = after[0] if after else found[-1] if found else None
        return chosen.address if chosen else None

    def numbers(self) -> set[str]:
        return {number for entry in self.entries for number in entry.numbers}


def find_sources(text: str, used: set[str]) -> Sources:
    """The lists of sources; `used` are the numbers that brackets in the text name."""
    sources = Sources()
    runs = list(_runs(_read_entries(text)))
    last_words = text
    for run in reversed(runs):
        rest = last_words[run[-1].end :]
        closes = len(rest) < 12 * AFTER_LAST and words(rest) < AFTER_LAST
        if _is_list(run, text, closes, used):
            sources.lists.insert(0, run)
            last_words = text[: run[0].start]
    return sources


def find_sections(text: str) -> list[tuple[int, int]]:
    """Sections that a title says hold sources, and of which most lines are items: whatever stands
    in them, it cites nothing."""
    titles = [
        (m.start(), m.end(), len(m[1] or "") or 9, m[2] or m[3]) for m in TITLE.finditer(text)
    ]
    sections = []
    for at, (_, end, level, title) in enumerate(titles):
        below = [start for start, _, other, _ in titles[at + 1 :] if other <= level]
        stop = below[0] if below else len(text)
        rows = [line for line in text[end:stop].splitlines() if line.strip() and line[0] != "#"]
        items = sum(LISTED.match(line) is not None or "http" in line for line in rows)
        if len(title) < 60 and HEADING.search(title) and items > 0.7 * len(rows):
            sections.append((end, stop))
    return sections


def _read_entries(text: str) -> Iterator[Entry]:
    """Every line that could be an entry, with the lines that go on with it."""
    lines = [(m.start(), m.group()) for m in re.finditer(r"[^\n]+", text) if m.group().strip()]
    for at, (start, line) in enumerate(lines):
        label = _label(line)
        if label is None:
            continue
        style, numbers, skipped = label
        whole, end = line[skipped:], start + len(line)
        for _, more in lines[at + 1 : at + 4]:
            if first_address(whole) or _label(more) or more.lstrip().startswith("#"):
                break
            whole += "\n" + more
            end = text.index(more, end) + len(more)
        if not first_address(whole):
            whole, end = line[skipped:], start + len(line)
        elif at + 1 < len(lines) and _repeats(whole, lines[at + 1][1]):
            end = lines[at + 1][0] + len(lines[at + 1][1])
        yield from _split(start, end, style, numbers, whole, text)


def _split(
    start: int, end: int, style: str, numbers: tuple[str, ...], whole: str, text: str
) -> Iterator[Entry]:
    """One entry, or several that stand in one line ("1. A, https://a 2. B, https://b")."""
    found = first_address(whole)
    if style == "plain" and found and numbers:
        following = re.search(rf"\s{int(numbers[0]) + 1}\\?\.\s", whole[found[1] :])
        if following and first_address(whole[found[1] + following.end() :]):
            cut = found[1] + following.start()
            at = end - len(whole) + cut
            yield Entry(start, at, style, numbers, whole[:cut], whole[found[0] : found[1]])
            rest, number = whole[found[1] + following.end() :], str(int(numbers[0]) + 1)
            yield from _split(at, end, style, (number,), rest, text)
            return
    yield Entry(start, end, style, numbers, whole, whole[slice(*found)] if found else None)


def _repeats(entry: str, line: str) -> bool:
    """Whether a line only says the entry's address once more."""
    ours, theirs = first_address(entry), first_address(line)
    return bool(ours and theirs and _label(line) is None and _bare_words(line) < 3) and (
        key(entry[slice(*ours or (0, 0))]) == key(line[slice(*theirs or (0, 0))])
    )


def _label(line: str) -> tuple[str, tuple[str, ...], int] | None:
    """Style, numbers and length of what stands before an entry; None if nothing does."""
    begun = BULLET.match(line)
    assert begun is not None
    rest = line[begun.end() :]
    linked = LINKED_NUMBERS.match(rest)
    if linked:
        numbers = tuple(re.findall(r"\[[\[(*]*(\d{1,3})[\])*]*\]\(", linked.group()))
        alone = not rest[linked.end() :].strip()
        return None if alone and len(numbers) > 1 else ("link", numbers, begun.end())
    found = LABEL.match(rest)
    if found and (found["open"] or found["stop"] or found["blank"]):
        numbers = tuple(NUMBER.findall(found["numbers"]))
        opened = found["open"].replace("\\", "")
        if found["cell"]:
            row = found["target"] is None and line.count("|", found.end("numbers")) > 1
            return ("table" if opened else "row", numbers, begun.end()) if row else None
        if found["close"] and found["target"]:
            return "link", numbers, begun.end() + found.start("target")
        if found["close"] and opened:
            return "bracket", numbers, begun.end() + found.end()
        if opened and found["stop"]:
            return "inside", numbers, begun.end()
        if not opened and (found["stop"] or found["close"]) and found["blank"]:
            return "plain", numbers, begun.end() + found.end()
    if line.lstrip()[:1] in "-*+•" and begun.end() > len(line) - len(line.lstrip()) + 1:
        return "bullet", (), begun.end()
    return ("bullet", (), 0) if ONLY_LINK.fullmatch(line.strip()) else None


def _runs(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    run: list[Entry] = []
    for entry in entries:
        if run and not _goes_on(run[-1], entry):
            yield run
            run = []
        run.append(entry)
    if run:
        yield run


def _goes_on(one: Entry, other: Entry) -> bool:
    if one.style != other.style or other.start - one.end > 400:
        return False
    if one.numbers and other.numbers and "_" not in one.numbers[0] + other.numbers[0]:
        step = int(other.numbers[0]) - int(one.numbers[0])
        return -2 < step < (60 if one.style == "link" else 12)
    return other.start - one.end < 6 or bool(one.numbers)


def _is_list(run: Sequence[Entry], text: str, closes: bool, used: set[str]) -> bool:
    """Whether a run of lines is a list of sources, as a reader would say."""
    with_address = sum(entry.address is not None for entry in run)
    headed = _is_headed(text, run[0].start)
    style, said = run[0].style, sum(_states(entry, headed) for entry in run)
    if with_address < 0.5 * len(run):
        return style == "bracket" and len(run) > 2 and _counts(run)
    quiet = said <= (0.5 if headed else 0.2) * len(run)
    if style in ("bracket", "table", "inside"):
        return quiet and (len(run) > 1 or closes)
    if style == "link":
        alone = sum(_bare_words(entry.text) < 25 for entry in run) >= 0.8 * len(run)
        return alone and len(run) > 2 and closes
    answers = len(used & {number for entry in run for number in entry.numbers}) * 2 >= len(run)
    if style in ("plain", "row"):
        answers = answers and style == "plain"
        return quiet and len(run) > 2 and (closes or answers or headed)
    brief = sum(_bare_words(entry.text) < (30 if headed else 12) for entry in run) >= 0.9 * len(run)
    return (headed or closes) and brief and quiet and len(run) > 1


def _counts(run: Sequence[Entry]) -> bool:
    """Whether a run counts up by ones, as a list does whose sources have no address."""
    numbers = [int(entry.numbers[0]) for entry in run if entry.numbers[0].isdigit()]
    return len(numbers) == len(run) and numbers == list(range(numbers[0], numbers[0] + len(run)))


def _is_headed(text: str, start: int) -> bool:
    """Whether the line above says that sources follow."""
    above = text[:start].rstrip().rpartition("\n")[2]
    return len(above) < 60 and HEADING.search(above) is not None


def _states(entry: Entry, headed: bool) -> bool:
    """Whether an entry says something beside naming its source; under a heading it may say more."""
    plain = LINK.sub("] ", entry.text)
    found = first_address(plain)
    before = plain[: found[0]] if found else plain
    after = plain[found[1] :] if found else ""
    if headed:
        return words(before) > 60 or words(after) > 40
    too_long = words(before) > (35 if entry.style == "plain" else 60) or words(after) > 30
    if not before.strip("<* "):
        return words(after) > 60
    cites = entry.style in ("plain", "bullet") and NUMBERED.search(entry.text) is not None
    return too_long or cites or bool(SENTENCES.search(after) and words(after) > 12)


def _bare_words(line: str) -> int:
    """Words outside links and addresses."""
    plain = re.sub(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\([^\s]*\)|https?://\S+", " ", line)
    return words(plain)


def words(text: str) -> int:
    """Words, two letters of a script without blanks being one."""
    wide = sum("\u2e80" < letter < "\ue000" or "\u0e00" < letter < "\u0e80" for letter in text)
    return len(text.split()) + wide // 2
