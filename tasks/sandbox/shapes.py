"""How what was found looks on the wire: DeepResearchGym's shape, or plain JSON."""

import base64
from collections.abc import Sequence
from datetime import date
from hashlib import sha256
from typing import Any, Literal

import orjson
from pydantic import BaseModel, Field

from tasks.sandbox.search import Document, Found

Shape = Literal["fineweb", "clueweb"]
"""How the parts of a result are spelt, as its two corpora do."""


class GymResults(BaseModel):
    """What DeepResearchGym's search answers."""

    results: list[str] = Field(
        description="In order of rank; each is JSON as UTF-8 in base64: url, id, text, title and "
        "language, or ClueWeb22's names for them."
    )


class Result(BaseModel):
    rank: int = Field(description="From 1.")
    score: float = Field(description="Comparable within one answer.")
    url: str
    title: str
    snippet: str = Field(description="The passage that was found; the page is at /fetch.")
    language: str | None
    day: date | None = Field(description="When the page was published, else fetched.")


class Results(BaseModel):
    """What a search answers in plain JSON."""

    query: str
    results: list[Result]


class FetchedPage(BaseModel):
    """What a fetch answers."""

    url: str
    title: str
    text: str
    language: str | None
    day: date | None
    final_url: str | None = Field(description="Where the page redirected to, if anywhere.")


class FetchedPart(FetchedPage):
    """A page, or a part of a long one."""

    next_start: int | None = Field(description="Where the next part begins; null at the end.")


class Refusal(BaseModel):
    error: str = Field(description="For people.")
    reason: str = Field(description="One word, for programs.")


def plain(query: str, found: Sequence[Found]) -> bytes:
    results = [one.model_dump(exclude={"text"}) for one in found]
    return orjson.dumps({"query": query, "results": results})


def gym(found: Sequence[Found], shape: Shape) -> bytes:
    """In rank order, without scores."""
    results = [b'"%b"' % base64.b64encode(orjson.dumps(_spelt(one, shape))) for one in found]
    return b'{"results":[%b]}' % b",".join(results)  # base64 needs no escaping


def document(page: Document) -> bytes:
    return orjson.dumps(page.model_dump())


def page_id(url: str) -> str:
    """A page's id: the same in every archive."""
    return sha256(url.encode()).hexdigest()[:32]


def _spelt(one: Found, shape: Shape) -> dict[str, Any]:
    if shape == "clueweb":
        return {"URL": one.url, "URL-hash": sha256(one.url.encode()).hexdigest().upper(),
                "ClueWeb22-ID": page_id(one.url), "Title": one.title, "Language": one.language,
                "Clean-Text": one.text}  # fmt: skip
    return {"url": one.url, "id": page_id(one.url), "title": one.title, "text": one.text,
            "language": one.language}  # fmt: skip
