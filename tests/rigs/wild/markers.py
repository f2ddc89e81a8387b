"""The marks in a report that a reader takes as citations, letter by letter."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import correlation

from tests.rigs.wild.addresses import STARTS, address_end, is_public
from tests.rigs.wild.sources import HEADING, Sources, find_sections, find_sources

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
CLOSING = {"[": "]", "【": "】", "［": "］"}
WORDS = (
    "cite citation citations source sources ref refs reference web webpage page s src doc fonte "
)
WORDS += "fuente quelle nguồn 来源 引用 参考 出典 資料"
HIDDEN = (
    re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1>", re.DOTALL | re.IGNORECASE),
    re.compile(r"<(\w+)[^<>]*display:\s*none[^<>]*>.*?</\1>", re.DOTALL | re.IGNORECASE),
    re.compile(r"!\[[^\[\]\n]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\])|<img\b[^<>]*>", re.IGNORECASE),
    re.compile(r"^\[[^\[\]\n]+\]: *<?data:.*$|<?data:image[^\s)>]*>?", re.MULTILINE),
    re.compile(r"(`+)(?:(?!\1|\n\n).)+\1", re.DOTALL),
)
FENCE = re.compile(r"[ \t]*(```+|~~~+)")
TAG = re.compile(r"<a\s[^<>]*?href\s*=\s*[\"']([^\"'<>]*)[\"'][^<>]*>|<sup[^<>]*>", re.IGNORECASE)
TOKEN = re.compile(
    r"(?:\\u[eE]2\d\d|[\ue000-\uf8ff]|cite|view|turn\d+[a-z]+\d+){2,}|turn\d+[a-z]+\d+"
)
DEFINED = re.compile(r"^[ \t]*\[([^\[\]\n]+)\]:\s*<?(https?://[^\s>]+)", re.MULTILINE)
LABELLED = re.compile(r"^[\W\d]*(?:URL|Link|Source|Fonte|来源)\W*:\W*", re.IGNORECASE)
RANGE = re.compile(r"(\d{1,3})[-–—~](\d{1,3})")
STARTING = re.compile(
    rf"[\[【［<{SUPERSCRIPTS}\ue000-\uf8ff]|https?://|www\.|\\u[eE]2\d\d|(?:cite)?turn\d+[a-z]"
)


@dataclass(frozen=True)
class Marker:
    """One mark that cites; a mark that names two sources is two."""

    start: int
    end: int
    form: str
    number: str | None
    address: str | None
    worded: bool = False
    """A link whose words belong to the sentence: it need not follow what it supports."""


@dataclass(frozen=True)
class Seen:
    """What a reader of a report sees."""

    text: str
    """As written, with blanks where nothing is seen or nothing is prose."""
    sources: Sources
    markers: tuple[Marker, ...]


def see(markdown: str) -> Seen:
    """A report's lists and marks; bare numbers apart (`numbers.py`)."""
    text = _blank_unseen(markdown)
    used = {m.number for m in _scan(text, {}) if m.number and not m.address}
    sources = find_sources(text, used)
    lines = list(DEFINED.finditer(text))
    sections = find_sections(text)
    defined = {line[1].lower(): line[2] for line in lines}
    found = [
        _resolved(marker, sources)
        for marker in _scan(text, defined)
        if not sources.holds(marker.start)
        and not _in_heading(text, marker.start)
        and not _names_all(text, marker.start)
        and not any(start <= marker.start < end for start, end in sections)
        and not any(line.start() <= marker.start < line.end() for line in lines)
    ]
    if not rises([m.number for m in found if m.form == "superscript" and m.number], sources):
        found = [marker for marker in found if marker.form != "superscript"]
    return Seen(text, sources, tuple(found))


def rises(numbers: Sequence[str], sources: Sources) -> bool:
    """Whether numbers go up from their first uses on, as those of sources do and powers do not."""
    uses = [int(number) for number in dict.fromkeys(numbers)]
    enough = len(uses) >= max(3, 0.2 * len(sources.numbers()))
    return enough and correlation(range(len(uses)), uses) > 0.5


