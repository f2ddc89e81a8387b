"""No key ever reaches an error, the ledger or a log, whatever an endpoint does with it."""

import asyncio
import logging
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from tasks.configuration.models import Limits, Retries
from tasks.costs.ledger import WarehouseLedger
from tasks.models.client import ModelClient
from tasks.models.exchange import ModelRequest
from tasks.models.gateway import Gateway
from tasks.models.live_sender import LiveSender
from tasks.models.prices import Budget
from tasks.warehouse.store import Warehouse, open_warehouse
from tests.servers.anthropic import MessagesServer
from tests.servers.base import ModelServer
from tests.servers.faults import STATUSES, FaultPlan
from tests.servers.gemini import GeminiServer
from tests.servers.http import HTML, Handler, Request, Response, json_response
from tests.servers.openai import OpenAiServer
from tests.servers.prompts_for_tests import verify_claims
from tests.servers.serving import serving
from tests.servers.test_servers import client_for, fit
from tests.tasks.models.test_prices import price

CANARY = "AIzaCANARY0123456789-sk-proj_abcdef"
SHOWN = CANARY[:12]
"""Even a part of it is too much."""
KINDS: tuple[type[ModelServer], ...] = (GeminiServer, OpenAiServer, MessagesServer)
CASES = [(kind, fault) for kind in KINDS for fault in sorted(kind.known_faults)]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    with open_warehouse(tmp_path_factory.mktemp("secrets") / "warehouse.duckdb") as opened:
        yield opened


async def outcome(client: ModelClient, warehouse: Warehouse, request: ModelRequest) -> str:
    """Everything a run would show of one question, errors with their traceback."""
    once = Retries(tries=1, rate_limit_tries=1, longest_hint_seconds=5)
    sender = LiveSender(client, Limits(), price(), once)
    gateway = Gateway(
        sender, WarehouseLedger(warehouse), answers_as="some-model", price=price(), budget=Budget(9)
    )
    try:
        return repr(await gateway.ask(request, lambda answer: answer))
    except Exception as error:
        chain = [error, error.__cause__, error.__context__]
        return "".join(traceback.format_exception(error)) + "".join(
            f"{e!s} {e!r} {vars(e)}" for e in chain[:2] if e
        )
    finally:
        await gateway.close()


def shown(
    server: ModelServer, handler: Handler, warehouse: Warehouse, note: str, timeout: float = 5.0
) -> str:
    async def once(address: str) -> str:
        client = client_for(server, address, CANARY, timeout)
        return await outcome(client, warehouse, fit(server, verify_claims(note=note)))

    with serving(handler) as address:
        return asyncio.run(once(address))


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our OpenAI client takes a 500 to its first question for a way of asking, nine times."""
    monkeypatch.setattr("tasks.models.openai_chat.PROBE_PAUSES", (0.0, 0.0, 0.0))


def ledger_rows(warehouse: Warehouse) -> str:
    return repr(warehouse.frame("SELECT * FROM calls").to_dicts())


def logged(caplog: pytest.LogCaptureFixture) -> str:
    plain = logging.Formatter("%(name)s %(message)s")
    return "\n".join(f"{plain.format(r)} {r.args!r}" for r in caplog.records)


@pytest.mark.filterwarnings("ignore:FROBNICATED is not a valid FinishReason")
@pytest.mark.parametrize(("kind", "fault"), CASES)
def test_no_failure_shows_the_key(
    kind: type[ModelServer], fault: str, warehouse: Warehouse, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    slow = fault in ("slow", "stall_mid_body")
    plan = FaultPlan((fault,), times=1 if not slow else None, slow_seconds=0.5)
    if STATUSES.get(fault) == 500:  # however often it is asked
        plan.times = None
    server = kind(key=CANARY, faults=plan)
    found = shown(server, server, warehouse, f" {kind.__name__} {fault}", 0.2 if slow else 5.0)
    assert server.log.summary()["faults"], "the fault struck"
    assert SHOWN not in found
    assert SHOWN not in logged(caplog)
    assert SHOWN not in ledger_rows(warehouse)


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_is_not_accepted_is_not_shown(
    kind: type[ModelServer], warehouse: Warehouse, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = kind(key="another-key")
    found = shown(server, server, warehouse, "wrong key")
    assert "Misconfigured" in found
    assert "configs/judges.yaml" in found
    assert SHOWN not in found
    assert SHOWN not in logged(caplog)


def echoing(status: int, body: Any, before: int = 0) -> Handler:
    """An endpoint that repeats the key it was sent, in HTML or wherever `body` has it."""

    def answer(request: Request) -> Response:
        if isinstance(body, str):
            text = "x" * before + body.replace("KEY", CANARY)
            return Response(status, text.encode(), HTML)
        return json_response(body, status)

    return answer


ECHOES: dict[str, Handler] = {
    "500 HTML": echoing(500, "<p>Authorization: Bearer KEY</p>"),
    "502 HTML": echoing(502, "<p>x-goog-api-key: KEY</p>"),
    "400 text": echoing(400, "bad request, key=KEY"),
    "403 text": echoing(403, "the key KEY has been revoked"),
    "404 text": echoing(404, "no such model for KEY"),
    "429 text": echoing(429, "KEY asks too often"),
    "200 HTML": echoing(200, "<p>KEY</p>"),
    "400 message": echoing(400, {"error": {"message": f"key={CANARY}", "code": 400}}),
    "403 detail": echoing(403, {"detail": f"key={CANARY}"}),
    "429 list": echoing(429, [{"error": {"message": f"key={CANARY}", "code": 429}}]),
    "500 nested": echoing(500, {"error": {"metadata": {"headers": {"key": CANARY}}}}),
    "a header that is none": lambda request: Response(headers=(("X-Key", f"\0{CANARY}"),)),
    "half a head": lambda request: Response(reason=f"{CANARY}\r\nX-Key: {CANARY}\r\n\0"),
    "half a character": echoing(400, {"error": {"message": f"\ud800 {CANARY}"}}),
    "redirect": lambda request: Response(302, headers=(("Location", f"/login?key={CANARY}"),)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("echo", ECHOES)
def test_no_echo_shows_the_key(
    kind: type[ModelServer], echo: str, warehouse: Warehouse, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    found = shown(kind(), ECHOES[echo], warehouse, f" {kind.__name__} {echo}")
    assert SHOWN not in found
    assert SHOWN not in logged(caplog)
    assert SHOWN not in ledger_rows(warehouse)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("before", [180, 280, 480])
def test_a_key_that_is_cut_in_an_error_is_not_shown_in_part(
    kind: type[ModelServer], before: int, warehouse: Warehouse
) -> None:
    # The places where messages are cut: 200, 300 and 500 characters.
    for status in (403, 429, 503):
        handler = echoing(status, "KEY", before)
        found = shown(kind(), handler, warehouse, f" {kind.__name__} {before} {status}")
        assert SHOWN not in found
    assert SHOWN not in ledger_rows(warehouse)
