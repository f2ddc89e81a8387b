"""A live call to Gemini is what google-genai itself would send, address and headers included.

The SDK writes a request once for all calls that differ only in their messages. Here it writes each,
with the messages in its own types, and both are compared as they arrive.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from google import genai
from google.genai import types

from tasks.models.attachments import Attachment, fence_attachments
from tasks.models.exchange import ModelRequest
from tasks.models.gemini import GeminiClient, build_generation_config
from tests.servers.gemini import GeminiServer
from tests.servers.http import Request, Response
from tests.servers.prompts_for_tests import verify_claims, without_sampling
from tests.servers.serving import serving
from tests.tasks.models.test_attachments import PAGES, PICTURE, kept, with_files

PLAIN = verify_claims()
DIFFERENT = {"host", "content-length"}
"""Headers that may differ: the host's port, and the length of JSON with other blanks."""


def with_parameters(**more: object) -> ModelRequest:
    changed = PLAIN.parameters.model_copy(update=more)
    return PLAIN.model_copy(update={"parameters": changed})


REQUESTS = {
    "plain": PLAIN,
    "without sampling": without_sampling(PLAIN),
    "top_p": with_parameters(top_p=0.5),
    "another seed": with_parameters(seed=11),
    "a thinking budget": with_parameters(thinking_budget=0),
    "a thinking level": with_parameters(thinking_level="low"),
    "another limit": verify_claims(limit=99),
    "another schema": PLAIN.model_copy(update={"reply_schema": '{"type": "object"}'}),
    "another system": PLAIN.model_copy(update={"system": "You are brief – and “exact”."}),
    "a repair": PLAIN.with_correction("{", "no JSON"),
    "letters of all kinds": verify_claims(note=" Größe, 山, 🙂, \u2028."),
}


def arrived(use: Callable[[str], Awaitable[None]]) -> list[Request]:
    """The requests that reach a server while it is used."""
    server, found = GeminiServer(), list[Request]()

    def handler(request: Request) -> Response:
        found.append(request)
        return server(request)

    with serving(handler) as address:
        asyncio.run(use(address))  # type: ignore[arg-type]
    return found


def ours(*requests: ModelRequest) -> list[Request]:
    async def use(address: str) -> None:
        client = GeminiClient("test-key", base_url=address, connections=1, timeout_seconds=5)
        for request in requests:
            await client.ask(request)
        await client.close()

    return arrived(use)


def of_the_sdk(request: ModelRequest) -> Request:
    async def use(address: str) -> None:
        async with httpx.AsyncClient() as http:
            options = types.HttpOptions(base_url=address, timeout=5000, httpx_async_client=http)
            client = genai.Client(api_key="test-key", http_options=options)
            await client.aio.models.generate_content(
                model=request.model,
                contents=in_its_types(request),
                config=build_generation_config(request),
            )

    (found,) = arrived(use)
    return found


def in_its_types(request: ModelRequest) -> list[types.Content]:
    files = [part_of(piece) for piece in fence_attachments(request.attachments)]
    turns = [types.Content(role=t.role, parts=[types.Part(text=t.text)]) for t in request.messages]
    turns[0].parts = files + (turns[0].parts or [])
    return turns


def part_of(piece: str | Attachment) -> types.Part:
    if isinstance(piece, str):
        return types.Part(text=piece)
    return types.Part.from_bytes(data=piece.content(), mime_type=piece.media_type)


def seen(request: Request) -> tuple[str, str, dict[str, str], str]:
    """A request as its receiver reads it; the order of fields counts, blanks between them do
    not."""
    headers = {name.lower(): said for name, said in request.headers.items()}
    return (
        request.method,
        request.path,
        {name: said for name, said in headers.items() if name not in DIFFERENT},
        json.dumps(json.loads(request.body)),
    )


@pytest.mark.parametrize("what", REQUESTS)
def test_what_is_sent_is_what_the_sdk_sends(what: str) -> None:
    (found,) = ours(REQUESTS[what])
    assert seen(found) == seen(of_the_sdk(REQUESTS[what]))


def test_files_are_sent_as_the_sdk_sends_them(tmp_path: Path) -> None:
    request = with_files(PLAIN, kept(tmp_path, PAGES), kept(tmp_path, PICTURE, "image/png"))
    (found,) = ours(request)
    assert seen(found) == seen(of_the_sdk(request))


def test_each_of_many_calls_gets_its_own_settings_and_messages() -> None:
    several = [*REQUESTS.values(), *REQUESTS.values()]
    assert [seen(each) for each in ours(*several)] == [
        seen(of_the_sdk(request)) for request in REQUESTS.values()
    ] * 2


def test_the_sdk_writes_one_request_for_all_calls_of_a_prompt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[str] = []
    write = genai.models.Models.generate_content

    def counted(models: genai.models.Models, **asked: object) -> object:
        written.append(str(asked["model"]))
        return write(models, **asked)  # type: ignore[arg-type]

    monkeypatch.setattr(genai.models.Models, "generate_content", counted)
    ours(PLAIN, verify_claims(note=" Again."), PLAIN.with_correction("{", "no JSON"))
    assert len(written) == 1


def test_address_and_version_of_the_api_follow_the_variables_of_the_sdk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def use(address: str) -> None:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", address)
        client = GeminiClient("test-key", base_url=None, connections=1, timeout_seconds=5)
        await client.ask(PLAIN)
        await client.close()

    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v1beta")
    (found,) = arrived(use)
    assert found.path == f"/v1beta/models/{PLAIN.model}:generateContent"
