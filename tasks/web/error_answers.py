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
from tasks.web.page import ErrorAnswer
from tasks.web.wall_words import WORDS, compile_patterns

MAX_ANSWER = 20_000
"""Characters of the longest error; a longer answer is data."""
MAX_BESIDES = 200
"""Characters of other fields beside an error, such as what was asked for."""
MAX_WORDS = 1_000
MAX_NOTHING = 40
"""Characters of an answer that says no more than that there is nothing."""
_DEPTH = 6
_ERRORS = frozenset({
    "error", "errors", "fault", "exception", "err", "errormessage", "errormsg", "errordescription",
    "exceptionreport", "serviceexceptionreport",
})  # fmt: skip
"""Names of fields that hold an error, in small letters and without `_`."""
_CODES = frozenset({"status", "code", "statuscode", "errorcode", "httpstatus", "httpcode", "errno"})
_OUTCOMES = frozenset({"success", "ok", "status", "stat", "result", "response", "issuccess"})
_MESSAGES = frozenset({"message", "msg", "detail", "details", "reason", "statusmessage"})
_TECHNICAL = _CODES | _OUTCOMES | _MESSAGES | {
    "type", "title", "instance", "timestamp", "path", "method", "request", "requestid", "traceid",
    "documentationurl", "moreinfo", "help", "jsonrpc", "version", "responsedate", "schemalocation",
}  # fmt: skip
"""Names of what errors come with."""
_COUNTS = frozenset({"count", "total", "totalcount", "totalresults", "numfound", "resultcount"})
_FAILED = re.compile(r"false|fail(?:ed|ure)?|errors?|not ?found|unauthori[sz]ed|forbidden|denied")
_SAYS: dict[PageStatus, re.Pattern[str]] = {
    "soft_404": compile_patterns(r"""
        <MISSING>|no ?such\b|\b(?:404|410|gone)\b|not ?found|cannot disseminate
        \bno (?:\w{1,20} )?(?:results?|records?|entry|entries|data|match(?:es)?|items?)\b
        (?:unknown|invalid|illegal|bad) (?:\w{1,20} )?(?:id|identifier|doi|argument|accession)\b
        \b(?:id|identifier|argument) (?:is )?(?:unknown|invalid|illegal)
    """),
    "login_wall": compile_patterns(r"""
        unauthori[sz]ed|unauthenticated|not (?:authori[sz]ed|authenticated|logged|permitted|allowed)
        forbidden|\b(?:access|permission)\b.{0,20}\bdenied|permission|<LOG_IN>|public access
        authenticat|authori[sz]ation|credential|api ?key|(?:access|invalid|missing) token
        \b(?:401|402|403|407)\b|berechtigung|accès refusé|non autoris|no autorizado
        权限|未登录|未授权
    """),
    "bot_wall": compile_patterns(r"rate ?limit|too many requests|quota|throttl|\b429\b"),
}
_WORD_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\-]+")


def find_json_error(text: str) -> ErrorAnswer | None:
    """Return what a JSON document says in place of data; None for data, and for other texts."""
    text = text.strip("\ufeff \t\r\n")
    if len(text) > MAX_ANSWER or not text.startswith(("{", "[", "null")):
        return None
    try:
        return _judge(orjson.loads(text))
    except (orjson.JSONDecodeError, RecursionError):
        return None


def find_xml_error(root: etree._Element) -> ErrorAnswer | None:
    """Return what an XML document says in place of data; None for data."""
    if sum(map(len, root.itertext())) > MAX_ANSWER:
        return None
    return _judge({etree.QName(root).localname: _to_value(root, _DEPTH)})


def _to_value(element: etree._Element, depth: int) -> Any:
    """Return an element as JSON would hold it."""
    fields: dict[str, Any] = {etree.QName(name).localname: v for name, v in element.attrib.items()}
    for child in element:
        if isinstance(child.tag, str) and depth:
            inner = _to_value(child, depth - 1)
            fields.setdefault(f"{etree.QName(child).localname}", []).append(inner)
    text = (element.text or "").strip()
    return fields | ({"text": text} if text else {}) if fields else text


