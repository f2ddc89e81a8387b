"""Our servers of agents speak what the providers' own clients read, which take seconds to load."""

from typing import Any

import anthropic
import dashscope
import openai

from tests.servers.agent_anthropic import AnthropicServer
from tests.servers.agent_chat import ChatAgentServer
from tests.servers.agent_dashscope import DashScopeServer
from tests.servers.agent_xai import XaiServer
from tests.servers.serving import serving
from tests.tasks.agents.conversations import KEY
from tests.tasks.agents.kinds.test_anthropic import FIRST, SECOND

REPORT = "A report."


def test_anthropic_s_reads_our_server_of_its_messages() -> None:
    with serving(AnthropicServer([*FIRST, *SECOND])) as address:
        client = anthropic.Anthropic(api_key=KEY, base_url=address, max_retries=0)
        message = client.messages.create(
            model="a-model", max_tokens=9, messages=[{"role": "user", "content": "Write."}]
        )
        model = client.models.retrieve("a-model")
    cited = [block for block in message.content if block.type == "text" and block.citations]
    assert [type(c).__name__ for block in cited for c in block.citations or ()] == [
        "CitationsWebSearchResultLocation"
    ] * 3
    assert message.usage.server_tool_use is not None
    assert message.usage.server_tool_use.web_search_requests == 2
    assert model.id == "a-model"


def test_openai_s_reads_our_server_of_xai() -> None:
    with serving(XaiServer(REPORT)) as address:
        client = openai.OpenAI(api_key=KEY, base_url=f"{address}/v1", max_retries=0)
        response = client.responses.create(model="a-model", input="Write.")
        model = client.models.retrieve("a-model")
    assert response.output_text == REPORT
    assert response.usage is not None
    assert response.usage.output_tokens_details.reasoning_tokens == 192
    assert model.id == "a-model"


def test_openai_s_reads_our_server_of_chats() -> None:
    with serving(ChatAgentServer("A report.")) as address:
        client = openai.OpenAI(api_key=KEY, base_url=f"{address}/v1", max_retries=0)
        completion = client.chat.completions.create(
            model="a-model", messages=[{"role": "user", "content": "Write."}]
        )
        models = [model.id for model in client.models.list()]
    assert completion.choices[0].message.content == "A report."
    assert completion.usage is not None
    assert completion.usage.completion_tokens == 80
    assert models == ["a-model"]


def test_dashscope_s_reads_our_server_of_its_streams() -> None:
    generate: Any = dashscope.Generation.call
    text, phases = "", set()
    with serving(DashScopeServer(f" {REPORT}")) as address:
        for response in generate(
            api_key=KEY, model="qwen-deep-research", stream=True, base_address=f"{address}/api/v1",
            messages=[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                      {"role": "user", "content": "c"}],
        ):  # fmt: skip
            assert response.status_code == 200, response
            message = response.output["message"]
            phases.add(message["phase"])
            text += message["content"] if message["phase"] == "answer" else ""
    assert text == f"# {REPORT}"
    assert phases == {"ResearchPlanning", "WebResearch", "KeepAlive", "answer"}
