"""Batches: through the real google-genai SDK, and OpenAI's through plain httpx."""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from google import genai
from google.genai import errors, types

from tasks.models.exchange import ModelRequest
from tasks.models.gemini import build_contents, build_generation_config, parse_response
from tasks.models.openai_chat import build_chat_body
from tests.servers.asked import prompt_id
from tests.servers.batches import BatchScript
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.servers.prompts_for_tests import MODEL, verify_claims
from tests.servers.serving import serving
from tests.servers.test_servers import VERDICTS, verdicts

REQUESTS = {f"k{n}": verify_claims(note=f" Time {n}.") for n in range(1, 5)}


def with_sdk(server: GeminiServer, use: Callable[[genai.Client], Awaitable[Any]]) -> Any:
    async def run(address: str) -> Any:
        async with httpx.AsyncClient() as http:
            options = types.HttpOptions(base_url=address, timeout=5000, httpx_async_client=http)
            return await use(genai.Client(api_key="test-key", http_options=options))

    with serving(server) as address:
        return asyncio.run(run(address))


def inlined() -> list[types.InlinedRequest]:
    return [
        types.InlinedRequest(
            contents=build_contents(request),
            config=build_generation_config(request),
            metadata={"key": key},
        )
        for key, request in REQUESTS.items()
    ]


async def created(client: genai.Client, name: str = "d") -> types.BatchJob:
    config = types.CreateBatchJobConfig(display_name=name)
    return await client.aio.batches.create(model=MODEL, src=inlined(), config=config)


def test_inline_results_come_back_reversed_under_their_keys() -> None:
    server = GeminiServer(batches=BatchScript(polls=2))

    async def use(client: genai.Client) -> tuple[list[str], types.BatchJob]:
        job = await created(client)
        states = [job.state.value if job.state else ""]
        for _ in range(2):
            job = await client.aio.batches.get(name=job.name or "")
            states.append(job.state.value if job.state else "")
        return states, job

    states, job = with_sdk(server, use)
    assert states == ["JOB_STATE_PENDING", "JOB_STATE_RUNNING", "JOB_STATE_SUCCEEDED"]
    found = job.dest.inlined_responses
    assert [item.metadata["key"] for item in found] == ["k4", "k3", "k2", "k1"]
    assert job.display_name == "d"
    for item in found:
        text = parse_response(item.response, "batch").text
        assert len(verdicts(text)) == len(VERDICTS)
    assert server.log.summary()["answered"] == 4


def test_looking_twice_at_a_finished_batch_buys_nothing_twice() -> None:
    server = GeminiServer()

    async def use(client: genai.Client) -> None:
        job = await created(client)
        for _ in range(3):
            await client.aio.batches.get(name=job.name or "")

    with_sdk(server, use)
    assert server.log.summary()["requests"] == 4


def test_an_item_of_a_batch_may_fail_alone() -> None:
    struck = frozenset([prompt_id(REQUESTS["k2"].messages[0].text)])
    server = GeminiServer(faults=FaultPlan(("unavailable_503",), prompts=struck))

    async def use(client: genai.Client) -> Any:
        job = await created(client)
        return await client.aio.batches.get(name=job.name or "")

    items = {item.metadata["key"]: item for item in with_sdk(server, use).dest.inlined_responses}
    assert items["k2"].error.code == 14
    assert items["k2"].response is None
    assert items["k1"].response.text


@pytest.mark.parametrize("end", ["failed", "cancelled", "expired"])
def test_a_batch_may_end_without_results(end: Any) -> None:
    async def use(client: genai.Client) -> Any:
        job = await created(client)
        return await client.aio.batches.get(name=job.name or "")

    job = with_sdk(GeminiServer(batches=BatchScript(ends=end)), use)
    assert job.state.value == f"JOB_STATE_{end.upper()}"
    assert job.dest is None


def test_a_batch_whose_reply_was_lost_is_found_in_the_list_by_its_name() -> None:
    server = GeminiServer(batches=BatchScript(lost_replies=1))

    async def use(client: genai.Client) -> list[str | None]:
        with pytest.raises(httpx.TransportError):
            await created(client, "lost")
        await created(client, "second")
        config = types.ListBatchJobsConfig(page_size=1)
        return [job.display_name async for job in await client.aio.batches.list(config=config)]

    assert with_sdk(server, use) == ["second", "lost"]


def test_a_batch_can_be_cancelled_and_be_gone() -> None:
    server = GeminiServer(batches=BatchScript(polls=5))

    async def use(client: genai.Client) -> int:
        job = await created(client)
        await client.aio.batches.cancel(name=job.name or "")
        job = await client.aio.batches.get(name=job.name or "")
        assert job.state == types.JobState.JOB_STATE_CANCELLED
        server.batches.clear()
        with pytest.raises(errors.ClientError) as caught:
            await client.aio.batches.get(name=job.name or "")
        return int(caught.value.code)

    assert with_sdk(server, use) == 404


