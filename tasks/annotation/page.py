"""The sheet as a single page to fill in: no network, nothing to install.

Texts and titles are untrusted. The template escapes everything, Markdown is rendered without HTML,
links and images, and the page's Content-Security-Policy allows only the script and the style whose
hashes it names.
"""

import base64
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from tasks.annotation.sheet import Sheet
from tasks.annotation.table import COLUMNS, make_rows

_TEMPLATES = files("tasks.annotation") / "templates"
_MARKDOWN = (
    MarkdownIt("commonmark", {"html": False})
    .enable("table")
    .disable(["link", "image", "autolink", "html_inline", "html_block", "reference"])
)


def render_page(sheet: Sheet) -> str:
    """Render the page; its download button writes the sheet's CSV with labels and reasons."""
    style, script = _read_template("sheet.css"), _read_template("sheet.js")
    return (
        _environment()
        .get_template("sheet.html.jinja")
        .render(
            sheet=sheet,
            rows=make_rows(sheet),
            columns=COLUMNS,
            n_items=len(sheet.items),
            style=Markup(style),
            script=Markup(script),
            policy=(
                f"default-src 'none'; style-src '{_csp_hash(style)}'; "
                f"script-src '{_csp_hash(script)}'; base-uri 'none'; form-action 'none'"
            ),
        )
    )


@lru_cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tasks.annotation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["markdown"] = lambda text: Markup(_MARKDOWN.render(text))
    return environment


def _read_template(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _csp_hash(code: str) -> str:
    """Return the Content-Security-Policy source of an inline script or style."""
    return "sha256-" + base64.b64encode(sha256(code.encode("utf-8")).digest()).decode("ascii")
