"""The baseline's pages from a sandbox, searched and fetched over HTTP.

Each page that a search finds is fetched once and read like an archived page; scores are computed
over all statements fetched so far.
"""

import math
from collections import Counter
from collections.abc import Iterator

import bm25s
import httpx
import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from tasks.agents.baseline.index import IndexedPage, StatementHit, UnreadableArchive
from tasks.agents.baseline.pages import extract_statements, is_source
from tasks.configuration.inversion import load_inversion
from tasks.judges.text import extract_terms

RESULTS_PER_SEARCH = 25
"""How many results a search requests."""
MAX_QUERY_CHARS = 500
FETCHED_SHARE = 1 / 20
"""The assumed share of the fetched statements in all statements: fetched pages are on the subject,
so the other statements are assumed not to contain a word whose rarity is computed."""
TRIES = 6
"""The most tries while the sandbox is unreachable or busy."""
TIMEOUT_SECONDS = 60
MAX_BYTES = 64 << 20
BUSY_CODES = frozenset({429, 502, 503, 504})

NO_KEY = (
    "the sandbox at {address} does not accept the key, or needs one ({detail}). Export it as "
    "EVERGREEN_SANDBOX_KEY, and name that under `environment` in configs/agents.yaml."
)


class SandboxBusy(Exception):
    """The sandbox is busy and may answer later."""


RETRIED_ERRORS = (SandboxBusy, httpx.RequestError, OSError)
"""Errors after which to try again; httpx does not wrap TLS errors within an answer."""


class _SearchHit(BaseModel):
    model_config = ConfigDict(extra="ignore")
    url: str


class _SearchReply(BaseModel):
    model_config = ConfigDict(extra="ignore")
    results: list[_SearchHit]


class _FetchReply(BaseModel):
    model_config = ConfigDict(extra="ignore")
    url: str
    title: str = ""
    text: str


class SandboxPages:
    """The pages fetched so far, their statements in order, and a search that fetches more."""

    def __init__(self, address: str, key: str | None, assignment: str) -> None:
        """assignment: the sandbox leaves out the pages that it bans; empty for none."""
        self._http = httpx.Client(
            base_url=address.rstrip("/"),
            headers={"x-api-key": key} if key else {},
            params={"assignment": assignment} if assignment else {},
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
        )
        self._hosts = load_inversion().mirror_hosts
        self._number: dict[str, int | None] = {}
        """URL to page number; None for a page that cannot be used."""
        self.pages: list[IndexedPage] = []
        self._texts: list[str] = []
        self._page_of: list[int] = []
        self._terms: list[tuple[str, ...]] = []
        """The terms of each statement and its page's title."""
        self._frequencies: Counter[str] = Counter()

    def text(self, statement: int) -> str:
        return self._texts[statement]

    def rarity(self, term: str) -> float:
        n_all = len(self._texts) / FETCHED_SHARE
        return math.log((n_all + 1) / (max(1, self._frequencies[term]) + 0.5))

    def search(self, query: str, k: int) -> list[StatementHit]:
        """Return the k best statements on the pages that the sandbox finds.

        Raises:
            UnreadableArchive: the sandbox does not answer, or not as expected.
        """
        answer = self._get(
            "/search", query=query[:MAX_QUERY_CHARS], k=str(RESULTS_PER_SEARCH), format="json"
        )
        try:
            found = _SearchReply.model_validate_json(answer or b"").results
        except ValidationError as error:
            raise self._unreadable("/search", error) from None
        numbers = {self._fetch_page(one.url) for one in found} - {None}
        return [hit for hit in self._rank_statements(query) if hit.page in numbers][:k]

    def _fetch_page(self, url: str) -> int | None:
        """Return the page's number; fetch the page if that has not been done."""
        if url not in self._number:
            self._number[url] = None
            content = self._get("/fetch", url=url)
            if content is not None:
                try:
                    page = _FetchReply.model_validate_json(content)
                except ValidationError as error:
                    raise self._unreadable("/fetch", error) from None
                if is_source(url, page.title, page.text, self._hosts):
                    self._number[url] = self._add_page(url, page)
        return self._number[url]

    def _add_page(self, url: str, page: _FetchReply) -> int | None:
        texts = list(dict.fromkeys(extract_statements(page.text)))
        if not texts:
            return None
        first, number = len(self._texts), len(self.pages)
        self.pages.append(IndexedPage(url, page.title, first, first + len(texts)))
        for text in texts:
            found = (*extract_terms(page.title), *extract_terms(text))
            self._texts.append(text)
            self._page_of.append(number)
            self._terms.append(found)
            self._frequencies.update(set(found))
        return number

    def _rank_statements(self, query: str) -> Iterator[StatementHit]:
        """Yield all statements that share a word with the query, the best first."""
        vocabulary = {term: number for number, term in enumerate(self._frequencies)}
        known = [
            vocabulary[term] for term in dict.fromkeys(extract_terms(query)) if term in vocabulary
        ]
        if not known:
            return
        index = bm25s.BM25()
        documents = [[vocabulary[term] for term in found] for found in self._terms]
        index.index((documents, vocabulary), create_empty_token=False, show_progress=False)
        scores = index.get_scores_from_ids(known)
        for statement in np.argsort(-scores, kind="stable").tolist():
            if scores[statement] <= 0:
                return
            yield StatementHit(statement, self._page_of[statement], float(scores[statement]))

    def _get(self, path: str, **parameters: str) -> bytes | None:
        """Return the body of the answer; None for HTTP 404.

        Raises:
            UnreadableArchive: every try failed, or the sandbox refused.
        """
        try:
            for attempt in Retrying(
                retry=retry_if_exception_type(RETRIED_ERRORS),
                stop=stop_after_attempt(TRIES),
                wait=wait_exponential(multiplier=0.5, max=20),
                reraise=True,
            ):
                with attempt:
                    return self._get_once(path, parameters)
        except UnreadableArchive:
            raise
        except Exception as error:  # httpx, its connections and its cookies raise various errors
            raise self._unreadable(path, error) from None
        raise AssertionError("tenacity returns or raises")

    def _get_once(self, path: str, parameters: dict[str, str]) -> bytes | None:
        with self._http.stream("GET", path, params=parameters) as response:
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if len(content) > MAX_BYTES:
                    raise self._unreadable(path, f"more than {MAX_BYTES:,} bytes")
            if response.status_code == 404:
                return None
            if response.status_code in BUSY_CODES:
                raise SandboxBusy(f"HTTP {response.status_code}")
            if response.status_code != 200:
                detail = bytes(content[:300]).decode("utf-8", "replace")
                if response.status_code == 401:
                    raise UnreadableArchive(
                        NO_KEY.format(address=self._http.base_url, detail=detail)
                    )
                raise self._unreadable(path, f"HTTP {response.status_code}: {detail}")
            return bytes(content)

    def _unreadable(self, path: str, detail: object) -> UnreadableArchive:
        return UnreadableArchive(
            f"the sandbox at {self._http.base_url} does not answer {path} as expected ({detail}). "
            "Is EVERGREEN_SANDBOX the address that `evergreen sandbox` printed?"
        )
