"""OpenAPI: the routes -> their description, with what each takes of a token and with schemas that say what is so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from scrubjay.surfaces.http.answered import EVERYWHERE, SAID
from scrubjay.surfaces.serve.asked import NEEDED

SCHEMES: Final = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "`scrubjay token create NAME` makes one. On an address of this machine alone none is needed.",
    },
    "header": {
        "type": "apiKey",
        "in": "header",
        "name": "x-scrubjay-token",
        "description": "The same, where Authorization belongs to somebody else.",
    },
}
FAILED: Final = {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}
TAGS: Final = (
    ("recall", "Search, thread, context."),
    ("memories", "What is kept: read, added, changed, forgotten."),
    ("webs", "Concepts and categories."),
    ("store", "What is done to a whole store: sources, models, the night, the audit, moves."),
    ("embeddings", "OpenAI-compatible."),
    ("health", "Whether the process lives, and whether it can answer. No token is needed."),
)


def needs(route: APIRoute) -> str | None:
    """Return the scope that a route takes, None where it takes none."""
    return next((NEEDED[one.call] for one in route.dependant.dependencies if one.call in NEEDED), None)


def complete(app: FastAPI, routers: Sequence[APIRouter]) -> Callable[[], dict[str, Any]]:
    """Return what makes the description, once."""

    def made() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app, routers)
        return app.openapi_schema

    return made


def _described(app: FastAPI, routers: Sequence[APIRouter]) -> dict[str, Any]:
    tags = [{"name": name, "description": about} for name, about in TAGS]
    told = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, tags=tags
    )
    told["components"]["securitySchemes"] = SCHEMES
    for route, operation in operations(routers, told):
        _with_nulls(route, operation)
        scope = needs(route)
        operation["x-scope"] = scope
        operation["security"] = [{name: [scope]} for name in SCHEMES] if scope else []
        if scope is None:
            operation["responses"].pop("422", None)
            continue
        for code in EVERYWHERE:
            operation["responses"].setdefault(str(code), {"description": SAID[code], "content": FAILED})
    for name in ("HTTPValidationError", "ValidationError"):
        told["components"]["schemas"].pop(name, None)
    return told


def _with_nulls(route: APIRoute, operation: dict[str, Any]) -> None:
    """Put a route's examples back as they were: FastAPI drops what is null in them."""
    for code, said in route.responses.items():
        for kind, content in said.get("content", {}).items():
            if "example" in content:
                operation["responses"][str(code)]["content"][kind]["example"] = content["example"]


def operations(
    routers: Sequence[APIRouter], told: dict[str, Any]
) -> Iterator[tuple[APIRoute, dict[str, Any]]]:
    """Yield each route that is described, with its description."""
    for route in (each for router in routers for each in router.routes):
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                yield route, told["paths"][route.path_format][method.lower()]
