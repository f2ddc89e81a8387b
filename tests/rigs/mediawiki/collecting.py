"""Collecting from the wiki of the rig: its configuration, its page views, the command."""

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml

from tests.servers.http import Request, Response, json_response
from tests.servers.serving import serving

ROOT = Path(__file__).resolve().parents[3]
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
    target = folder / "configs"
    shutil.copytree(ROOT / "configs", target)
    settings = yaml.safe_load((target / "wikipedia.yaml").read_text("utf-8"))
    settings["operator"] = OPERATOR
    settings["api_url"] = api_url
    settings["pageviews_url"] = pageviews_url
    settings["requests"] |= {
        "per_second": 500.0, "first_wait_seconds": 0.05, "longest_wait_seconds": 5.0,
    } | requests  # fmt: skip
    (target / "wikipedia.yaml").write_text(yaml.safe_dump(settings), "utf-8")
    return target
