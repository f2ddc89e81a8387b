"""The saved pages of `page_layouts`: what they say, and pages that are not what was cited.

Invented texts in the forms that the web has: markup, furniture, encodings. What must be taken out
of each stands in `layouts.yaml`; walls and what only looks like one in two other files.
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from tasks.web.page import FetchedContent

FOLDER = Path(__file__).parent / "page_layouts"
_MARKS = str.maketrans("", "", "*_`|#>[]\\~")


@dataclass(frozen=True)
class Layout:
    """One saved page, and what a claim about it could rest on."""

    name: str
    title: str
    says: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Cells that must stand on one line, in this order."""
    furniture: tuple[str, ...]
    language: str | None
    published_on: date | None

    @property
    def content(self) -> bytes:
        return (FOLDER / f"{self.name}.html").read_bytes()

    def lost(self, text: str) -> list[str]:
        """What a text does not say of it."""
        said = bare(text)
        lines = [bare(line) for line in text.split("\n")]
        rows = [
            " | ".join(row) for row in self.rows if not any(_holds(line, row) for line in lines)
        ]
        return [sentence for sentence in self.says if bare(sentence) not in said] + rows

    def kept(self, text: str) -> list[str]:
        """Which furniture a text has taken in."""
        said = bare(text)
        return [sentence for sentence in self.furniture if bare(sentence) in said]


@dataclass(frozen=True)
class Answer:
    """A wall, or an honest page that looks like one, as its server sends it."""

    name: str
    status: str
    url: str
    final_url: str
    http: int
    headers: dict[str, str]
    html: str

    def material(self) -> FetchedContent:
        return FetchedContent(
            source="direct", url=self.url, final_url=self.final_url, http_status=self.http,
            headers={"content-type": "text/html"} | self.headers, content=self.html.encode(),
        )  # fmt: skip


def layouts() -> list[Layout]:
    return [
        Layout(
            name=name,
            title=gold["title"],
            says=tuple(gold["says"]),
            rows=tuple(map(tuple, gold.get("rows", ()))),
            furniture=tuple(gold["furniture"]),
            language=gold.get("language"),
            published_on=gold.get("published_on"),
        )
        for name, gold in _read("layouts.yaml").items()
    ]


def walls() -> list[Answer]:
    return [_answer(record) for record in _read("walls.yaml")]


def near_misses() -> list[Answer]:
    return [_answer(record | {"status": "ok"}) for record in _read("near_misses.yaml")]


def page(content: bytes, **headers: str) -> FetchedContent:
    """A page that came without any fuss; `content_type="text/html"` and the like."""
    url = "https://site.example/a/page"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return FetchedContent(
        source="direct", url=url, final_url=url, http_status=200, headers=named, content=content
    )


def bare(text: str) -> str:
    """A text without Markdown's marks, blanks and case, for finding one in another."""
    return "".join(text.translate(_MARKS).split()).lower()


def _holds(line: str, cells: tuple[str, ...]) -> bool:
    at = 0
    for cell in cells:
        at = line.find(bare(cell), at)
        if at < 0:
            return False
        at += len(bare(cell))
    return True


def _answer(record: dict[str, Any]) -> Answer:
    url = record.get("url", "https://site.example/a/page")
    return Answer(
        name=record["name"],
        status=record["status"],
        url=url,
        final_url=record.get("final_url", url),
        http=record.get("http", 200),
        headers=record.get("headers", {}),
        html=record["html"],
    )


def _read(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))
