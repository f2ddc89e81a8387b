"""A report's Markdown as harmless HTML, with the passages that its claims stand in marked.

markdown-it renders (no HTML, no pictures, only http and https links). It says of every block
which lines it came from, but not where in them its words stand: each run of words is looked up
in its block's source, in order, so a mark can begin and end inside emphasis or a link and the
HTML stays well-formed. Words that cannot be found again go unmarked.
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

from tasks.site.harmless import visible, web_address
from tasks.site.wording import Tone

LONGEST = 300_000
"""Characters of a report that are rendered as Markdown; a longer one is shown as plain text, as
its marks and its nesting would make no page that a browser can show."""
DEEPEST = 40
"""Blocks within blocks; a report with more is shown as plain text."""
HIGHEST = 3
"""A report's headings stand below the page's own: its highest becomes `h3`, whichever it is."""

SIDES = ("left", "center", "right")
"""Classes of the style file, for cells of a report's tables."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Where a claim stands: `text[start:end]` of the report."""

    start: int
    end: int
    claims: tuple[tuple[int, Tone, str], ...]
    """Of each its number, its own tone, and what is said of it for those who see no colours."""
    tone: Tone
    """Of the claim that needs most attention."""


def rendered(
    text: str,
    passages: Sequence[Passage] = (),
    href: Callable[[int], str] = "#claim-{}".format,
) -> str:
    """The report as HTML; each passage in `mark` elements, and after its last one a link to each
    claim's details.

    Args:
        href: where a claim's details stand, by its number.
    """
    if len(text) > LONGEST:
        return _plain(text)
    parser = _parser()
    environment: dict[str, Any] = {}
    tokens = parser.parse(text, environment)
    if any(token.nesting == 1 and token.level >= DEEPEST - 1 for token in tokens):
        return _plain(text)  # markdown-it leaves out what stands deeper
    levels = (int(token.tag[1]) for token in tokens if token.type == "heading_open")
    environment["highest"] = min(levels, default=1)
    environment["painter"] = _Painter(text, passages, href)
    html: str = parser.renderer.render(tokens, parser.options, environment)
    return html


