"""Templates into pages: everything is escaped, nothing is undefined, nothing acts unseen."""

from functools import lru_cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tasks.site import wording
from tasks.site.harmless import visible, web_address

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""Of every page: its own style and script files, and nothing else from anywhere."""


def page(template: str, *, depth: int = 0, **content: Any) -> str:
    """A page from its template. depth: how many folders below the site's root it lies."""
    return _environment().get_template(template).render(
        policy=POLICY, root="../" * depth, **content
    )  # fmt: skip


def asset(name: str) -> bytes:
    """A style or script file as it is published."""
    return (files("tasks.site") / "assets" / name).read_bytes()


@lru_cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tasks.site"),
        autoescape=lambda name: not (name or "").endswith(".md"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    environment.filters.update(
        address=web_address,
        day=wording.day,
        dollars=wording.dollars,
        figure=wording.figure,
        interval=wording.interval,
        items=wording.items,
        moment=wording.moment,
        number=wording.number,
        ranks=wording.ranks,
        reason=wording.reason,
        size=wording.size,
    )
    environment.globals.update(mark_of=wording.decision_mark, MARKS=wording.MARKS)
    return environment


def _finalized(value: Any) -> Any:
    """What a template prints: text from outside is made visible, HTML of ours stays."""
    if value is None:
        return ""
    # Nearly all text is printable, which is quickly seen.
    if isinstance(value, Markup) or not isinstance(value, str) or value.isprintable():
        return value
    return visible(value)
