"""The baseline's pages where they come from a sandbox: searched and fetched over HTTP.

What a search leads to is fetched once and read as archived pages are; statements are then weighed
among all that have been fetched.
"""

import math
from collections import Counter
from collections.abc import Iterator

import bm25s
import httpx
import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from tasks.agents.baseline.index import Hit, Page, UnreadableArchive
from tasks.agents.baseline.pages import is_source, statements
from tasks.configuration.inversion import load_inversion
from tasks.judges.text import terms

PAGES = 25
"""That a search asks for."""
MOST_QUERY = 500
"""Characters."""
FETCHED_PART = 1 / 20
"""What was fetched is on the subject: a word's rarity is as if there were this much more that is
not, without the word."""
TRIES = 6
"""For a sandbox that is not there or says "too often"."""
TIMEOUT_SECONDS = 60
MOST_BYTES = 64 << 20
BUSY = frozenset({429, 502, 503, 504})

NO_KEY = (
    "the sandbox at {address} wants a key, or another one ({said}). Export it as "
    "EVERGREEN_SANDBOX_KEY, and name that under `environment` in configs/agents.yaml, too."
)


class Busy(Exception):
    """The sandbox may answer later."""


PASSING = (Busy, httpx.RequestError, OSError)
"""What may be another answer next time; httpx lets TLS errors in mid-answer through as they are."""


class _Found(BaseModel):
    model_config = ConfigDict(extra="ignore")
    url: str


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")
    results: list[_Found]


class _Fetched(BaseModel):
    model_config = ConfigDict(extra="ignore")
    url: str
    title: str = ""
    text: str


class SandboxPages:
    """The pages that were fetched so far, their statements in order, and the search for more."""

    def __init__(self, address: str, key: str | None, assignment: str) -> None:
        """assignment: what it must not use the sandbox leaves out; empty: nothing is said."""
        self._http = httpx.Client(
            base_url=address.rstrip("/"),
            headers={"x-api-key": key} if key else {},
            params={"assignment": assignment} if assignment else {},
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
        )
        self._hosts = load_inversion().mirror_hosts
        self._number: dict[str, int | None] = {}
        """Address to page; None for what cannot be used."""
        self.pages: list[Page] = []
        self._texts: list[str] = []
        self._page_of: list[int] = []
        self._terms: list[tuple[str, ...]] = []
        """Of each statement, with those of its page's title."""
        self._frequencies: Counter[str] = Counter()

    def text(self, statement: int) -> str:
        return self._texts[statement]

    def rarity(self, term: str) -> float:
        n_all = len(self._texts) / FETCHED_PART
        return math.log((n_all + 1) / (max(1, self._frequencies[term]) + 0.5))

    def search(self, query: str, k: int) -> list[Hit]:
        """The best statements of the pages that the sandbox finds.

        Raises:
            UnreadableArchive: it does not answer, or not as it should.
        """
        answer = self._get("/search", query=query[:MOST_QUERY], k=str(PAGES), format="json")
        try:
            found = _Answer.model_validate_json(answer or b"").results
        except ValidationError as error:
            raise self._unreadable("/search", error) from None
        numbers = {self._read(one.url) for one in found} - {None}
        return [hit for hit in self._best(query) if hit.page in numbers][:k]

    def _read(self, url: str) -> int | None:
        """The page's number; it is fetched if that has not been done."""
        if url not in self._number:
            self._number[url] = None
            content = self._get("/fetch", url=url)
            if content is not None:
                try:
                    page = _Fetched.model_validate_json(content)
                except ValidationError as error:
                    raise self._unreadable("/fetch", error) from None
                if is_source(url, page.title, page.text, self._hosts):
                    self._number[url] = self._add(url, page)
        return self._number[url]

    def _add(self, url: str, page: _Fetched) -> int | None:
        said = list(dict.fromkeys(statements(page.text)))
        if not said:
            return None
        first, number = len(self._texts), len(self.pages)
        self.pages.append(Page(url, page.title, first, first + len(said)))
        for text in said:
            found = (*terms(page.title), *terms(text))
            self._texts.append(text)
            self._page_of.append(number)
            self._terms.append(found)
            self._frequencies.update(set(found))
        return number

    def _best(self, query: str) -> Iterator[Hit]:
        """All statements that share a word with a query, the best first."""
        vocabulary = {term: number for number, term in enumerate(self._frequencies)}
        known = [vocabulary[term] for term in dict.fromkeys(terms(query)) if term in vocabulary]
        if not known:
            return
        index = bm25s.BM25()
        documents = [[vocabulary[term] for term in found] for found in self._terms]
        index.index((documents, vocabulary), create_empty_token=False, show_progress=False)
        scores = index.get_scores_from_ids(known)
        for statement in np.argsort(-scores, kind="stable").tolist():
            if scores[statement] <= 0:
                return
            yield Hit(statement, self._page_of[statement], float(scores[statement]))

    def _get(self, path: str, **asked: str) -> bytes | None:
        """The answer's body; None for what is not there.

        Raises:
            UnreadableArchive: there is no answer in all tries, or a refusal.
        """
        try:
            for attempt in Retrying(
                retry=retry_if_exception_type(PASSING),
                stop=stop_after_attempt(TRIES),
                wait=wait_exponential(multiplier=0.5, max=20),
                reraise=True,
            ):
                with attempt:
                    return self._once(path, asked)
        except UnreadableArchive:
            raise
        except Exception as error:  # whatever httpx, its connections and its cookies stumble over
            raise self._unreadable(path, error) from None
        raise AssertionError("tenacity returns or raises")

    def _once(self, path: str, asked: dict[str, str]) -> bytes | None:
        with self._http.stream("GET", path, params=asked) as response:
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if len(content) > MOST_BYTES:
                    raise self._unreadable(path, f"more than {MOST_BYTES:,} bytes")
            if response.status_code == 404:
                return None
            if response.status_code in BUSY:
                raise Busy(f"HTTP {response.status_code}")
            if response.status_code != 200:
                said = bytes(content[:300]).decode("utf-8", "replace")
                if response.status_code == 401:
                    raise UnreadableArchive(NO_KEY.format(address=self._http.base_url, said=said))
                raise self._unreadable(path, f"HTTP {response.status_code}: {said}")
            return bytes(content)

    def _unreadable(self, path: str, said: object) -> UnreadableArchive:
        return UnreadableArchive(
            f"the sandbox at {self._http.base_url} does not answer {path} as it should ({said}). "
            "Is EVERGREEN_SANDBOX the address that `evergreen sandbox` printed?"
        )
