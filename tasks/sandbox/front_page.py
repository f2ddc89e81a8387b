"""The page at `/`: the API's documentation, rendered from OpenAPI without external resources."""

from typing import Any

from markupsafe import Markup, escape

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
code { background: #f2f2f2; padding: .1em .3em }
td { padding: .2em 1em .2em 0; vertical-align: top }
"""


def render_front_page(openapi: dict[str, Any]) -> str:
    """Render the page as HTML."""
    calls = Markup("").join(
        _render_call(path, call)
        for path, calls in openapi["paths"].items()
        for call in calls.values()
    )
    return Markup(
        "<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
        "<style>{style}</style><h1>{title}</h1><p>{description}</p>{calls}"
        "<h2><code>POST /mcp</code></h2><p>The same two calls as tools (Model Context Protocol, "
        "streamable HTTP).</p><p>In full: <a href=/openapi.json>openapi.json</a>, for any viewer "
        "of OpenAPI.</p></html>"
    ).format(
        title=openapi["info"]["title"], style=Markup(_STYLE), calls=calls,
        description=openapi["info"].get("description", ""),
    )  # fmt: skip


def _render_call(path: str, call: dict[str, Any]) -> Markup:
    rows = Markup("").join(
        Markup("<tr><td><code>{}</code><td>{}").format(one["name"], _describe_parameter(one))
        for one in call.get("parameters", ())
    )
    return Markup("<h2><code>GET {}</code></h2><p>{}</p><table>{}</table>").format(
        path, call.get("description", ""), rows
    )


def _describe_parameter(parameter: dict[str, Any]) -> str:
    schema = parameter["schema"]
    sentences = [parameter.get("description") or ""]
    if values := schema.get("enum"):
        sentences.append(f"One of {', '.join(values)}.")
    if "maximum" in schema:
        sentences.append(f"{schema['minimum']} to {schema['maximum']}.")
    if "maxLength" in schema:
        sentences.append(f"At most {schema['maxLength']:,} characters.")
    sentences.append("Required." if parameter["required"] else _describe_default(schema))
    return str(escape(" ".join(part for part in sentences if part)))


def _describe_default(schema: dict[str, Any]) -> str:
    return f"Usually {schema['default']}." if schema.get("default") is not None else ""
