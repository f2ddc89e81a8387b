"""The sandbox over HTTP: search and fetch, for programs and, as tools, for models (MCP).

The page at `/` is the API's documentation, rendered from OpenAPI without external resources. The
service runs until Ctrl-C, on a socket that is opened first, so that its URL is known.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from markupsafe import Markup, escape
from starlette.exceptions import HTTPException

from tasks.sandbox import responses
from tasks.sandbox.access import ASKED_PATH, Sandbox, TokenCheck
from tasks.sandbox.catalogue import NotServed
from tasks.sandbox.page import SandboxError
from tasks.sandbox.tokens import Asked, ReaderToken
from tasks.sandbox.tools import create_mcp_app
from tasks.serving.connections import BACKLOG, BoundedServer
from tasks.serving.gate import Gate, OwnNames, serving_names

JSON = "application/json"
AssignmentParameter = Annotated[
    str | None,
    Query(
        max_length=500,
        description="Only checked: what any assignment bans is left out of every result.",
    ),
]
SearchReplies = responses.GymResults | responses.Results
LOOPBACK = serving_names("127.0.0.1")
REFUSALS: dict[int | str, dict[str, Any]] = {
    401: {"model": responses.Refusal, "description": "No token, or one that is not accepted."},
    403: {"model": responses.Refusal, "description": "Asked by a page of another site."},
    404: {"model": responses.Refusal, "description": "Not archived, banned, or later than served."},
    415: {"model": responses.Refusal, "description": "The body is not JSON."},
    421: {"model": responses.Refusal, "description": "Host is not a name of this server."},
    422: {"model": responses.Refusal, "description": "The request is malformed."},
    429: {"model": responses.Refusal, "description": "Too many requests; see Retry-After."},
}
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
code { background: #f2f2f2; padding: .1em .3em }
td { padding: .2em 1em .2em 0; vertical-align: top }
"""
GRACE_SECONDS = 3
"""Time limit for requests in progress at shutdown."""


def create_app(sandbox: Sandbox, names: OwnNames = LOOPBACK) -> FastAPI:
    """Create the service as an ASGI application.

    names: what it may be called; a request by another name is refused.
    """
    tools = create_mcp_app(sandbox)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with tools.router.lifespan_context(tools):
            yield

    # FastAPI's own documentation pages load scripts from other sites; ours is at /.
    app = FastAPI(
        title=f"Sandbox: {sandbox.rules.name}",
        version="1",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=REFUSALS,
        description="Search and fetch over archived web pages.",
    )
    rules = sandbox.rules
    app.add_middleware(
        TokenCheck,
        key=rules.token_key,
        edition=rules.edition,
        per_minute=sandbox.settings.per_minute,
    )
    app.add_middleware(Gate, names=names)  # the last one added runs first
    _add_error_handlers(app)
    _add_calls(app, sandbox)
    app.router.routes.extend(tools.routes)
    return app


def _add_calls(app: FastAPI, sandbox: Sandbox) -> None:
    rules, settings, results = sandbox.rules, sandbox.settings, sandbox.settings.results

    @app.get("/search", response_model=None, responses={200: {"model": SearchReplies}})
    async def search(
        request: Request,
        query: Annotated[str, Query(min_length=1, max_length=settings.most_query_characters)],
        k: Annotated[int, Query(ge=1, le=results.most)] = results.usual,
        form: Annotated[
            Literal["gym", "json"],
            Query(alias="format", description="gym: as DeepResearchGym answers."),
        ] = "gym",
        shape: Annotated[
            responses.GymShape, Query(description="For gym: the names of a result's fields.")
        ] = "fineweb",
        assignment: AssignmentParameter = None,
    ) -> Response:
        """The best pages for a query, best first."""
        found = await sandbox.search(
            query, k, assignment, request.state.token, with_texts=form == "gym"
        )
        if form == "gym":
            return Response(responses.render_gym_results(found, shape), media_type=JSON)
        answer = responses.Results(query=query, results=found)
        return Response(answer.model_dump_json(), media_type=JSON)

    @app.get("/fetch", response_model=None, responses={200: {"model": responses.FetchedPage}})
    async def fetch(
        request: Request,
        url: Annotated[str, Query(min_length=1, max_length=8192)],
        assignment: AssignmentParameter = None,
    ) -> Response:
        """A page's archived text."""
        page = await sandbox.fetch(url, assignment, request.state.token)
        return Response(page.model_dump_json(), media_type=JSON)

    @app.get(ASKED_PATH, include_in_schema=False)
    async def asked(request: Request) -> list[Asked]:
        """What the tokens of a job asked for; the request's own token names the job."""
        token = request.state.token
        return sandbox.read_asked(token.reads) if isinstance(token, ReaderToken) else []

    @app.get("/health")
    async def health() -> dict[str, Any]:
        """How many pages are served, and how many are banned (null without an edition)."""
        return {
            "status": "ok",
            "name": rules.name,
            "pages": sandbox.n_served,
            "banned": sandbox.n_banned,
            "ranking": settings.ranking,
            "as_of": rules.as_of,
        }

    @app.get("/", include_in_schema=False, response_class=HTMLResponse)
    async def front() -> str:
        return render_front_page(app.openapi())


def _add_error_handlers(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        said = (f"{problem['loc'][-1]}: {problem['msg']}" for problem in error.errors())
        problems = "; ".join(said)
        return responses.refuse(problems, "malformed", 422)

    @app.exception_handler(HTTPException)
    async def unanswered(_: Request, error: Exception) -> JSONResponse:
        """Answer an unknown path or a wrong method."""
        assert isinstance(error, HTTPException)
        return responses.refuse(error.detail, "malformed", error.status_code, error.headers)

    @app.exception_handler(NotServed)
    async def not_served(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, NotServed)
        status = 422 if error.reason == "unknown_assignment" else 404
        return responses.refuse(str(error), error.reason, status)


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
    if parameter["required"]:
        sentences.append("Required.")
    elif schema.get("default") is not None:
        sentences.append(f"Usually {schema['default']}.")
    return str(escape(" ".join(part for part in sentences if part)))


def open_socket(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 chooses a free port.

    Raises:
        SandboxError: the port is in use, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off Nagle's delay of 40 ms only if the protocol is given as TCP.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise SandboxError(
            f"Cannot listen on {host}:{port} ({error.strerror or error}). Choose another --port "
            "or --host."
        ) from None
    return listening


def server_url(listening: socket.socket) -> str:
    """Return the server's URL for this machine."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class NotifyingServer(BoundedServer):
    """A server that calls `ready` once it accepts requests."""

    def __init__(self, app: FastAPI, ready: Callable[[], None]) -> None:
        super().__init__(
            app,
            access_log=False,  # it would contain the queries
            proxy_headers=False,  # any client could claim another's address
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        logging.getLogger("uvicorn.error").addFilter(_is_worth_logging)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Filter out requests that were cancelled at shutdown because their clients were slow."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


async def serve(app: FastAPI, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM. `ready` is called once requests are accepted."""
    await NotifyingServer(app, ready).serve(sockets=[listening])
