"""What hides an element of HTML from a reader: its tag, its attributes, its own style.

The rule for reports: HTML and Word files, and Markdown with HTML within. It does not ask style
sheets and scripts, which open tabs and panels at a click, nor names of classes: what is kept for
those who listen (`sr-only`) is said to a reader. `aria-hidden` alone hides nothing from eyes.
"""

import re
from collections.abc import Mapping

UNSEEN_TAGS = frozenset(
    ["head", "title", "script", "style", "noscript", "template", "datalist", "svg", "iframe",
     "object", "embed"]
)  # fmt: skip
"""Elements whose content is no text of the page."""
MAX_STYLE = 5_000
"""Characters of a style that are read; longer ones hold pictures."""
_COMMENT = re.compile(r"/\*[^*]*\*/|\s|!important")
_NOTHING = r"(?:0+(?:\.0+)?|\.0+)(?:[a-z]{1,4}|%)?"
_HIDING = re.compile(
    rf"display:none|visibility:(?:hidden|collapse)|(?:font-size|opacity):{_NOTHING}"
    r"|color:transparent|(?:left|top|text-indent):-\d{3,6}(?:\.\d*)?[a-z]{1,4}"
)
"""Declarations that hide whatever else the style says."""
_NO_ROOM = re.compile(rf"(?:max-)?(?:width|height):{_NOTHING}")
"""Hides what would overflow, if the style says so."""
_SHOWING = re.compile(r"transform|transition|animation|will-change|background")
"""What is transparent and moves appears while the page is read; letters may be cut out of a
coloured background."""


def hides(tag: str, attributes: Mapping[str, str | None]) -> bool:
    """Return whether an element and all within it is not seen.

    Args:
        tag: Its name in lower case.
        attributes: Its attributes, with names in lower case.
    """
    if tag in UNSEEN_TAGS or "hidden" in attributes:
        return True
    style = _COMMENT.sub("", (attributes.get("style") or "")[:MAX_STYLE].lower())
    last = {part.partition(":")[0]: part for part in style.split(";")}  # of two the last counts
    is_cut = last.get("overflow", "").endswith((":hidden", ":clip"))
    return any(
        (_HIDING.fullmatch(part) and not (name in ("opacity", "color") and _SHOWING.search(style)))
        or (is_cut and _NO_ROOM.fullmatch(part))
        for name, part in last.items()
    )
