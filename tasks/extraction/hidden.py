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
_NOTHING = re.compile(r"[+-]?(?:0+(?:\.0*)?|\.0+)(?:[a-z]{1,4}|%)?")
_PIXEL = re.compile(r"[+-]?(?:0+|0*1)(?:px)?")
_FAR = re.compile(r"-\d{3,6}(?:\.\d{0,6})?(?:px|pt|r?em|v[wh]|%)")
_HIDING = {
    "display": re.compile("none"),
    "visibility": re.compile("hidden|collapse"),
    "font-size": _NOTHING,
    "text-indent": _FAR,
    "clip-path": re.compile(r"inset\((?:[5-9]\d|100)%.{0,40}"),
    "clip": re.compile(r"rect\([01](?:px)?(?:[\s,]+[01](?:px)?){3}\)"),
}
"""Properties, and the values of each that hide whatever else the style says."""
_MOVING = frozenset({"transform", "transition", "animation", "will-change"})
"""What is transparent and has one of these appears while the page is read."""


def hides(tag: str, attributes: Mapping[str, str | None]) -> bool:
    """Return whether an element and all within it is not seen.

    Args:
        tag: Its name in lower case.
        attributes: Its attributes, with names in lower case.
    """
    if tag in UNSEEN_TAGS or "hidden" in attributes:
        return True
    style = _parse_style((attributes.get("style") or "")[:MAX_STYLE])
    return bool(style) and (
        any(name in style and value.fullmatch(style[name]) for name, value in _HIDING.items())
        or _is_transparent(style)
        or _has_no_room(style)
    )


def _parse_style(style: str) -> dict[str, str]:
    """Return a style's properties and values in lower case; of two the last counts."""
    first, *rest = style.lower().split("/*")
    bare = first + "".join(part.partition("*/")[2] for part in rest)
    parts = (part.partition(":") for part in bare.split(";"))
    return {n.strip(): v.replace("!important", "").strip() for n, _, v in parts if v}


def _is_transparent(style: Mapping[str, str]) -> bool:
    if _NOTHING.fullmatch(style.get("opacity", "1")):
        return _MOVING.isdisjoint(style)
    # Letters cut out of a coloured background are transparent, too.
    return style.get("color") == "transparent" and not any("background" in n for n in style)


def _has_no_room(style: Mapping[str, str]) -> bool:
    """Return whether it is cut to nothing or stands far outside the page."""
    placed = style.get("position") in ("absolute", "fixed")
    if placed and any(_FAR.fullmatch(style.get(side, "")) for side in ("left", "top")):
        return True
    if style.get("overflow", "").partition(" ")[0] not in ("hidden", "clip"):
        return False
    sides = [[style.get(side, ""), style.get(f"max-{side}", "")] for side in ("width", "height")]
    return any(_NOTHING.fullmatch(value) for side in sides for value in side) or all(
        any(_PIXEL.fullmatch(value) for value in side) for side in sides
    )