def test_a_batch_by_file_is_uploaded_and_its_results_downloaded() -> None:
    def line(key: str, request: ModelRequest) -> str:
        parts = [{"text": request.messages[0].text}]
        return json.dumps({"key": key, "request": {"contents": [{"role": "user", "parts": parts}]}})

    data = "\n".join(line(key, request) for key, request in REQUESTS.items())

    async def use(client: genai.Client) -> bytes:
        upload = types.UploadFileConfig(mime_type="application/jsonl", display_name="in")
        file = await client.aio.files.upload(file=io.BytesIO(data.encode()), config=upload)
        job = await client.aio.batches.create(model=MODEL, src=file.name or "")
        job = await client.aio.batches.get(name=job.name or "")
        assert job.dest
        return await client.aio.files.download(file=job.dest.file_name or "")

    lines = [json.loads(line) for line in with_sdk(GeminiServer(), use).splitlines()]
    assert [line["key"] for line in lines] == ["k4", "k3", "k2", "k1"]
    assert all(line["response"]["candidates"] for line in lines)


class Api:
    """OpenAI's Batch API by plain httpx."""

    def __init__(self, address: str) -> None:
        headers = {"Authorization": "Bearer test-key"}
        self.http = httpx.Client(base_url=f"{address}/v1", headers=headers)

    def create(self, data: str) -> Any:
        files = {"file": ("in.jsonl", data.encode(), "application/jsonl")}
        made = self.http.post("/files", data={"purpose": "batch"}, files=files).json()
        body = {
            "input_file_id": made["id"],
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {"run": "r1"},
        }
        return self.http.post("/batches", json=body).json()

    def get(self, job: Any) -> Any:
        return self.http.get(f"/batches/{job['id']}").json()

    def lines(self, file_id: str) -> list[Any]:
        text = self.http.get(f"/files/{file_id}/content").text
        return [json.loads(line) for line in text.splitlines()]


def input_file() -> str:
    lines = [
        {
            "custom_id": key,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": build_chat_body(request, "json_schema", "max_completion_tokens"),
        }
        for key, request in REQUESTS.items()
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_openai_s_batch_goes_through_its_states_and_answers_reversed() -> None:
    with serving(OpenAiServer(batches=BatchScript(polls=3))) as address:
        api = Api(address)
        job = api.create(input_file())
        states = [job["status"]]
        for _ in range(3):
            job = api.get(job)
            states.append(job["status"])
        assert states == ["validating", "in_progress", "finalizing", "completed"]
        assert job["request_counts"] == {"total": 4, "completed": 4, "failed": 0}
        assert (job["error_file_id"], job["metadata"]) == (None, {"run": "r1"})
        lines = api.lines(job["output_file_id"])
        assert [line["custom_id"] for line in lines] == ["k4", "k3", "k2", "k1"]
        said = lines[0]["response"]["body"]["choices"][0]["message"]["content"]
        assert len(verdicts(said)) == len(VERDICTS)
        listed = api.http.get("/batches", params={"limit": 1}).json()
        assert [found["id"] for found in listed["data"]] == [job["id"]]


def test_openai_s_failed_lines_are_in_the_error_file() -> None:
    server = OpenAiServer(faults=FaultPlan(("server_500",), times=None))
    with serving(server) as address:
        api = Api(address)
        job = api.get(api.create(input_file()))
        assert (job["status"], job["output_file_id"]) == ("completed", None)
        line = api.lines(job["error_file_id"])[0]
        assert line["response"]["status_code"] == 500


def test_openai_s_expired_batch_keeps_what_was_done() -> None:
    with serving(OpenAiServer(batches=BatchScript(ends="expired"))) as address:
        api = Api(address)
        job = api.get(api.create(input_file()))
        assert job["status"] == "expired"
        assert {line["custom_id"] for line in api.lines(job["output_file_id"])} == {"k1", "k2"}
        undone = api.lines(job["error_file_id"])
        assert {line["error"]["code"] for line in undone} == {"batch_expired"}


def test_openai_s_batch_of_a_broken_file_fails_and_a_cancelled_one_ends() -> None:
    with serving(OpenAiServer(batches=BatchScript(polls=9))) as address:
        api = Api(address)
        failed = api.create("{]\n")
        assert failed["status"] == "failed"
        assert failed["errors"]["data"][0]["line"] == 1
        job = api.create(input_file())
        stopping = api.http.post(f"/batches/{job['id']}/cancel").json()
        assert stopping["status"] == "cancelling"
        assert api.get(job)["status"] == "cancelled"
