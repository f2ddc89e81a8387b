"""The sheet as one page a person can work in: no network, nothing to install.

Texts and titles are hostile. The template escapes everything, Markdown is rendered without
HTML, links and images, and the page's Content-Security-Policy lets run only the script and
the style whose hashes it names.
"""

import base64
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from tasks.annotation.sheet import Sheet
from tasks.annotation.table import COLUMNS, rows_of

_TEMPLATES = files("tasks.annotation") / "templates"
_MARKDOWN = (
    MarkdownIt("commonmark", {"html": False})
    .enable("table")
    .disable(["link", "image", "autolink", "html_inline", "html_block", "reference"])
)


def page_of(sheet: Sheet) -> str:
    """The page; what it downloads is the sheet's CSV with labels and reasons filled in."""
    style, script = _file("sheet.css"), _file("sheet.js")
    return (
        _environment()
        .get_template("sheet.html.jinja")
        .render(
            sheet=sheet,
            rows=rows_of(sheet),
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


def _file(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _csp_hash(code: str) -> str:
    """How a Content-Security-Policy names the one inline script or style it allows."""
    return "sha256-" + base64.b64encode(sha256(code.encode("utf-8")).digest()).decode("ascii")