def _resolved(marker: Marker, sources: Sources) -> Marker:
    if marker.address or marker.number is None:
        return marker
    address = sources.address(marker.number, marker.start)
    return Marker(marker.start, marker.end, marker.form, marker.number, address)


def _blank_unseen(markdown: str) -> str:
    """The same length, with blanks for code, comments, pictures and what is hidden."""
    lines, fence = [], ""
    whole = markdown.strip()
    wrapped = whole.startswith("```") and whole.endswith("```") and whole.count("\n```") == 1
    for line in markdown.splitlines(keepends=True):
        mark = FENCE.match(line)
        opens = mark is not None and not wrapped
        if opens and mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        lines.append(_blank(line) if fence or mark else line)
    text = "".join(lines)
    for hidden in HIDDEN:
        text = hidden.sub(lambda m: _blank(m.group()), text)
    return text


def _blank(piece: str) -> str:
    return "".join(letter if letter == "\n" else " " for letter in piece)


def _in_heading(text: str, place: int) -> bool:
    return text[text.rfind("\n", 0, place) + 1 : place].lstrip(" >").startswith("#")


def _names_all(text: str, place: int) -> bool:
    """Whether a line only names the report's sources: "Sources: [1][2][3] …"."""
    line = text[text.rfind("\n", 0, place) + 1 :].partition("\n")[0]
    said = re.sub(r"\[[^\[\]]{1,9}\]", "", line)
    return len(line) > len(said) + 30 and len(said) < 30 and HEADING.search(said) is not None


