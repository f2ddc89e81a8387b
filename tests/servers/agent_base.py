"""What the servers of agents' interfaces have in common: a key, a count, and what goes wrong."""

import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, get_args

from tests.servers.http import HTML, Break, Request, Response, json_response

BREAKS = get_args(Break)
STATUSES = {
    "400": 400, "401": 401, "402": 402, "403": 403, "404": 404, "408": 408, "422": 422, "429": 429,
    "429_hint": 429, "500": 500, "502_html": 502, "503": 503, "504": 504,
}  # fmt: skip
GARBLED = ("html_200", "empty_200", "list_200", "deep_200")
FAULTS = (*BREAKS, *STATUSES, *GARBLED, "redirect", "quota")
HINT_SECONDS = 7


class AgentServer(ABC):
    """A fake provider; itself the handler that `serving` runs.

    `bought` counts what a provider would bill: requests whose answer it began to make.
    """

    path: str
    """What the address ends with at which it sells."""
    lists_models = True

    def __init__(
        self,
        report: str | Callable[[str], str] = "A report of some words.",
        *,
        key: str | None = "test-key",
        faults: Sequence[str | None] = (),
        models: Sequence[str] = ("a-model",),
    ) -> None:
        """report: the text, or what makes it of the last thing said. faults: of the first
        requests, one each; None lets one through."""
        unknown = {fault for fault in faults if fault} - set(FAULTS)
        if unknown:
            raise ValueError(f"no such fault: {', '.join(sorted(unknown))}; see FAULTS")
        self._report = report
        self.key = key
        self.faults = deque(faults)
        self.models = list(models)
        self.asked: list[dict[str, Any]] = []
        """Bodies of the requests that would cost money."""
        self.headers: list[dict[str, str]] = []
        self.bought = 0

    def __call__(self, request: Request) -> Response:
        if not self.is_allowed(request):
            shown = request.headers.get("authorization", "")
            return self.error(401, f"Incorrect API key provided: {shown}", "InvalidApiKey")
        try:
            return self.route(request)
        except (ValueError, KeyError, TypeError) as error:
            return self.error(400, f"Invalid request: {type(error).__name__}: {error}", "invalid")

    def route(self, request: Request) -> Response:
        """The answer to one request with the right key."""
        if request.method == "GET" and "/models" in request.path and self.lists_models:
            return self.models_entry(request)
        if request.method == "POST" and request.path.endswith(self.path):
            return self.sell(request)
        return self.error(404, f"no such address: {request.path}", "not_found")

    @abstractmethod
    def answer(self, body: dict[str, Any]) -> Response:
        """What is sold."""

    def is_allowed(self, request: Request) -> bool:
        return self.key is None or request.headers.get("authorization") == f"Bearer {self.key}"

    def error(self, status: int, message: str, code: str) -> Response:
        """A refusal in the provider's form; OpenAI's, unless it says otherwise."""
        return json_response({"error": {"message": message, "code": code, "type": code}}, status)

    def report(self, said: str) -> str:
        return self._report if isinstance(self._report, str) else self._report(said)

    def sell(self, request: Request) -> Response:
        """Answer a request that costs money, or fail as planned."""
        body = request.json()
        self.asked.append(body)
        self.headers.append(request.headers)
        fault = self.faults.popleft() if self.faults else None
        if fault in STATUSES:
            return self._refusal(fault)
        if fault == "quota":
            return self.error(429, "You exceeded your current quota.", "insufficient_quota")
        if fault == "redirect":
            return Response(307, headers=(("Location", "http://127.0.0.1:9/elsewhere"),))
        self.bought += 1
        if fault == "empty_200":
            return Response()
        if fault == "html_200":
            return Response(200, b"<html>welcome</html>", HTML)
        if fault == "list_200":
            return json_response(["no", "object"])
        if fault == "deep_200":
            return Response(200, b'{"a":' * 100_000 + b"1" + b"}" * 100_000)
        response = self.answer(body)
        if fault in BREAKS:
            response.broken = fault  # type: ignore[assignment]
        return response

    def models_entry(self, request: Request) -> Response:
        """`GET …/models` and `GET …/models/NAME`."""
        name = request.path.rpartition("/models")[2].strip("/")
        if not name:
            entries = [{"id": model, "object": "model"} for model in self.models]
            return json_response({"object": "list", "data": entries})
        if name not in self.models:
            return self.error(404, f"The model {name!r} does not exist", "model_not_found")
        return json_response({"id": name, "object": "model", "created": 1, "owned_by": "us",
                              "type": "model", "display_name": name,
                              "created_at": "2026-11-01T00:00:00Z"})  # fmt: skip

    def _refusal(self, fault: str) -> Response:
        status = STATUSES[fault]
        if fault == "502_html":
            return Response(502, b"<html>Bad gateway</html>", HTML)
        response = self.error(status, f"refused with {status}", f"code_{status}")
        if fault == "429_hint":
            response.headers += (("Retry-After", str(HINT_SECONDS)),)
        return response


def events(chunks: Sequence[tuple[str, Any]]) -> Response:
    """A stream of events, in DashScope's form: kind and data of each."""
    text = "".join(
        f"id:{number}\nevent:{kind}\n:HTTP_STATUS/200\n"
        f"data:{json.dumps(data, ensure_ascii=False)}\n\n"
        for number, (kind, data) in enumerate(chunks, start=1)
    )
    return Response(body=text.encode(), content_type="text/event-stream;charset=UTF-8")
