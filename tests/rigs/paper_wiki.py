"""A wiki on paper: what a collection asks of MediaWiki, answered from pages in memory.

For tests that are about something else, and where no MediaWiki is installed. It knows the five
requests that a collection makes and renders the wikitext of `month_pages`; `running` of this
folder's `mediawiki` is the real one, with the same way to ask what it was asked.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from html import escape
from typing import Any
from urllib.parse import parse_qs

from tests.rigs.mediawiki.pages import WikiPage, in_order
from tests.servers.http import Request, Response, json_response
from tests.servers.serving import serving

STAMP = "%Y-%m-%dT%H:%M:%SZ"
REFERENCE = re.compile(r"<ref>\{\{cite web\|url=([^|}]+)\|title=([^}]+)\}\}</ref>")
HEADING = re.compile(r"^== (.+) ==$", re.M)


class PaperWiki:
    """Its pages are good articles, each with the two revisions that `WikiPage` describes."""

    def __init__(self, pages: Sequence[WikiPage]) -> None:
        self.server = ""
        self.answers: int | None = None
        """How many requests it answers before it is down, with 503; None: all."""
        self._pages = dict(enumerate(in_order(pages), start=1))
        self._asked: list[dict[str, Any]] = []

    @property
    def api(self) -> str:
        return f"{self.server}/w/api.php"

    def move(self, title: str, to: str) -> None:
        """The page gets another title, and its talk page with it; no redirects are left."""
        for page_id, page in self._pages.items():
            if page.title == title:
                self._pages[page_id] = page.model_copy(update={"title": to})

    def requests(self) -> list[dict[str, Any]]:
        """What was asked since `calm`, in order."""
        return list(self._asked)

    def calm(self) -> None:
        """Works, and has been asked nothing."""
        self.answers = None
        self._asked.clear()

    def __call__(self, request: Request) -> Response:
        asked = {name: values[-1] for name, values in parse_qs(request.body.decode()).items()}
        agent = request.headers.get("user-agent", "")
        down = self.answers is not None and len(self._asked) >= self.answers
        self._asked.append({"post": asked, "agent": agent, "fault": "503" if down else None})
        if down:
            return Response(503, headers=(("Retry-After", "9999"),))
        return json_response(self._answer(asked))

    def _answer(self, asked: dict[str, str]) -> Any:
        if asked["action"] == "parse":
            page = self._pages[int(asked["oldid"]) // 10]
            return {"parse": {"text": html_of(page.wikitext), "externallinks": []}}
        if asked.get("list") == "categorymembers":
            return {"query": {"categorymembers": list(self._members(asked["cmstart"]))}}
        if "titles" in asked:
            return {"query": {"pages": [self._talk(title) for title in asked["titles"].split("|")]}}
        ids = [int(page_id) for page_id in asked["pageids"].split("|")]
        kind = _first if asked.get("rvdir") == "newer" else self._measured
        return {"query": {"pages": [kind(page_id, self._pages[page_id]) for page_id in ids]}}

    def _members(self, since: str) -> Iterator[dict[str, Any]]:
        for page_id, page in self._pages.items():
            listed = page.good_article_since
            if listed and listed >= datetime.strptime(since, STAMP).replace(tzinfo=UTC):
                stamp = listed.strftime(STAMP)
                yield {"pageid": page_id, "title": page.title, "timestamp": stamp}

    def _measured(self, page_id: int, page: WikiPage) -> dict[str, Any]:
        revision = {
            "revid": 10 * page_id + 1,
            "timestamp": (page.good_article_since or page.created).strftime(STAMP),
            "size": len(page.wikitext.encode()),
            "slots": {"main": {"content": page.wikitext}},
        }
        name = page.title.replace(" ", "_")
        return {
            "pageid": page_id,
            "title": page.title,
            "canonicalurl": f"{self.server}/wiki/{name}",
            "revisions": [revision],
            "categories": [{"title": "Category:Good articles"}],
        }

    def _talk(self, title: str) -> dict[str, Any]:
        pages = {f"Talk:{page.title}": page for page in self._pages.values()}
        if title not in pages:
            return {"title": title, "missing": True}
        said = "{{GA|10:00, 10 December 2025 (UTC)|topic=History|page=1}}"
        content = said if pages[title].talk is None else pages[title].talk
        return {"title": title, "revisions": [{"slots": {"main": {"content": content}}}]}


def _first(page_id: int, page: WikiPage) -> dict[str, Any]:
    first = {"revid": 10 * page_id, "timestamp": page.created.strftime(STAMP)}
    return {"pageid": page_id, "title": page.title, "revisions": [first]}


@contextmanager
def paper_wiki(pages: Sequence[WikiPage]) -> Iterator[PaperWiki]:
    """A wiki with these pages for as long as the block lasts."""
    wiki = PaperWiki(pages)
    with serving(wiki) as address:
        wiki.server = address
        yield wiki


def html_of(wikitext: str) -> str:
    """Paragraphs, headings and references as MediaWiki renders them."""
    cited: list[tuple[str, str]] = []

    def mark(found: re.Match[str]) -> str:
        cited.append((found[1], found[2]))
        return f"\0{len(cited)}\0"

    text = escape(REFERENCE.sub(mark, wikitext), quote=False)
    text = re.sub("'''(.+?)'''", r"<b>\1</b>", text).replace("{{reflist}}", "\1")
    text = re.sub(
        "\0(\\d+)\0", r'<sup class="reference"><a href="#cite_note-\1">[\1]</a></sup>', text
    )
    blocks = []
    for block in text.split("\n\n"):
        if found := HEADING.match(block.strip()):
            blocks.append(f'<div class="mw-heading"><h2 id="{found[1]}">{found[1]}</h2></div>')
        said = block.strip()[found.end() if found else 0 :].strip("\n\1 ")
        if said:
            blocks.append(f"<p>{said}</p>")
    entries = "".join(
        f'<li id="cite_note-{n}"><cite class="citation"><a rel="nofollow" class="external text" '
        f'href="{url}">{title}</a></cite></li>'
        for n, (url, title) in enumerate(cited, start=1)
    )
    references = f'<ol class="references">{entries}</ol>' if entries else ""
    return f'<div class="mw-parser-output">{"".join(blocks)}{references}</div>'