def _scan(text: str, defined: dict[str, str]) -> Iterator[Marker]:
    at = 0
    while found := STARTING.search(text, at):
        here = found.start()
        letter = text[here]
        if letter in CLOSING:
            markers, at = _bracket(text, here, defined)
        elif letter == "<":
            markers, at = _tag(text, here)
        elif letter in SUPERSCRIPTS:
            markers, at = _superscript(text, here)
        elif text.startswith(STARTS, here):
            at = max(address_end(text, here), here + 1)
            cites = is_public(text[here:at]) and not _is_alone(text, here, at)
            markers = [Marker(here, at, "bare address", None, text[here:at])] if cites else []
        else:
            token = TOKEN.match(text, here)
            at = token.end() if token else here + 1
            is_token = token and "turn" in token.group()
            markers = [Marker(here, at, "token", None, None)] if is_token else []
        yield from markers


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether an address fills its line: it belongs to a list or to what stands above."""
    line = text[text.rfind("\n", 0, start) + 1 : start] + text[end:].partition("\n")[0]
    return not LABELLED.sub("", line).strip(" \t<>*-0123456789")


def _bracket(text: str, here: int, defined: dict[str, str]) -> tuple[list[Marker], int]:
    end = _close(text, here)
    if end is None:
        return [], here + 1
    said = text[here + 1 : end - 1].rstrip("\\")
    if text[end : end + 1] == "(" and text[here] == "[":
        target = _target(text, end)
        if target and target[0].startswith(STARTS):
            return _link(said, target[0], here, target[1]), target[1]
        end = target[1] if target else end
    elif text[end : end + 1] == "[" and not labels(said) and (close := _close(text, end)):
        address = defined.get(text[end + 1 : close - 1].lower())
        if address and text[end + 1] != "^":
            return _link(said, address, here, close), close
    if said.lower() in defined and labels(said) is None:
        return _link(said, defined[said.lower()], here, end), end
    if "turn" in said and TOKEN.search(said):
        return [Marker(here, end, "token", None, None)], end
    if text[max(0, here - 2) : here].rstrip().endswith("=") and text[end : end + 1] in tuple(
        ",;\n"
    ):
        return [], end  # an array
    form = "caret" if "^" in said else "lens" if text[here] == "【" else "bracket"
    names = labels(said) or ([said[1:]] if said.startswith("^") and said[1:].isalnum() else [])
    if not names and not said.lower().startswith("[http"):
        return [], here + 1
    return [Marker(here, end, form, name, None) for name in names], end


def _link(said: str, address: str, here: int, end: int) -> list[Marker]:
    if said and not said.strip():
        return []  # a picture that is a link
    names = labels(said.strip("()"))
    if names:
        return [Marker(here, end, "numbered link", names[0], address)]
    return [Marker(here, end, "link", None, address, worded=True)]


def labels(said: str) -> list[str] | None:
    """The numbers that a bracket names; None if it is no citation."""
    plain = said.replace("\\", "").strip(" ^[]").split("†")[0]
    if len(plain) > 80:
        return None
    names: list[str] = []
    for piece in re.split(r"[\s,，、;；|^\[\]]+", plain.replace(" – ", "–")):
        word, colon, rest = piece.rpartition(":")
        if colon and (word.isdigit() or not word.replace("_", "").isalpha()):
            names.append(piece)  # 【4:1†source】: the number of a search, not of a source
            continue
        if (
            (colon and not rest)
            or piece.lower().rstrip("s.") in WORDS.split()
            or piece.lower() in WORDS.split()
        ):
            continue
        between = RANGE.fullmatch(rest)
        if between and 0 < int(between[2]) - int(between[1]) < 100:
            names += [str(n) for n in range(int(between[1]), int(between[2]) + 1)]
        elif re.fullmatch(r"\d{1,3}(_\d{1,3})?", rest):
            names.append(rest)
        elif piece:
            return None
    return [n for n in names if n != "0"] or None


def _close(text: str, here: int) -> int | None:
    """The end of a bracket, others within it counted; never over a blank line."""
    depth, opening, closing = 0, text[here], CLOSING[text[here]]
    for at in range(here, min(len(text), here + 900)):
        depth += (text[at] == opening) - (text[at] == closing)
        if depth == 0:
            return at + 1
        if text.startswith("\n\n", at):
            return None
    return None


def _target(text: str, here: int) -> tuple[str, int] | None:
    """The target of a link, whose blanks some writers forget to encode, and where it ends."""
    depth = 0
    for at in range(here, min(len(text), here + 2_500)):
        depth += (text[at] == "(") - (text[at] == ")")
        if text[at] == "\n" or text.startswith("](", at):
            return None
        if depth == 0:
            plain = text[here + 1 : at].strip()
            return re.sub(r"\s+[\"'“].*$", "", plain).strip("<>"), at + 1
    return None


def _tag(text: str, here: int) -> tuple[list[Marker], int]:
    tag = TAG.match(text, here)
    if tag is None:
        return [], here + 1
    if tag[1] is None:
        end = text.lower().find("</sup>", here)
        said = text[tag.end() : end] if 0 <= end - here < 200 else "?"
        names = labels(re.sub(r"<[^<>]*>|[\[\]()]", " ", said))
        begins = not re.sub(r"<[^<>]*>", "", text[text.rfind("\n", 0, here) + 1 : here]).strip()
        if "http" in said or not names or begins:
            return [], tag.end()
        return [Marker(here, end + 6, "sup", name, None) for name in names], end + 6
    end = text.lower().find("</a>", here)
    end = tag.end() if end < 0 else end + 4
    said = re.sub(r"<[^<>]*>", "", text[tag.end() : end])
    if tag[1].startswith(STARTS):
        return _link(said, tag[1], here, end), end
    return [Marker(here, end, "sup", name, None) for name in labels(said) or []], end


def _superscript(text: str, here: int) -> tuple[list[Marker], int]:
    run = re.compile(rf"[{SUPERSCRIPTS}]+(?:[,˒⁻–· ]+[{SUPERSCRIPTS}]+)*").match(text, here)
    assert run is not None
    before = text[max(0, here - 3) : here]
    is_power = before[-1:].isdigit() or re.search(
        r"(?:^|[\s\d/(（])[a-zA-Zµ]{1,2}$|[₀-₉⁺⁻(]$", before
    )
    if is_power or not before.strip() or text[run.end() : run.end() + 1] in ("⁺", "⁻"):
        return [], run.end()
    plain = run.group().translate(str.maketrans(SUPERSCRIPTS, "0123456789"))
    names = [name for name in re.findall(r"\d+", plain) if name != "0"]
    return [Marker(here, run.end(), "superscript", name, None) for name in names], run.end()
