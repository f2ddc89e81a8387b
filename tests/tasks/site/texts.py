"""Hostile and ordinary text as Hypothesis draws it, and HTML as a browser would read it."""

from hypothesis import strategies as st
from lxml import etree, html

PIECES = (
    "<script>x</script>", "<img src=x onerror=x>", "javascript:x", "[a](javascript:x)",
    "[a](https://example.org)", "<https://example.org>", "![p](https://example.org/p.png)",
    "**bold**", "*it*", "`code`", "```\nfence\n```", "# heading", "| a | b |\n|--:|:--|\n| c | d |",
    "> quote", "- item", "1. one", "&lt;b&gt;", "&#60;", "\u202e", "\u2028", "\x00", "\x1b[31m",
    "]]>", "<!--", "-->", "\"'", "[1]", "[1]: https://example.org \"t\"", "\\*", "\n\n", "\n", " ",
    "A sentence stands here.", "Wörter über Städte", "שלום", "👩‍👩‍👧",
)  # fmt: skip
hostile = st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=14).map("".join)
"""Markdown of attacks and of nothing in particular."""
NAMES = (
    "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString",
    "toString", "valueOf", "__defineGetter__", "__defineSetter__", "__lookupGetter__",
    "__lookupSetter__", "__proto__", "prototype", "length", "null", "undefined", "NaN", "Infinity",
    "true", "0", "01", "1e3", "-", "datum", "datum.value", "a.b", "a[0]", "a['b']", 'a"b', "a\\b",
    "${a}", "{a}", "{{ a }}", "%s", "<b>", "&amp;", "#a", "?", "*", "=", "a|b", "clip1",
    "gradient_2", ' d="1.2345"', 'font-family="DejaVu Sans"', 'role="img"', "con", "..", "אבג",
    "👩‍👩‍👧", "Zoë",
)  # fmt: skip
"""Names that an import takes and that mean something to a script, a picture or a file system; the
first are all that an object has in JavaScript before anything is put into it."""
ELEMENTS = frozenset(
    {
        "p", "h3", "h4", "h5", "h6", "em", "strong", "code", "pre", "blockquote", "ul", "ol",
        "li", "a", "span", "mark", "sup", "br", "hr", "table", "thead", "tbody", "tr", "th",
        "td",
    }
)  # fmt: skip
"""What a report may be made of."""


def parsed(page: str) -> etree._Element:
    """A piece of HTML in an element of its own."""
    return html.fragment_fromstring(page, create_parent="div")


def text_of(page: str) -> str:
    return "".join(parsed(page).itertext())
