"""Files inside requests, as each provider takes them: who sends another form is refused."""

import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from tests.servers.asked import File

GEMINI_TAKES = re.compile(r"application/pdf|image/(png|jpeg|webp|heic|heif)")
OPENAI_TAKES = re.compile(r"image/(png|jpeg|webp|gif)")
MOST_GEMINI_BYTES = 20 * 1024 * 1024
"""Of one request, with what is inside it."""
_DATA = re.compile(r"data:([\w/.+-]+);base64,(.+)", re.S)


def gemini_files(body: dict[str, Any]) -> tuple[File, ...]:
    """The inline data of a request's contents, in order; raises ValueError for what it refuses."""
    return tuple(_gemini_files(body["contents"]))


def _gemini_files(contents: Any) -> Iterator[File]:
    for content in contents if isinstance(contents, list) else []:
        for part in content.get("parts", ()) if isinstance(content, dict) else ():
            data = part.get("inlineData") or part.get("inline_data")
            if data is None:
                continue
            media_type = data.get("mimeType") or data["mime_type"]
            if not GEMINI_TAKES.fullmatch(media_type):
                raise ValueError(f"Unsupported MIME type: {media_type}")
            yield _file(media_type, urlsafe_b64decode(_urlsafe(data["data"])))


def openai_files(messages: list[dict[str, Any]]) -> tuple[File, ...]:
    """The pictures and files of a chat's messages, in order; raises as above."""
    return tuple(
        _openai_file(message["role"], part)
        for message in messages
        if isinstance(message.get("content"), list)
        for part in message["content"]
        if part["type"] != "text"
    )


def _openai_file(role: str, part: dict[str, Any]) -> File:
    if role != "user":
        raise ValueError(f"Invalid content of role {role}: only users give files.")
    if part["type"] == "file":
        if not part["file"]["filename"]:
            raise ValueError("Missing required parameter: filename.")
        url, takes = part["file"]["file_data"], re.compile("application/pdf")
    elif part["type"] == "image_url":
        url, takes = part["image_url"]["url"], OPENAI_TAKES
    else:
        raise ValueError(f"Invalid value: {part['type']!r}.")
    found = _DATA.fullmatch(url)
    if not found or not takes.fullmatch(found[1]):
        raise ValueError(f"You uploaded an unsupported file: {url[:40]}…")
    return _file(found[1], b64decode(found[2], validate=True))


def _file(media_type: str, content: bytes) -> File:
    return File(media_type, sha256(content).hexdigest(), len(content))


def _urlsafe(data: str) -> str:
    """Base64 of either alphabet: Google takes both."""
    return data.replace("+", "-").replace("/", "_")
