"""The sandbox over HTTP: search and fetch, for programs and, as tools, for models (MCP)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException

from tasks.sandbox import responses
from tasks.sandbox.access import Sandbox
from tasks.sandbox.asked import Asked
from tasks.sandbox.catalogue import NotServed
from tasks.sandbox.front_page import render_front_page
from tasks.sandbox.middleware import ASKED_PATH, TokenCheck
from tasks.sandbox.tokens import ReaderToken
from tasks.sandbox.tools import create_mcp_app
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
        problems = "; ".join(
            f"{problem['loc'][-1]}: {problem['msg']}" for problem in error.errors()
        )
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
