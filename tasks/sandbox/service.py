"""The sandbox over HTTP: search and fetch, for programs and, as tools, for models (MCP)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException

from tasks.sandbox import shapes
from tasks.sandbox.calls import Calls, UnknownAssignment
from tasks.sandbox.catalogue import NotServed
from tasks.sandbox.front import front_page
from tasks.sandbox.gate import Gate, OwnName
from tasks.sandbox.tools import tool_application

JSON = "application/json"
Assignment = Annotated[
    str | None, Query(max_length=500, description="What it must not use is left out.")
]
Answers = shapes.GymResults | shapes.Results


REFUSALS: dict[int | str, dict[str, Any]] = {
    401: {"model": shapes.Refusal, "description": "No key, or a wrong one."},
    404: {"model": shapes.Refusal, "description": "Not archived, banned, or later than served."},
    421: {"model": shapes.Refusal, "description": "Not asked for by a name of this machine."},
    422: {"model": shapes.Refusal, "description": "What was asked is not as it must be."},
    429: {"model": shapes.Refusal, "description": "Too often; see Retry-After."},
}


def application(calls: Calls, host: str = "127.0.0.1") -> FastAPI:
    """The service as an ASGI application; `host`: the address it is bound to."""
    tools = tool_application(calls, host)
    served, settings, results = calls.served, calls.settings, calls.settings.results

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with tools.router.lifespan_context(tools):
            yield

    # FastAPI's own pages of documentation load scripts from elsewhere; ours is at /.
    app = FastAPI(title=f"Sandbox: {served.name}", version="1", docs_url=None, redoc_url=None,
                  lifespan=lifespan, responses=REFUSALS,
                  description="Search and fetch over archived web pages.")  # fmt: skip
    app.add_middleware(Gate, keys=served.keys, per_minute=settings.per_minute)
    app.add_middleware(OwnName, host=host)  # the last is the first to look
    _say_errors_in_words(app)

    @app.get("/search", response_model=None, responses={200: {"model": Answers}})
    async def search(
        query: Annotated[str, Query(min_length=1, max_length=settings.most_query_characters)],
        k: Annotated[int, Query(ge=1, le=results.most)] = results.usual,
        form: Annotated[
            Literal["gym", "json"],
            Query(alias="format", description="`gym`: as DeepResearchGym answers."),
        ] = "gym",
        shape: Annotated[
            shapes.Shape, Query(description="Of `gym`: how the parts of a result are spelt.")
        ] = "fineweb",
        assignment: Assignment = None,
    ) -> Response:
        """The best pages for a query, best first."""
        allowed = calls.allowed(assignment)
        calls.asked("search", query)
        found = await calls.index.search(query, k, allowed, texts=form == "gym")
        body = shapes.plain(query, found) if form == "json" else shapes.gym(found, shape)
        return Response(body, media_type=JSON)

    @app.get("/fetch", response_model=None, responses={200: {"model": shapes.FetchedPage}})
    async def fetch(
        url: Annotated[str, Query(min_length=1, max_length=8192)], assignment: Assignment = None
    ) -> Response:
        """A page's archived text."""
        allowed = calls.allowed(assignment)
        calls.asked("fetch", url)
        page = await calls.index.document(url, allowed)
        return Response(shapes.document(page), media_type=JSON)

    @app.get("/health")
    async def health() -> dict[str, Any]:
        """What is served, and how many pages that is for requests that name no assignment."""
        return {"status": "ok", "name": served.name, "pages": calls.n_served,
                "ranking": settings.ranking, "as_of": served.as_of,
                "assignment": served.assignment}  # fmt: skip

    @app.get("/", include_in_schema=False, response_class=HTMLResponse)
    async def front() -> str:
        return front_page(app.openapi())

    app.router.routes.extend(tools.routes)
    return app


def _say_errors_in_words(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        said = "; ".join(f"{problem['loc'][-1]}: {problem['msg']}" for problem in error.errors())
        return JSONResponse({"error": said, "reason": "malformed"}, 422)

    @app.exception_handler(HTTPException)
    async def unanswered(_: Request, error: Exception) -> JSONResponse:
        """There is no such path, or it takes another method."""
        assert isinstance(error, HTTPException)
        said = {"error": error.detail, "reason": "malformed"}
        return JSONResponse(said, error.status_code, error.headers)

    @app.exception_handler(UnknownAssignment)
    async def unknown(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": str(error), "reason": "unknown_assignment"}, 422)

    @app.exception_handler(NotServed)
    async def not_served(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, NotServed)
        return JSONResponse({"error": str(error), "reason": error.reason}, 404)
