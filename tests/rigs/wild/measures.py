"""What the product makes of one report, against what a reader sees."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields

from tasks.extraction.claims import ExtractedCitation, ExtractedClaim, ExtractedClaims
from tests.rigs.wild.addresses import fault, key
from tests.rigs.wild.markers import Marker, Seen
from tests.rigs.wild.sources import Entry, words

RESIDUE = re.compile(
    r"\]\(|\[\^?\d{1,3}(?:[,\]]|\^)|\[\^|<a |</?sup|</?span|【|†|turn\d+(?:search|view)"
    r"|[\ue000-\uf8ff]|:~:text=|\[cite|\[citation|\*\*"
)
LONG_WORDS, LONG_WIDE = 80, 240
FORMS = ("link", "bare address")
MISSED, LISTED, UNPAIRED, MALFORMED, LONG, LEFT, FALSE = (
    "marker that leads elsewhere",
    "list entry as a claim",
    "address in no pair",
    "malformed address",
    "long claim",
    "residue",
    "false marker",
)


@dataclass
class Figures:
    """Counts over one report or many."""

    files: int = 0
    unreadable: int = 0
    markers: int = 0
    """That a reader sees; one that names two sources counts as two."""
    addressed: int = 0
    """Markers whose entry or target is an address."""
    led: int = 0
    """Of these, markers that lead there in the product's claims."""
    pairs: int = 0
    citing: int = 0
    """Files with a marker that leads to an address, to a reader."""
    reliable: int = 0
    """Of these, files whose pairs the product calls reliable."""
    claims: int = 0
    explicit: int = 0
    listed: int = 0
    addresses: int = 0
    """Different ones behind the markers of a file."""
    unpaired: int = 0
    cited: int = 0
    """Different addresses in the product's pairs of a file."""
    malformed: int = 0
    long: int = 0
    residue: int = 0
    numbered: int = 0
    """Numbers that the product took as markers of claims."""
    false: int = 0

    def __iadd__(self, other: "Figures") -> "Figures":
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))
        return self


@dataclass(frozen=True)
class Example:
    """One failure."""

    kind: str
    place: int
    excerpt: str


@dataclass
class Measured:
    figures: Figures
    examples: list[Example] = field(default_factory=list)
    reason: str | None = None
    """Why the product calls the pairs unreliable, where a reader sees markers that lead."""


class _Claims:
    """The product's claims by the places that they hold."""

    def __init__(self, claims: Sequence[ExtractedClaim]) -> None:
        self.claims = sorted(
            (c for c in claims if c.position is not None), key=lambda c: c.position or 0
        )
        self.starts = [claim.position or 0 for claim in self.claims]

    def at(self, place: int) -> ExtractedClaim | None:
        found = bisect_right(self.starts, place) - 1
        return self.claims[found] if found >= 0 else None

    def end(self, claim: ExtractedClaim, length: int) -> int:
        found = bisect_right(self.starts, claim.position or 0)
        return self.starts[found] if found < len(self.starts) else length


def measure(
    markdown: str, seen: Seen, markers: Sequence[Marker], made: ExtractedClaims
) -> Measured:
    """One report's figures, with an example of each failure."""
    claims = _Claims(made.claims)
    leading = [marker for marker in markers if marker.address]
    missed = [marker for marker in leading if not _leads(marker, markdown, claims)]
    explicit = [c for c in made.claims if any(x.kind == "explicit" for x in c.citations)]
    entries = list(seen.sources.entries)
    listed = [claim for claim in explicit if _is_entry(claim, entries)]
    cited = {key(url): url for claim in made.claims for x in claim.citations for url in _urls(x)}
    wanted = {key(marker.address): marker for marker in leading if marker.address}
    unpaired = [marker for address, marker in wanted.items() if address not in cited]
    used = {x.url for claim in made.claims for x in claim.citations}
    broken = [url for url in sorted(used) if fault(url)]
    long = [claim for claim in made.claims if _is_long(claim.text)]
    left = [claim for claim in made.claims if _has_residue(claim, markers, claims, len(markdown))]
    numbered = list(_numbered(explicit))
    false = [
        (claim, number)
        for claim, number in numbered
        if not _is_seen(claim, number, markers, claims, markdown)
    ]
    figures = Figures(
        files=1,
        markers=len(markers),
        addressed=len(leading),
        led=len(leading) - len(missed),
        pairs=sum(len(claim.citations) for claim in made.claims),
        citing=int(bool(leading)),
        reliable=int(bool(leading) and made.pairs_reliable),
        claims=len(made.claims),
        explicit=len(explicit),
        listed=len(listed),
        addresses=len(wanted),
        unpaired=len(unpaired),
        cited=len(used),
        malformed=len(broken),
        long=len(long),
        residue=len(left),
        numbered=len(numbered),
        false=len(false),
    )
    examples = [Example(MISSED, m.start, _around(markdown, m)) for m in missed]
    examples += [Example(LISTED, c.position or 0, c.text) for c in listed]
    examples += [Example(UNPAIRED, m.start, m.address or "") for m in unpaired]
    examples += [Example(MALFORMED, 0, f"{fault(url)}: {url}") for url in broken]
    examples += [Example(LONG, c.position or 0, c.text) for c in long]
    examples += [Example(LEFT, c.position or 0, c.text) for c in left]
    examples += [Example(FALSE, c.position or 0, f"{n} in: {c.text}") for c, n in false]
    return Measured(figures, examples, made.pairs_reason if leading else None)