class _Renderer(RendererHTML):
    """Writes what markdown-it has parsed; only what is dangerous or marked is done differently."""

    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        painter = env.get("painter")
        return painter.painted(tokens[idx].content) if painter else _shown(tokens[idx].content)

    def text_special(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """An entity or an escaped sign."""
        painter, token = env.get("painter"), tokens[idx]
        return painter.painted(token.content, token.markup) if painter else _shown(token.content)

    def link_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        address = web_address(str(tokens[idx].attrs.get("href", "")))
        if address is None:
            return "<span>"
        return f'<a href="{escape(address)}" rel="noopener nofollow ugc">'

    def link_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        opened = next(t for t in reversed(tokens[:idx]) if t.type == "link_open"
                      and t.level == tokens[idx].level)  # fmt: skip
        return "</a>" if web_address(str(opened.attrs.get("href", ""))) else "</span>"

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f'<span class="picture">[picture: {_shown(tokens[idx].content)}]</span>'

    def code_inline(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return f"<code>{_shown(tokens[idx].content)}</code>"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<pre><code>{_shown(tokens[idx].content)}</code></pre>\n"

    code_block = fence

    def heading_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return f"<h{_level(tokens[idx], env)}>"

    def heading_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return f"</h{_level(tokens[idx], env)}>\n"

    def td_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A cell's alignment is a style where markdown-it writes it, which no page may have."""
        token = tokens[idx]
        side = str(token.attrs.get("style", "")).removeprefix("text-align:")
        return f'<{token.tag} class="{side}">' if side in SIDES else f"<{token.tag}>"

    th_open = td_open

    def render(self, tokens: Sequence[Token], options: OptionsDict, env: EnvType) -> str:
        """As the base does, telling the painter which block begins."""
        pieces = []
        for i, token in enumerate(tokens):
            if token.type == "inline":
                painter = env.get("painter")
                if painter:
                    painter.enter(token)
                pieces.append(self.renderInline(token.children or (), options, env))
                pieces.append(painter.owed() if painter else "")
            elif token.type in self.rules:
                pieces.append(self.rules[token.type](tokens, i, options, env))
            else:
                pieces.append(self.renderToken(tokens, i, options, env))
        return "".join(pieces)


def _plain(text: str) -> str:
    return f'<pre class="plain">{_shown(text)}</pre>'


def _parser() -> MarkdownIt:
    parser = MarkdownIt(
        "commonmark", {"html": False, "maxNesting": DEEPEST}, renderer_cls=_Renderer
    ).enable("table")
    # Reports indent prose and underline nothing; HTML stays readable as it is written. Entities and
    # escaped signs stay apart from the words around them, which are then found in the source.
    return parser.disable(["code", "html_block", "html_inline", "lheading", "text_join"])


def _level(heading: Token, environment: EnvType) -> int:
    highest: int = environment["highest"]
    return min(6, int(heading.tag[1]) - highest + HIGHEST)


def _shown(words: str) -> str:
    return str(escape(visible(words)))


class _Painter:
    """Knows where in the source the words stand that are being written."""

    def __init__(self, text: str, passages: Sequence[Passage], href: Callable[[int], str]) -> None:
        self._text = text
        self._href = href
        self._passages = sorted(passages, key=lambda passage: passage.start)
        self._starts = [passage.start for passage in self._passages]
        self._lines = [0, *(at + 1 for at, sign in enumerate(text) if sign == "\n")]
        self._at = 0
        self._end = 0
        self._begun: Passage | None = None
        self._linked: set[int] = set()
        """Where passages start whose links are written."""

    def enter(self, block: Token) -> None:
        """A block begins: its words are searched in its own lines. Cells of a table row share
        them, so the search goes on where it was if the block is the same."""
        if block.map is None:
            return
        first, last = block.map
        start = self._lines[min(first, len(self._lines) - 1)]
        self._end = self._lines[last] if last < len(self._lines) else len(self._text)
        if not start <= self._at < self._end:
            self._at = start

    def painted(self, words: str, written: str = "") -> str:
        """The words as HTML, those inside a passage marked.

        written: how they stand in the source, where that differs (`&amp;`, `\\*`).
        """
        source = written or words
        place = self._text.find(source, self._at, self._end) if source.strip() else -1
        if place < 0:
            return _shown(words)
        self._at = place + len(source)
        over = self._begun is not None and self._begun.end <= place
        return (self.owed() if over else "") + "".join(self._pieces(words, place, source))

    def owed(self) -> str:
        """The links of a passage that has begun and whose end did not stand among words; once, also
        where it goes on in the next cell of a table row."""
        passage, self._begun = self._begun, None
        if passage is None or passage.start in self._linked:
            return ""
        self._linked.add(passage.start)
        return _links(passage, self._href)

    def _pieces(self, words: str, place: int, source: str) -> Iterator[str]:
        done = 0
        whole = len(source) != len(words)  # then they are marked or not as one
        for passage in self._passages[max(0, bisect_right(self._starts, place) - 1) :]:
            low, high = passage.start - place, passage.end - place
            if low >= len(source):
                break
            if high <= done:
                continue
            if whole:
                low, high = 0, len(words) + (high > len(source))
            yield _shown(words[done : max(low, done)])
            inside = words[max(low, done) : high]
            yield f'<mark class="t-{passage.tone}">{_shown(inside)}</mark>' if inside else ""
            done = min(high, len(words))
            self._begun = passage
            if high <= len(words):
                yield self.owed()
        yield _shown(words[done:])


def _links(passage: Passage, href: Callable[[int], str]) -> str:
    """After a passage a link to each of its claims."""
    links = (
        f'<a class="claim t-{tone}" href="{escape(href(number))}" '
        f'aria-label="claim {number}: {escape(visible(label))}">{number}</a>'
        for number, tone, label in passage.claims
    )
    return f'<sup class="claims">{"".join(links)}</sup>'
