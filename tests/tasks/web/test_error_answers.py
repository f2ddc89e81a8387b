"""JSON and XML that say there is no such record are no pages; data that only names errors are."""

import json
from typing import Any

import pytest

from tasks.configuration.web import ReadingBounds
from tasks.web.page import ReadPage
from tasks.web.readers import read_page
from tests.rigs.saved_pages import page


def read(content: Any, content_type: str = "application/json") -> ReadPage:
    text = content if isinstance(content, str) else json.dumps(content)
    return read_page(page(text.encode(), content_type=content_type), ReadingBounds())


OAI = (
    "<?xml version='1.0'?><OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'><responseDate>"
    "2024-05-01T04:04:04Z</responseDate><request verb='GetRecord' identifier='oai:varn:1'>"
    "https://varn.example/oai</request>{}</OAI-PMH>"
)
ERRORS: list[tuple[Any, str]] = [
    ({"error": "Record not found", "status": 404}, "soft_404"),
    ({"message": "Not Found", "documentation_url": "https://x.example/"}, "soft_404"),
    ({"detail": "Not found."}, "soft_404"),
    ({"success": False, "data": None, "msg": "no such bridge"}, "soft_404"),
    ({"errors": [{"status": "404", "title": "Not Found"}]}, "soft_404"),
    ({"data": {"bridge": None}, "errors": [{"type": "NOT_FOUND", "path": ["x"]}]}, "soft_404"),
    ({"type": "about:blank", "title": "Not Found", "status": 404}, "soft_404"),
    ({"timestamp": "2024", "status": 404, "error": "Not Found", "path": "/x"}, "soft_404"),
    ({"Response": "False", "Error": "Bridge not found!"}, "soft_404"),
    ({"found": False}, "unfetchable"),
    ({"ok": False, "error_code": 404, "description": "Not Found"}, "soft_404"),
    ({"cod": "404", "message": "town not found"}, "soft_404"),
    ({"msg": "\u8bf7\u5148\u767b\u5f55", "code": 40101}, "login_wall"),
    ({"error": True, "message": "Not found"}, "soft_404"),
    ({"errors": ["No record with this id"]}, "soft_404"),
    ([{"error": "no such bridge", "query": "varn"}], "soft_404"),
    ({"status": "error", "message": "\u8bb0\u5f55\u4e0d\u5b58\u5728"}, "soft_404"),
    ({"error": {"code": 401, "message": "Unauthorized"}}, "login_wall"),
    ({"statusCode": 403, "message": "Forbidden"}, "login_wall"),
    ({"fault": {"faultstring": "Invalid ApiKey"}}, "login_wall"),
    ({"error": "invalid_token", "error_description": "expired"}, "login_wall"),
    ({"error": "Rate limit exceeded"}, "bot_wall"),
    ({"success": False, "error": {"code": 1, "message": "Something broke"}}, "unfetchable"),
    ({}, "empty"),
    ([], "empty"),
    ("null", "empty"),
    ({"code": 0, "msg": "ok", "data": None}, "empty"),
    ({"status": "success", "data": []}, "empty"),
    ({"count": 0, "next": None, "results": []}, "empty"),
    ("<?xml version='1.0'?><Error><Code>NoSuchKey</Code><Key>a</Key></Error>", "soft_404"),
    ("<?xml version='1.0'?><Error><Code>AccessDenied</Code><Key>a</Key></Error>", "login_wall"),
    (OAI.format("<error code='idDoesNotExist'>unknown</error>"), "soft_404"),
    ("<rsp stat='fail'><err code='1' msg='Photo not found'/></rsp>", "soft_404"),
    ("<s:Envelope xmlns:s='http://s'><s:Body><s:Fault><faultstring>No such record</faultstring>"
     "</s:Fault></s:Body></s:Envelope>", "soft_404"),
    ("<r:ExceptionReport xmlns:r='r'><r:Exception exceptionCode='NoCode'><r:ExceptionText>No layer"
     "</r:ExceptionText></r:Exception></r:ExceptionReport>", "unfetchable"),
    ("<response><status>error</status><message>Please log in</message></response>", "login_wall"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "status"), ERRORS)
def test_an_answer_that_says_there_is_no_such_thing_is_no_page(content: Any, status: str) -> None:
    is_xml = isinstance(content, str) and content.startswith("<")
    said = read(content, "application/xml" if is_xml else "application/json")
    assert (said.status, said.text) == (status, None)
    assert said.error is not None
    assert said.error.startswith(("it only says: ", "it holds no data"))


@pytest.mark.parametrize("content_type", ["text/html", "text/plain", ""])
def test_it_is_known_whatever_type_it_has(content_type: str) -> None:
    assert read({"error": "No record with this id", "code": 404}, content_type).status == "soft_404"


DATA: list[Any] = [
    {"error": None, "name": "Tolvane", "opened": 1931},
    {"error": None, "data": {"title": "Tolvane"}},
    {"error": None, "result": "The bridge was opened in 1931."},
    {"error": None, "result": "Tolvane"},
    {"error": False, "errors": [], "bridge": {"name": "Tolvane"}},
    {"mean": 4.2, "error": 0.3, "n": 12},
    {"value": "3.2", "error": "0.1"},
    {"fault": {"name": "Varn", "length_km": 120}},
    {"id": 7, "title": "Not Found", "type": "album"},
    {"name": "Launch 7", "success": False, "details": "The engine failed."},
    {"data": {"bridge": {"name": "Tolvane"}}, "errors": [{"type": "NOT_FOUND"}]},
    {"status": 404, "url": "https://x.example/a", "checked": "2024-05-01"},
    {"id": 1, "name": "printer", "status": "error"},
    {"error": "not found", "rows": [{"name": "Tolvane"}]},
    {"message": "The log was not found until 1901.", "author": "Ada Birkett"},
    [{"name": "Tolvane"}, {"error": "not found"}],
    {"errors": [{"message": f"The bridge of {n} was not found in the list"} for n in range(99)]},
    {"message": "The bridge of Tolvane was opened in 1931 by the mayor.", "note": ""},
    {"status": "open", "since": "1931"},
    {"count": 0, "bridges_found": "none"},
    OAI.format("<GetRecord><record><title>Errors of Varn</title></record></GetRecord>"),
    "<rss version='2.0'><channel><title>Not found</title><item><title>A bridge opens</title></item>"
    "</channel></rss>",
    "<bridge><name>Tolvane</name><error>0.3</error></bridge>",
]


@pytest.mark.parametrize("content", DATA)
def test_data_that_only_names_errors_is_a_page(content: Any) -> None:
    is_xml = isinstance(content, str)
    said = read(content, "application/xml" if is_xml else "application/json")
    assert said.status == "ok", said.error


def test_no_depth_of_nesting_stops_the_reader() -> None:
    for text in ("[" * 900 + "1" + "]" * 900, "<a>" * 900 + "1" + "</a>" * 900):
        assert read(text, "application/xml" if text[0] == "<" else "application/json").status
