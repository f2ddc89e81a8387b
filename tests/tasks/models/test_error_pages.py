"""What an error says, in each shape that endpoints give it, and a page in place of one."""

import httpx
import pytest

from tasks.models.client import parse_error

PAGE = "<html><head><title>Error</title><style>p {}</style></head><body><h1>Error</h1>\n<p>No GET"


@pytest.mark.parametrize(
    ("kind", "said"), [("text/html;charset=utf-8", "Error No GET"), ("text/plain", PAGE)]
)
def test_of_a_page_the_words_are_said(kind: str, said: str) -> None:
    response = httpx.Response(501, text=PAGE, headers={"content-type": kind})
    assert parse_error(response) == (said, None)


@pytest.mark.parametrize(
    ("shape", "code"),
    [
        (
            {"error": {"message": "Busy.", "type": "server_error", "code": "c"}},
            "c server_error",
        ),  # OpenAI
        ({"error": {"message": "Busy.", "type": "server_error", "code": None}}, "server_error"),
        ({"error": "Busy."}, None),  # Ollama
        ({"object": "error", "message": "Busy.", "type": "t", "code": 503}, "t"),  # vLLM
        ({"detail": "Busy."}, None),  # FastAPI, so most gateways
    ],
)
def test_a_refusal_is_read_in_each_of_its_shapes(shape: object, code: str | None) -> None:
    assert parse_error(httpx.Response(503, json=shape)) == ("Busy.", code)
