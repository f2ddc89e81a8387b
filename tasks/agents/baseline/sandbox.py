"""The baseline's pages from a sandbox, searched and fetched over HTTP."""

import httpx
from pydantic import BaseModel, ValidationError
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from tasks.agents.baseline.index import (
    MAX_RESULTS,
    ReadablePage,
    UnreadableArchive,
    extract_statements,
    is_source,
)
from tasks.configuration.inversion import load_inversion

MAX_QUERY_CHARS = 500
TRIES = 6
"""The most tries while the sandbox is unreachable or busy."""
TIMEOUT_SECONDS = 60
MAX_BYTES = 64 << 20
BUSY_CODES = frozenset({429, 502, 503, 504})

NO_TOKEN = (
    "the sandbox at {address} does not accept the job's token ({detail}). The sandbox and whoever "
    "asks need the same EVERGREEN_SANDBOX_KEY or, without one, the same warehouse."
)


class SandboxBusy(Exception):
    """The sandbox is busy and may answer later."""


RETRIED_ERRORS = (SandboxBusy, httpx.RequestError, OSError)
"""Errors after which to try again; httpx does not wrap TLS errors within an answer."""


class _SearchHit(BaseModel):
    url: str


class _SearchReply(BaseModel):
    results: list[_SearchHit]


class _FetchReply(BaseModel):
    url: str
    title: str = ""
    text: str


class SandboxPages:
    """A search over a sandbox's pages; each page is fetched once."""

    def __init__(self, address: str, assignment: str) -> None:
        """assignment: the sandbox refuses one of another edition; empty for none."""
        self._http = httpx.Client(
            base_url=address.rstrip("/"),
            params={"assignment": assignment} if assignment else {},
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
        )
        self._hosts = load_inversion().mirror_hosts
        self._fetched: dict[str, ReadablePage | None] = {}
        """The fetched pages by URL; None for a page that cannot be used."""

    @property
    def n_pages(self) -> int:
        """Number of usable pages fetched so far."""
        return sum(page is not None for page in self._fetched.values())

    def search(self, query: str) -> list[ReadablePage]:
        """Return the usable pages that the sandbox finds, the best first.

        Raises:
            UnreadableArchive: the sandbox does not answer, or not as expected.
        """
        answer = self._get(
            "/search", query=query[:MAX_QUERY_CHARS], k=str(MAX_RESULTS), format="json"
        )
        try:
            found = _SearchReply.model_validate_json(answer or b"").results
        except ValidationError as error:
            raise self._unreadable("/search", error) from None
        pages = [self._fetch_page(url) for url in dict.fromkeys(one.url for one in found)]
        return [page for page in pages if page is not None]

    def _fetch_page(self, url: str) -> ReadablePage | None:
        """Return a page, fetched if it was not before; None if it cannot be used."""
        if url not in self._fetched:
            self._fetched[url] = None
            content = self._get("/fetch", url=url)
            if content is not None:
                try:
                    page = _FetchReply.model_validate_json(content)
                except ValidationError as error:
                    raise self._unreadable("/fetch", error) from None
                statements = tuple(dict.fromkeys(extract_statements(page.text)))
                if statements and is_source(url, page.title, page.text, self._hosts):
                    self._fetched[url] = ReadablePage(url, page.title, statements)
        return self._fetched[url]

    def _get(self, path: str, **parameters: str) -> bytes | None:
        """Return the body of the answer; None for HTTP 404.

        Raises:
            UnreadableArchive: every try failed, or the sandbox refused.
        """
        retrying = Retrying(
            retry=retry_if_exception_type(RETRIED_ERRORS),
            stop=stop_after_attempt(TRIES),
            wait=wait_exponential(multiplier=0.5, max=20),
            reraise=True,
        )
        try:
            return retrying(self._get_once, path, parameters)
        except UnreadableArchive:
            raise
        except Exception as error:  # httpx, its connections and its cookies raise various errors
            raise self._unreadable(path, error) from None

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
                        NO_TOKEN.format(address=self._http.base_url, detail=detail)
                    )
                raise self._unreadable(path, f"HTTP {response.status_code}: {detail}")
            return bytes(content)

    def _unreadable(self, path: str, detail: object) -> UnreadableArchive:
        return UnreadableArchive(
            f"the sandbox at {self._http.base_url} does not answer {path} as expected ({detail}). "
            "Is EVERGREEN_SANDBOX the address that `evergreen sandbox` printed?"
        )
