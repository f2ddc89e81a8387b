"""Collecting from the wiki of the rig: its configuration, its page views, the command."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tests.changed_configs import copy_configs
from tests.servers.http import Request, Response, json_response
from tests.servers.serving import serving

OPERATOR = "rig@example.org"


class Views:
    """Wikimedia's page views: numbers made from the title, none for titles without an `e`."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, request: Request) -> Response:
        parts = request.target.split("/")
        title = unquote(parts[-4])
        self.asked[title] += 1
        if "e" not in title:
            return json_response({"title": "Not found."}, 404)
        return json_response({"items": [{"views": views_of(title) - 1}, {"views": 1}]})


def views_of(title: str) -> int:
    return 1 + sha256(title.replace(" ", "_").encode()).digest()[0]


@contextmanager
def viewed() -> Iterator[tuple[Views, str]]:
    """The service, and its address as configuration wants it."""
    views = Views()
    with serving(views) as address:
        yield views, f"{address}/metrics/pageviews/per-article"


def write_configs(folder: Path, api_url: str, pageviews_url: str | None, **requests: Any) -> Path:
    """The project's configuration for a wiki that is ours: named, unhurried by nobody."""
    quick = {"per_second": 500.0, "first_wait_seconds": 0.05, "longest_wait_seconds": 5.0}
    return copy_configs(folder, wikipedia=lambda s: s.update(
        operator=OPERATOR, api_url=api_url, pageviews_url=pageviews_url, fewest_articles=1,
        requests=s["requests"] | quick | requests,
    ))  # fmt: skip
