"""Tell data from JSON and XML that say, with HTTP 200, that there is none: no such record, no right
to it, an error. Data has fields named `error` or `status` too: an answer counts as an error only
if a field says so and it holds little but what errors come with.
"""

import re
from collections.abc import Iterator
from typing import Any

import orjson
from lxml import etree

from tasks.warehouse.pages import PageStatus
from tasks.web.page import PageUnreadable
from tasks.web.plain_text import parse_xml
from tasks.web.wall_words import WORDS, compile_patterns

MAX_ANSWER = 3_000
"""Characters of the longest error; a longer answer is data."""
MAX_BESIDES = 200
"""Characters of fields beside an error, such as what was asked for."""
_ERRORS = r"\.(?:err(?:ors?)?(?:message|msg|description)?|fault|(?:service)?exception\w*)\b"
_MESSAGES = r"\.(?:(?:status)?message|msg|details?|reason)"
_CODES = r"\.(?:(?:http|error|status)?(?:code?|status)|errno)"
_OUTCOMES = r"\.(?:(?:is)?success|ok|found|stat(?:us)?|result|response)"
_COUNTS = r"\.(?:(?:result)?count|total(?:count|results)?|numfound)"
_BESIDES = (
    r"\.request\b|\.(?:faultstring|type|title|description|instance|timestamp|path|method|requestid|"
    r"traceid|documentationurl|moreinfo|help|jsonrpc|version|responsedate|schemalocation)$"
)
"""What comes with errors; `request` repeats what was asked for."""
_ERROR, _MESSAGE = re.compile(_ERRORS), re.compile(f"{_ERRORS}|{_MESSAGES}$")
_TECHNICAL = re.compile(f"(?:{_ERRORS}|{_CODES}|{_OUTCOMES}|{_COUNTS}|{_MESSAGES})$|{_BESIDES}")
_NOTHING = re.compile(
    rf"{_CODES}=\d+$|(?:{_OUTCOMES}|{_MESSAGES})=(?:ok|true|none|success\w*|completed?)$|"
    rf"{_COUNTS}=0$|\.(?:jsonrpc|version|timestamp|responsedate|requestid|traceid|path|method)="
)
"""What an answer holds beside the data that it does not have."""
_FAILURE = re.compile(
    rf"{_CODES}=[45]\d\d(?:\d\d)?$|"
    rf"{_OUTCOMES}=(?:false|fail(?:ed|ure)?|errors?|not[ _]?found|denied)$"
)
_SAYS: dict[PageStatus, re.Pattern[str]] = {
    "soft_404": compile_patterns(rf"""
        <MISSING>|no ?such\b|\b(?:404|410|gone)\b|not ?found|cannot disseminate
        \bno (?:\w{{1,20}} )?(?:results?|records?|entry|entries|data|match(?:es)?|items?)\b
        (?:unknown|invalid|illegal|bad) (?:\w{{1,20}} )?(?:id|identifier|doi|argument|accession)\b
        {WORDS["soft_404"].pattern}
    """),
    "login_wall": compile_patterns(r"""
        unauth|not (?:authori[sz]ed|authenticated|logged|permitted|allowed)|forbidden|\bdenied
        authenticat|authori[sz]ation|credential|api ?key|(?:access|invalid|missing) token
        permission|<LOG_IN>|\b40[1237]\b|berechtigung|accès refusé|no autori|权限|登录|未授权
    """),
    "bot_wall": compile_patterns(r"rate ?limit|too many requests|quota|throttl|\b429\b"),
}
_NO_ERROR = ("none", "false", "no", "0")
_WORD_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s_\-]+")
"""Where words begin in `NoSuchKey` and `no_such_key`."""
Field = tuple[str, str]
"""The names that lead to a value, as in `.data.error.code`, and what it says, "" for nothing."""


def check_answer(text: str, *, is_xml: bool) -> None:
    """Check that a document holds data, if it is JSON or XML.

    Raises:
        PageUnreadable: it says that there is none, and why.
    """
    text = text.strip("\ufeff \t\r\n")
    if len(text) > MAX_ANSWER:
        return
    try:
        if is_xml and (root := parse_xml(text)) is not None:
            _check_fields([*_list_xml(root, "")])
        elif text.startswith(("{", "[", "null")):
            value = orjson.loads(text)
            if not isinstance(value, list) or len(value) < 2:
                _check_fields([*_list_json(value, "")])
    except (orjson.JSONDecodeError, RecursionError):
        return


def _list_json(value: Any, path: str) -> Iterator[Field]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _list_json(inner, path + _spell(name))
    elif isinstance(value, list) and value:
        for inner in value:
            yield from _list_json(inner, path)
    else:
        yield path, "" if value in (None, [], {}) else str(value).strip()


def _list_xml(element: etree._Element, path: str) -> Iterator[Field]:
    path += _spell(element.tag)
    for name, value in element.attrib.items():
        yield path + _spell(name), value.strip()
    text = (element.text or "").strip()
    if text or not len(element):
        yield path, text
    for child in element.iterchildren(tag=etree.Element):
        yield from _list_xml(child, path)


def _spell(name: str) -> str:
    """Return a name in small letters alone, without its namespace."""
    return "." + re.sub(r"^\{.*\}|[^a-z]", "", name.lower())[:40]


def _check_fields(fields: list[Field]) -> None:
    """Raise `PageUnreadable` unless these are the fields of data."""
    said = [field for field in fields if field[1]]
    errors = [p for p, words in said if _ERROR.search(p) and words.lower() not in _NO_ERROR]
    others = [f for f in said if not _TECHNICAL.search(f[0]) and f[0] not in errors]
    # Data lies deeper, or is longer, than what was asked for.
    depth = min((path.count(".") for path in errors), default=0)
    besides = sum(len(words) for _, words in others)
    if besides > MAX_BESIDES or any(path.count(".") > depth for path, _ in others):
        return
    messages = sorted(said, key=lambda field: not _MESSAGE.search(field[0]))
    words = _WORD_BREAK.sub(" ", " ".join(field[1] for field in messages if field not in others))
    status = next((status for status, says in _SAYS.items() if says.search(words.lower())), None)
    if (
        (status is not None and any(_MESSAGE.search(path) for path, _ in said))
        or any(_FAILURE.search("=".join(field).lower()) for field in said)
        or (errors and not others and all(map(_TECHNICAL.search, errors)))
    ):
        raise PageUnreadable(f"it only says: {words[:100]}", status or "unfetchable")
    if all(_NOTHING.search("=".join(field).lower()) for field in said):
        raise PageUnreadable("it holds no data", "empty")
