"""The baseline's pages from a sandbox: fetched once each, and what a sandbox may do to it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import tenacity

from tasks.agents.baseline import sandbox as baseline_sandbox
from tasks.agents.baseline.index import UnreadableArchive
from tasks.agents.baseline.sandbox import SandboxPages
from tests.servers.http import Request, Response, json_response
from tests.servers.serving import serving
from tests.tasks.agents.archives import PAGES

TEXTS = {page["url"]: page for page in PAGES}
USABLE = {
    "https://towers.example/harrow", "https://wrecks.example/calliope",
    "https://keepers.example/dahl", "https://bread.example/tolmen",
    "https://broken.example/harrow",
}  # fmt: skip


class SmallSandbox:
    """Finds every page for every query."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> Response:
        self.asked.append(request)
        if request.path == "/search":
            return json_response({"results": [{"url": url, "rank": 1} for url in TEXTS]})
        page = TEXTS.get(request.query["url"])
        return json_response(page or {"error": "not there"}, 200 if page else 404)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What it would have waited between tries."""
    waited: list[float] = []
    monkeypatch.setattr(tenacity.nap, "time", SimpleNamespace(sleep=waited.append))
    return waited


@contextmanager
def over(handler: Callable[[Request], Response]) -> Iterator[SandboxPages]:
    with serving(handler) as address:
        yield SandboxPages(address, "an assignment")


def test_what_a_search_finds_is_fetched_once_keeps_its_order_and_is_used_if_it_may_be() -> None:
    with over(sandbox := SmallSandbox()) as pages:
        first = pages.search("Who was the keeper Maren Dahl?")
        assert pages.search("bread of Tolmen") == first
    assert [page.url for page in first] == [url for url in TEXTS if url in USABLE]
    assert "Maren Dahl" in first[2].statements[0]
    fetched = [request.query["url"] for request in sandbox.asked if request.path == "/fetch"]
    assert sorted(fetched) == sorted(TEXTS)
    assert {request.query["assignment"] for request in sandbox.asked} == {"an assignment"}


def test_a_page_that_is_gone_between_search_and_fetch_is_done_without() -> None:
    sandbox = SmallSandbox()

    def losing(request: Request) -> Response:
        lost = request.path == "/fetch" and "dahl" in request.query["url"]
        return json_response({"error": "gone"}, 404) if lost else sandbox(request)

    with over(losing) as pages:
        assert {page.url for page in pages.search("Maren Dahl")} == {
            url for url in USABLE if "dahl" not in url
        }


@pytest.mark.parametrize(
    "answer",
    [json_response({}, 429), json_response({}, 503), json_response({}, broken="bad_gzip")],
)
def test_a_sandbox_that_is_busy_or_garbles_its_answer_is_asked_again(
    answer: Response, no_waiting: list[float]
) -> None:
    sandbox = SmallSandbox()
    refused = iter([True, True])

    def busy(request: Request) -> Response:
        return answer if next(refused, False) else sandbox(request)

    with over(busy) as pages:
        assert pages.search("lighthouse")
    assert no_waiting == [0.5, 1.0]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (json_response({"error": "e has no assignment 'x'."}, 422), "has no assignment"),
        (Response(200, b"<html>"), "/search"),
        (json_response([1]), "/search"),
        (json_response({"results": [5]}), "/search"),
        (Response(200, b"x" * 5000), "more than 1,000 bytes"),
        (Response(200, b"x" * 500, broken="half_body"), "/search"),
        (Response(200, b"x" * 500, broken="bad_gzip"), "/search"),
        (Response(200, b"x" * 500, broken="cut_gzip"), "/search"),
        (Response(200, b"x" * 500, broken="unknown_encoding"), "/search"),
        (Response(500, b"\xff broken"), "HTTP 500"),
    ],
)
def test_what_does_not_answer_as_a_sandbox_is_named(
    monkeypatch: pytest.MonkeyPatch, answer: Response, said: str
) -> None:
    monkeypatch.setattr(baseline_sandbox, "TRIES", 1)
    monkeypatch.setattr(baseline_sandbox, "MAX_BYTES", 1000)
    with over(lambda request: answer) as pages, pytest.raises(UnreadableArchive) as refused:
        pages.search("lighthouse")
    assert said in str(refused.value)
    assert "Is EVERGREEN_SANDBOX the address that `evergreen sandbox` printed?" in str(
        refused.value
    )


def test_a_refusal_of_the_token_names_the_variable() -> None:
    answer = json_response({"error": "A token is needed"}, 401)
    with over(lambda request: answer) as pages, pytest.raises(UnreadableArchive) as refused:
        pages.search("lighthouse")
    assert "A token is needed" in str(refused.value)
    assert "the same EVERGREEN_SANDBOX_KEY" in str(refused.value)


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "no address", "http://[", ""])
def test_an_address_where_nothing_answers_is_named(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(baseline_sandbox, "TRIES", 1)
    with pytest.raises(UnreadableArchive, match="does not answer"):
        SandboxPages(address, "").search("lighthouse")
