"""The two calls as tools of the Model Context Protocol, at /mcp: for agents that are models.

The address may carry `?assignment=…`: what an agent must not use is then decided by whoever gave it
the address, not by the model.
"""

import logging
from typing import Annotated, Any

from pydantic import Field
from starlette.applications import Starlette
from starlette.routing import Route

from tasks.configuration.errors import ConfigurationError
from tasks.sandbox.calls import Calls, UnknownAssignment
from tasks.sandbox.catalogue import Allowed, NotServed
from tasks.sandbox.search import Document
from tasks.sandbox.shapes import FetchedPart, Result, Results

MOST_BODY_BYTES = 1 << 20
MOST_CHARACTERS = 40_000
"""Of a page in one answer: what a model reads at once."""


def tool_application(calls: Calls, host: str) -> Starlette:
    """An application with the one path /mcp; stateless: nothing is kept between two requests.

    host: where it is bound; if that is this machine only, so must be the Host it is asked under.

    Raises:
        ConfigurationError: the SDK is not installed.
    """
    try:
        from mcp.server.mcpserver import Context, MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        raise ConfigurationError(
            "The sandbox needs the extra: pip install 'evergreen-bench[sandbox]'."
        ) from None
    results, most = calls.settings.results, calls.settings.most_query_characters
    said = "Search archived web pages, then fetch those that matter."
    server = MCPServer("evergreen-sandbox", log_level="WARNING", instructions=said)
    logging.getLogger("mcp").setLevel(logging.WARNING)

    def allowed(context: Context[Any, Any]) -> Allowed:
        request = context.request_context.request
        try:
            return calls.allowed(request.query_params.get("assignment") if request else None)
        except UnknownAssignment as error:
            raise ToolError(str(error)) from None

    @server.tool()
    async def search(
        query: Annotated[str, Field(min_length=1, max_length=most)],
        context: Context[Any, Any],
        k: Annotated[int, Field(ge=1, le=results.most)] = results.usual,
    ) -> Results:
        """Search the archived web pages: the best pages, each with the passage that was found."""
        may = allowed(context)
        calls.asked("search", query)
        found = await calls.index.search(query, k, may)
        return Results(query=query, results=[Result(**one.model_dump()) for one in found])

    @server.tool()
    async def fetch(
        url: Annotated[str, Field(min_length=1, max_length=8192)],
        context: Context[Any, Any],
        start: Annotated[int, Field(ge=0, description="For the next part of a long page.")] = 0,
    ) -> FetchedPart:
        """Read an archived page. Of a long one a part; `next_start` leads to the next."""
        may = allowed(context)
        calls.asked("fetch", url)
        try:
            page = await calls.index.document(url, may)
        except NotServed as error:
            raise ToolError(str(error)) from None
        return _part(page, start)

    application = server.streamable_http_app(
        stateless_http=True,
        json_response=True,
        max_request_body_size=MOST_BODY_BYTES,
        host=host,
    )
    for route in application.routes:
        assert isinstance(route, Route)
        # There is no session to end (DELETE), and nothing to say unasked: a GET is a stream that
        # stays open, for as long and as often as anybody likes.
        route.methods = {"POST"}
    return application


def _part(page: Document, start: int) -> FetchedPart:
    end = start + MOST_CHARACTERS
    return FetchedPart(
        **page.model_dump(exclude={"text"}),
        text=page.text[start:end],
        next_start=end if end < len(page.text) else None,
    )