def _leads(marker: Marker, markdown: str, claims: _Claims) -> bool:
    """Whether the claim right before the marker (or with the words of a link) cites its address."""
    before = len(markdown[: marker.start].rstrip(" \t\n([（*_|>")) - 1
    places = [before, marker.start]
    if marker.worded:
        places += [marker.start + 1, marker.end - 1]
    held = [claims.at(place) for place in (places if marker.worded else places[:1])]
    urls = {key(url) for c in held if c for x in c.citations for url in _urls(x)}
    return key(marker.address or "") in urls


def _urls(citation: ExtractedCitation) -> tuple[str, str]:
    return citation.raw_url, citation.url


def _is_entry(claim: ExtractedClaim, entries: Sequence[Entry]) -> bool:
    place = -1 if claim.position is None else claim.position
    return any(entry.start <= place < entry.end for entry in entries)


def _is_long(text: str) -> bool:
    wide = sum("\u2e80" < letter < "\ue000" for letter in text)
    return len(text) > LONG_WIDE if wide > 0.2 * len(text) else words(text) > LONG_WORDS


def _has_residue(
    claim: ExtractedClaim, markers: Sequence[Marker], claims: _Claims, length: int
) -> bool:
    if RESIDUE.search(claim.text):
        return True
    number = re.search(r"(\d{1,3})\W*$", claim.text)
    return number is not None and any(
        marker.number == number[1] and marker.form.startswith(("glued", "before"))
        for marker in _within(claim, markers, claims, length)
    )


def _within(
    claim: ExtractedClaim, markers: Sequence[Marker], claims: _Claims, length: int
) -> Iterator[Marker]:
    start, end = claim.position or 0, claims.end(claim, length)
    return (marker for marker in markers if start <= marker.start < end)


def _numbered(explicit: Sequence[ExtractedClaim]) -> Iterator[tuple[ExtractedClaim, str]]:
    """Every number that the product read as a mark, with its claim."""
    for claim in explicit:
        for citation in claim.citations:
            if citation.kind == "explicit" and "http" not in citation.marker:
                for number in re.findall(r"\d{1,3}", citation.marker)[:1]:
                    yield claim, number


def _is_seen(
    claim: ExtractedClaim, number: str, markers: Sequence[Marker], claims: _Claims, text: str
) -> bool:
    """Whether a reader sees that number as a mark within the claim or right after it."""
    if any(m.number and number in m.number for m in _within(claim, markers, claims, len(text))):
        return True
    start, end = claim.position or 0, claims.end(claim, len(text)) + 60
    if any(start <= m.start < end and number in (m.number or "") for m in markers):
        return True
    near = text[start:end]
    return (
        re.search(rf"[\u3040-\u9fff\u0e00-\u0e7f] ?{number} ?[\u3040-\u9fff\u0e00-\u0e7f]", near)
        is not None
    )


def _around(markdown: str, marker: Marker) -> str:
    before = markdown[max(0, marker.start - 90) : marker.start]
    return f"{before}⟦{markdown[marker.start : marker.end][:80]}⟧ {marker.form} → {marker.address}"
