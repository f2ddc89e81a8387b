"""What a page says that comes in place of an error in JSON."""

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
