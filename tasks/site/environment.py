"""Render templates: everything is escaped, undefined names fail, invisible characters show. URLs
from outside are linked only if they are safe."""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tasks.foreign_text import make_visible
from tasks.site import wording
from tasks.site.content import SiteInfo
from tasks.site.folder import SiteFolder

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""The Content-Security-Policy of every page: only the site's own style and script files."""
FORMATS = ("basis", "day", "dollars", "figure", "interval", "moment", "number", "ranks", "reason",
           "refused", "size")  # fmt: skip
"""The filters of templates that are functions of `wording`."""
MAX_URL_CHARS = 2_000
"""Longer URLs are not linked."""


def render_page(template: str, *, depth: int = 0, **content: Any) -> str:
    """Render a page from its template. depth: its number of folders below the site's root."""
    return _make_environment().get_template(template).render(
        policy=POLICY, root="../" * depth, **content
    )  # fmt: skip


def load_asset(name: str) -> bytes:
    """Load a style or script file."""
    return (files("tasks.site") / "assets" / name).read_bytes()


@lru_cache(10_000)
def safe_url(url: str | None) -> str | None:
    """Return the URL if it is safe to link: http or https, with a host, without a user, not too
    long, without invisible characters. None otherwise."""
    if not url or len(url) > MAX_URL_CHARS or _has_invisible(url):
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError if the port is no number
    except ValueError:
        return None
    known = parts.scheme.lower() in ("http", "https")
    return url if known and parts.hostname and "@" not in parts.netloc else None


def _has_invisible(url: str) -> bool:
    if url.isascii() and url.isprintable():
        return " " in url
    return any(c.isspace() or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") for c in url)


@lru_cache
def _make_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tasks.site"),
        autoescape=lambda name: not (name or "").endswith(".md"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters |= {name: getattr(wording, f"format_{name}") for name in FORMATS}
    environment.filters["address"] = safe_url
    environment.globals.update(mark_of=wording.choose_mark, MARKS=wording.MARKS)
    return environment


def _finalize(value: Any) -> Any:
    """Escape invisible characters in printed text; leave our own HTML as it is."""
    if value is None:
        return ""
    # Nearly all text is printable, which is a fast check.
    if isinstance(value, Markup) or not isinstance(value, str) or value.isprintable():
        return value
    return make_visible(value)


@dataclass(frozen=True)
class SitePages:
    """Renders pages with the content that all of them share."""

    info: SiteInfo
    folder: SiteFolder

    def add(self, path: str, template: str | None = None, **content: Any) -> None:
        """Write a page to `path`, from the template of that name unless another is named.

        Raises:
            UnwritableSite: it cannot be written.
        """
        page = render_page(
            template or path, depth=path.count("/"), site=self.info, here=path, **content
        )
        self.folder.add(path, page)
