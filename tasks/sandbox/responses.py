"""The bodies of responses: in DeepResearchGym's format, or plain JSON."""

import base64
from collections.abc import Mapping, Sequence
from datetime import date
from hashlib import sha256
from typing import Any, Literal

import orjson
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

GymShape = Literal["fineweb", "clueweb"]
"""The field names of a result, as in DeepResearchGym's two corpora."""


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


class SearchResult(Result):
    """A result with the text of the whole page, which only some formats contain."""

    text: str
    """Empty unless requested."""


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


def refuse(
    error: str, reason: str, status: int, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Make the response to a request that is refused."""
    return JSONResponse(Refusal(error=error, reason=reason).model_dump(), status, headers)


def render_gym_results(found: Sequence[SearchResult], shape: GymShape) -> bytes:
    """Render results in DeepResearchGym's format: in rank order, without scores."""
    results = [b'"%b"' % base64.b64encode(orjson.dumps(_gym_fields(one, shape))) for one in found]
    return b'{"results":[%b]}' % b",".join(results)  # base64 needs no escaping


def page_id(url: str) -> str:
    """Return a page's id, which is the same in every archive."""
    return sha256(url.encode()).hexdigest()[:32]


def _gym_fields(one: SearchResult, shape: GymShape) -> dict[str, Any]:
    if shape == "clueweb":
        return {"URL": one.url, "URL-hash": sha256(one.url.encode()).hexdigest().upper(),
                "ClueWeb22-ID": page_id(one.url), "Title": one.title, "Language": one.language,
                "Clean-Text": one.text}  # fmt: skip
    return {"url": one.url, "id": page_id(one.url), "title": one.title, "text": one.text,
            "language": one.language}  # fmt: skip
