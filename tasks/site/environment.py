"""Render templates: everything is escaped, undefined names fail, invisible characters show."""

from functools import lru_cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tasks.foreign_text import make_visible
from tasks.site import wording
from tasks.site.escaping import safe_url

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""The Content-Security-Policy of every page: only the site's own style and script files."""


FORMATS = ("basis", "day", "dollars", "figure", "interval", "moment", "number", "ranks", "reason",
           "size")  # fmt: skip
"""The filters of templates that are functions of `wording`."""


def render_page(template: str, *, depth: int = 0, **content: Any) -> str:
    """Render a page from its template. depth: its number of folders below the site's root."""
    return _make_environment().get_template(template).render(
        policy=POLICY, root="../" * depth, **content
    )  # fmt: skip


def load_asset(name: str) -> bytes:
    """Load a style or script file."""
    return (files("tasks.site") / "assets" / name).read_bytes()


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
