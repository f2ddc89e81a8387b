"""How much of a published text a converted one holds, word by word.

The rig's wiki lacks most templates; their words cannot be had there. `with_gaps` puts a sign in
each place where one is missing. A stretch of published words that we lack counts as written by
templates if such a sign stands in the stretch of our text that it is aligned with.
"""

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from unicodedata import normalize

from tasks.wikipedia.dom import Element, is_missing_template, parse_html

GAP = "missingtemplatehere"
_WORD = re.compile(r"\w+")
_LIST_MARK = re.compile(r"^ *\d+\. ", re.MULTILINE)


@dataclass(frozen=True)
class Difference:
    """A stretch of words that only one text holds, or that reads differently in both."""

    published: str
    ours: str
    by_template: bool
    """A missing template stands here: it would have written what was published."""


@dataclass(frozen=True)
class Compared:
    """Shares from 0 to 1; None where there are no words to take a share of."""

    n_published: int
    """Words of the published text."""
    n_ours: int
    n_by_templates: int
    """Of the published words those that templates wrote which the wiki does not have."""
    recall: float | None
    """Of the other published words, those that our text holds in the same order."""
    precision: float | None
    """Of our words, those that the published text holds in the same order."""
    bag_recall: float | None
    """As recall, in whatever order."""
    bag_precision: float | None
    differences: tuple[Difference, ...]
    """Where they part, in order."""


def with_gaps(html: str) -> str:
    """The HTML with a sign in place of each missing template."""
    tree = parse_html(html)
    for link in tree.css("a.new"):
        element = Element(link)
        if is_missing_template(element.attributes, element.classes):
            link.replace_with(f" {GAP} ")
    return tree.html or ""


def words(text: str) -> list[str]:
    """The words of a text, without case or Markdown."""
    plain = _LIST_MARK.sub("", normalize("NFKC", text).casefold())
    return _WORD.findall(plain.replace("_", " "))


def compare(published: str, ours: str) -> Compared:
    """Compare a published text with ours, converted from HTML with gaps."""
    theirs, own = words(published), words(ours)
    differences: list[Difference] = []
    by_templates: list[str] = []
    n_equal = 0
    matcher = SequenceMatcher(None, theirs, own, autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            n_equal += i2 - i1
            continue
        by_template = GAP in own[j1:j2]
        if by_template:
            by_templates += theirs[i1:i2]
        ours_here = " ".join(word for word in own[j1:j2] if word != GAP)
        differences.append(Difference(" ".join(theirs[i1:i2]), ours_here, by_template))
    expected = Counter(theirs) - Counter(by_templates)
    had = Counter(word for word in own if word != GAP)
    return Compared(
        n_published=len(theirs),
        n_ours=had.total(),
        n_by_templates=len(by_templates),
        recall=_share(n_equal, expected.total()),
        precision=_share(n_equal, had.total()),
        bag_recall=_share((expected & had).total(), expected.total()),
        bag_precision=_share((Counter(theirs) & had).total(), had.total()),
        differences=tuple(differences),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
