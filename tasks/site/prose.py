"""Render a report's Markdown as safe HTML, with the passages of its claims marked.

markdown-it renders without HTML and pictures and with http and https links only. It knows the
source lines of each block but not the positions of words, so each run of words is searched in its
block's source, in order. Marks can thus begin and end inside emphasis or links, and the HTML stays
well-formed. Words that are not found stay unmarked.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import escape

from tasks.foreign_text import make_visible
from tasks.site.environment import safe_url
from tasks.site.wording import Tone

MAX_CHARS = 300_000
"""Longer reports are shown as plain text: as Markdown with marks they would overload browsers."""
MAX_DEPTH = 40
"""Reports with blocks nested deeper are shown as plain text."""
TOP_HEADING = 3
"""Level of a report's highest heading, below the page's own headings."""

SIDES = ("left", "center", "right")
"""CSS classes for the alignment of table cells."""


@dataclass(frozen=True, slots=True)
class MarkedPassage:
    """A passage with claims: `text[start:end]` of the report."""

    start: int
    end: int
    claims: tuple[tuple[int, Tone, str], ...]
    """Number, tone and text label of each claim."""
    tone: Tone
    """Tone of the claim that needs most attention."""


def render_report(
    text: str,
    passages: Sequence[MarkedPassage] = (),
    href: Callable[[int], str] = "#claim-{}".format,
) -> str:
    """Render the report as HTML, with passages in `mark` elements followed by links to their
    claims' details.

    Args:
        href: returns the link to a claim's details, by its number.
    """
    if len(text) > MAX_CHARS:
        return _render_plain(text)
    parser = _make_parser()
    environment: dict[str, Any] = {}
    tokens = parser.parse(text, environment)
    if any(token.nesting == 1 and token.level >= MAX_DEPTH - 1 for token in tokens):
        return _render_plain(text)  # markdown-it drops deeper blocks
    levels = (int(token.tag[1]) for token in tokens if token.type == "heading_open")
    environment["highest"] = min(levels, default=1)
    environment["marker"] = PassageMarker(text, passages, href)
    html: str = parser.renderer.render(tokens, parser.options, environment)
    return html


class ReportRenderer(RendererHTML):
    """markdown-it's renderer with safe links and pictures, and with marks."""

    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        marker = env.get("marker")
        return marker.mark_words(tokens[idx].content) if marker else _escape(tokens[idx].content)

    def text_special(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Render an entity or an escaped character."""
        marker, token = env.get("marker"), tokens[idx]
        return marker.mark_words(token.content, token.markup) if marker else _escape(token.content)

    def link_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        address = safe_url(str(tokens[idx].attrs.get("href", "")))
        if address is None:
            return "<span>"
        return f'<a href="{escape(address)}" rel="noopener nofollow ugc">'

    def link_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        opened = next(t for t in reversed(tokens[:idx]) if t.type == "link_open"
                      and t.level == tokens[idx].level)  # fmt: skip
        return "</a>" if safe_url(str(opened.attrs.get("href", ""))) else "</span>"

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f'<span class="picture">[picture: {_escape(tokens[idx].content)}]</span>'

    def code_inline(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return f"<code>{_escape(tokens[idx].content)}</code>"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<pre><code>{_escape(tokens[idx].content)}</code></pre>\n"

    code_block = fence

    def heading_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return f"<h{_heading_level(tokens[idx], env)}>"

    def heading_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return f"</h{_heading_level(tokens[idx], env)}>\n"

    def td_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Render a cell with its alignment as a class: the pages' policy forbids inline styles."""
        token = tokens[idx]
        side = str(token.attrs.get("style", "")).removeprefix("text-align:")
        return f'<{token.tag} class="{side}">' if side in SIDES else f"<{token.tag}>"

    th_open = td_open

    def render(self, tokens: Sequence[Token], options: OptionsDict, env: EnvType) -> str:
        """Render like the base class, and tell the marker which block begins."""
        pieces = []
        for i, token in enumerate(tokens):
            if token.type == "inline":
                marker = env.get("marker")
                if marker:
                    marker.enter_block(token)
                pieces.append(self.renderInline(token.children or (), options, env))
                pieces.append(marker.flush_links() if marker else "")
            elif token.type in self.rules:
                pieces.append(self.rules[token.type](tokens, i, options, env))
            else:
                pieces.append(self.renderToken(tokens, i, options, env))
        return "".join(pieces)


def _render_plain(text: str) -> str:
    return f'<pre class="plain">{_escape(text)}</pre>'


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt(
        "commonmark", {"html": False, "maxNesting": MAX_DEPTH}, renderer_cls=ReportRenderer
    ).enable("table")
    # Reports indent prose and do not underline headings; HTML is shown as source. Entities and
    # escaped characters stay separate tokens, so that the words around them are found.
    return parser.disable(["code", "html_block", "html_inline", "lheading", "text_join"])


def _heading_level(heading: Token, environment: EnvType) -> int:
    highest: int = environment["highest"]
    return min(6, int(heading.tag[1]) - highest + TOP_HEADING)


def _escape(words: str) -> str:
    return str(escape(make_visible(words)))


class PassageMarker:
    """Marks rendered words by locating them in the source."""

    def __init__(
        self, text: str, passages: Sequence[MarkedPassage], href: Callable[[int], str]
    ) -> None:
        self._text = text
        self._href = href
        self._passages = sorted(passages, key=lambda passage: passage.start)
        self._starts = [passage.start for passage in self._passages]
        self._lines = [0, *(at + 1 for at, sign in enumerate(text) if sign == "\n")]
        self._at = 0
        self._end = 0
        self._current: MarkedPassage | None = None
        self._linked: set[int] = set()
        """Starts of passages whose links are written."""

    def enter_block(self, block: Token) -> None:
        """Start a block: search its words in its own lines. Cells of a table row share their lines,
        so within them the search continues."""
        if block.map is None:
            return
        first, last = block.map
        start = self._lines[min(first, len(self._lines) - 1)]
        self._end = self._lines[last] if last < len(self._lines) else len(self._text)
        if not start <= self._at < self._end:
            self._at = start

    def mark_words(self, words: str, written: str = "") -> str:
        """Return the words as HTML, marked where they are inside a passage.

        written: their source form, if it differs (`&amp;`, `\\*`).
        """
        source = written or words
        place = self._text.find(source, self._at, self._end) if source.strip() else -1
        if place < 0:
            return _escape(words)
        self._at = place + len(source)
        over = self._current is not None and self._current.end <= place
        return (self.flush_links() if over else "") + "".join(
            self._mark_pieces(words, place, source)
        )

    def flush_links(self) -> str:
        """Return the links of the current passage; only once, also if it continues in the next cell
        of a table row."""
        passage, self._current = self._current, None
        if passage is None or passage.start in self._linked:
            return ""
        self._linked.add(passage.start)
        return _render_links(passage, self._href)

    def _mark_pieces(self, words: str, place: int, source: str) -> Iterator[str]:
        done = 0
        whole = len(source) != len(words)  # then mark all or nothing
        for passage in self._passages[max(0, bisect_right(self._starts, place) - 1) :]:
            low, high = passage.start - place, passage.end - place
            if low >= len(source):
                break
            if high <= done:
                continue
            if whole:
                low, high = 0, len(words) + (high > len(source))
            yield _escape(words[done : max(low, done)])
            inside = words[max(low, done) : high]
            yield f'<mark class="t-{passage.tone}">{_escape(inside)}</mark>' if inside else ""
            done = min(high, len(words))
            self._current = passage
            if high <= len(words):
                yield self.flush_links()
        yield _escape(words[done:])


def _render_links(passage: MarkedPassage, href: Callable[[int], str]) -> str:
    """Render a link to each claim of a passage."""
    links = (
        f'<a class="claim t-{tone}" href="{escape(href(number))}" '
        f'aria-label="claim {number}: {escape(make_visible(label))}">{number}</a>'
        for number, tone, label in passage.claims
    )
    return f'<sup class="claims">{"".join(links)}</sup>'