def _judge(value: Any) -> ErrorAnswer | None:
    pruned = _prune(value)
    answer = _unwrap(pruned)
    if answer is None:
        return ErrorAnswer("empty", "no data")
    if not isinstance(answer, dict):
        return None
    fields = {re.sub(r"[\W_]", "", name).lower(): content for name, content in answer.items()}
    if fields.keys() <= _COUNTS and not any(map(_number, fields.values())):
        return ErrorAnswer("empty", "no results")
    if fields.get("found") is False:
        return ErrorAnswer("soft_404", "found: false")
    others = [content for name, content in fields.items() if name not in _ERRORS | _TECHNICAL]
    ordered = sorted(fields.items(), key=lambda field: field[0] not in _ERRORS | _MESSAGES)
    words = _split_words(" ".join(_texts(dict(ordered))))
    status = next((status for status, said in _SAYS.items() if said.search(words.lower())), None)
    if status is None and WORDS["soft_404"].search(words.lower()):
        status = "soft_404"
    if any(_is_error(fields[name]) for name in _ERRORS & fields.keys()):
        besides = sum(len(text) for text in _texts(others))
        is_data = any(isinstance(each, dict | list) for each in others) or besides > MAX_BESIDES
        if others and (status is None or is_data):
            return None
    elif not others and pruned != value and len(words) <= MAX_NOTHING and not _has_failed(fields):
        return ErrorAnswer(status or "empty", words)  # as in `{"code": 0, "data": null}`
    elif others or not (_has_failed(fields) or (status and _MESSAGES & fields.keys())):
        return None
    return ErrorAnswer(status or "unfetchable", words[:100]) if len(words) <= MAX_WORDS else None


def _is_error(error: Any) -> bool:
    """Return whether the content of an error's field is one: no measure, and not `no`."""
    if isinstance(error, str):
        return len(re.findall(r"[^\W\d_]", error)) > 2 and error.lower() not in ("none", "false")
    return error is True or isinstance(error, dict | list) or _number(error) >= 400


def _has_failed(fields: dict[str, Any]) -> bool:
    """Return whether a status or an outcome says that there was an error."""
    outcomes = (_split_words(str(fields[name])).lower() for name in _OUTCOMES & fields.keys())
    codes = (_number(fields[name]) for name in _CODES & fields.keys())
    return any(map(_FAILED.fullmatch, outcomes)) or any(400 <= code < 600 for code in codes)


def _split_words(text: str) -> str:
    """Return `No Such Key` for `NoSuchKey` or `no_such_key`."""
    return " ".join(_WORD_BREAK.sub(" ", text).split())


def _prune(value: Any) -> Any:
    """Return a value without what is empty; None if nothing is left."""
    if isinstance(value, dict):
        kept = {name: _prune(inner) for name, inner in value.items()}
        return {name: inner for name, inner in kept.items() if inner is not None} or None
    if isinstance(value, list):
        return [inner for each in value if (inner := _prune(each)) is not None] or None
    return None if isinstance(value, str) and not value.strip() else value


def _unwrap(value: Any) -> Any:
    """Return what lies in lists of one, and in fields that hold all there is."""
    while isinstance(value, dict | list) and len(value) == 1:
        if isinstance(value, list):
            value = value[0]
            continue
        [(name, inner)] = value.items()
        if name.lower() in _ERRORS or not isinstance(inner, dict | list):
            break
        value = inner
    return value


def _texts(value: Any) -> Iterator[str]:
    """Yield the strings and numbers in a value."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
    elif not isinstance(value, bool):
        yield str(value)


def _number(value: Any) -> int:
    """Return a whole number, also of digits; 0 for anything else."""
    return int(str(value)) if re.fullmatch(r"\d{1,9}", str(value)) else 0
