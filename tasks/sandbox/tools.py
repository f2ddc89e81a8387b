"""Search and fetch as tools of the Model Context Protocol (MCP) at /mcp, for models.

The tools take no assignment: nobody gets what any assignment of the edition bans. The URL may
contain `?assignment=…`, which is only checked: an unknown one is refused.
"""

import logging
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from starlette.applications import Starlette
from starlette.routing import Route

from tasks.configuration.errors import ConfigurationError
from tasks.sandbox.access import Sandbox
from tasks.sandbox.catalogue import NotServed
from tasks.sandbox.responses import FetchedPage, FetchedPart, Results
from tasks.sandbox.tokens import SandboxToken

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

MAX_BODY_BYTES = 1 << 20
MAX_CHARACTERS = 40_000
"""How much of a page one answer holds."""


def create_mcp_app(sandbox: Sandbox) -> Starlette:
    """Create a stateless application with the one path /mcp.

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
    instructions = "Search archived web pages, then fetch those that matter."
    server = MCPServer("evergreen-sandbox", log_level="WARNING", instructions=instructions)
    logging.getLogger("mcp").setLevel(logging.WARNING)
    results, most = sandbox.settings.results, sandbox.settings.most_query_characters

    def find_request(context: Context[Any, Any]) -> tuple[str | None, SandboxToken | None]:
        """The assignment and the token of a call."""
        request = context.request_context.request
        assert request, "every call comes over HTTP"
        return request.query_params.get("assignment"), request.state.token

    @server.tool()
    async def search(
        query: Annotated[str, Field(min_length=1, max_length=most)],
        context: Context[Any, Any],
        k: Annotated[int, Field(ge=1, le=results.most)] = results.usual,
    ) -> Results:
        """Search the archived web pages: the best pages, each with the passage that was found."""
        try:
            found = await sandbox.search(query, k, *find_request(context))
        except NotServed as error:
            raise ToolError(str(error)) from None
        return Results(query=query, results=found)

    @server.tool()
    async def fetch(
        url: Annotated[str, Field(min_length=1, max_length=8192)],
        context: Context[Any, Any],
        start: Annotated[int, Field(ge=0, description="For the next part of a long page.")] = 0,
    ) -> FetchedPart:
        """Read an archived page. Of a long one a part; `next_start` leads to the next."""
        try:
            page = await sandbox.fetch(url, *find_request(context))
        except NotServed as error:
            raise ToolError(str(error)) from None
        return _cut_part(page, start)

    return _create_application(server)


def _create_application(server: "MCPServer[Any]") -> Starlette:
    from mcp.server.transport_security import TransportSecuritySettings

    application = server.streamable_http_app(
        stateless_http=True,
        json_response=True,
        max_request_body_size=MAX_BODY_BYTES,
        # `Gate` checks Host and Origin; the SDK does not know the server's names.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    for route in application.routes:
        assert isinstance(route, Route)
        # There is no session to end (DELETE) and nothing to push: a GET would only hold a stream
        # open.
        route.methods = {"POST"}
    return application


def _cut_part(page: FetchedPage, start: int) -> FetchedPart:
    end = start + MAX_CHARACTERS
    return FetchedPart(
        **page.model_dump(exclude={"text"}),
        text=page.text[start:end],
        next_start=end if end < len(page.text) else None,
    )
