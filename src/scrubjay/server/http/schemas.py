"""Request and response schemas, and the OpenAPI document built from them.

The docstrings of `Memory`'s methods and of the result classes describe the fields. Response models only document;
tests validate responses against them.
"""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, partial
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from scrubjay.api import serializers
from scrubjay.api.tools import MAX_INTEGER, MAX_ITEMS, is_path
from scrubjay.models import lifecycle, records, reports, results, views
from scrubjay.models.options import Option, options_of
from scrubjay.server.auth import TOKEN_NEEDED
from scrubjay.server.requests import REQUIRED_SCOPES, UNEXPECTED_ERROR

_DOC_SECTION: Final = re.compile(r"^(?:Args|Attributes):\n((?:[ ]{4}.*\n|\n)*)", re.MULTILINE)
_DOC_ITEM: Final = re.compile(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", re.MULTILINE)

Model = TypeVar("Model", bound=BaseModel)


class RequestModel(BaseModel, extra="forbid", strict=True, allow_inf_nan=False):
    """A JSON body: unknown fields and wrong types are rejected. In a URL numbers come as text: ``strict=False``."""

    def given(self) -> dict[str, Any]:
        """Return the fields that were sent."""
        return self.model_dump(exclude_unset=True)


def _not_a_path(project: str) -> str:
    if is_path(project):
        raise ValueError("paths are not resolved on the server; give the project's name")
    return project


def enum(values: Iterable[str], description: str | None = None) -> Any:
    """Document the values of a text field, which `Memory` validates."""
    return Field(json_schema_extra={"enum": list(values)}, description=description)


Strings = Annotated[list[str], Field(max_length=MAX_ITEMS)]
Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Project = Annotated[str, AfterValidator(_not_a_path)]
Fraction = Annotated[float, Field(ge=0, le=1)]
OptionalDate = str | None
Ids = Annotated[list[str], Field(min_length=1, max_length=MAX_ITEMS)]
Visibility = Literal["user", "group", "public"]
Status = Annotated[str, enum(records.STATUSES)]


def argument_docs(documented: object) -> dict[str, str]:
    """Return the description of each argument or attribute in a docstring.

    >>> from scrubjay.memory import Memory
    >>> argument_docs(Memory.search)["limit"]
    'Maximum number of results.'
    """
    section = _DOC_SECTION.search((inspect.getdoc(documented) or "") + "\n")
    items = _DOC_ITEM.findall(section[1]) if section else []
    return {name: _plain_text(text) for name, text in items}


def _plain_text(text: str) -> str:
    plain = re.sub(r"\bNone\b", "null", " ".join(text.split()).replace("``", "`"))
    return plain.rstrip(", and").rstrip() if plain.endswith((",", ", and")) else plain


def document_fields(*documented: object) -> Callable[[type[Model]], type[Model]]:
    """Describe the fields of a request model by the docstrings of these functions or classes; the first one wins."""
    docs: dict[str, str] = {}
    for source in reversed(documented):
        docs |= argument_docs(source)

    def describe(model: type[Model]) -> type[Model]:
        for name, field in model.model_fields.items():
            if field.description is None:
                field.description = docs.get(name)
        model.model_rebuild(force=True)
        return model

    return describe


def declared_fields(
    kind: type,
    method: Callable[..., object],
    *documented: object,
    without: tuple[str, ...] = (),
    descriptions: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[type[Model]], type[Model]]:
    """Give a form the options that a class declares, as far as the method takes them and in its order.

    The form's own fields stay. Fields are described by ``descriptions``, else as in `document_fields`.
    """

    def extend(form: type[Model]) -> type[Model]:
        options = {option.name: option for option in options_of(kind)}
        fields: dict[str, Any] = {
            name: _form_field(options[name], descriptions.get(name))
            for name in inspect.signature(method).parameters
            if name in options and name not in without and name not in form.model_fields
        }
        model = create_model(
            form.__name__, __base__=form, __module__=form.__module__, __doc__=form.__doc__, **fields
        )
        return document_fields(*documented)(model)

    return extend


def _form_field(option: Option, description: str | None) -> tuple[Any, Any]:
    minimum, maximum = option.bounds or (None, None)
    if minimum is not None and maximum is None:
        maximum = MAX_INTEGER
    enum: dict[str, Any] = {"enum": list(option.choices)}
    annotation: Any
    if option.several and option.default is None:
        examples: dict[str, Any] = {"examples": [list(option.choices)]}
        annotation = Annotated[Strings, Field(json_schema_extra=examples)] if option.choices else Strings
    elif option.several:
        item: Any = Project if option.project else str
        item = Annotated[item, Field(json_schema_extra=enum)] if option.choices else item
        annotation = Annotated[list[item], Field(max_length=MAX_ITEMS)]
    elif option.kind.startswith(("int", "float")):
        number: Any = int if option.kind == "int" else float
        annotation = Annotated[number, Field(ge=minimum, le=maximum)]
        annotation = annotation | Literal[option.choices] if option.choices else annotation
    elif option.kind == "bool":
        annotation = bool
    else:
        annotation = Project if option.project else str
        annotation = Annotated[annotation, Field(json_schema_extra=enum)] if option.choices else annotation
    default = list(option.default) if isinstance(option.default, tuple) else option.default
    annotation = annotation if default is not None else annotation | None
    return annotation, Field(default, description=description)


CLOSED_CONFIG: Final = ConfigDict(extra="forbid")
_TYPES_BY_NAME: Final[dict[str, Any]] = {
    name: value
    for module in (lifecycle, records, reports, results, views)
    for name, value in vars(module).items()
    if isinstance(value, type)
}
"""Types that result classes import for type checking only."""

EXAMPLE_VALUES: Final[Mapping[str, Any]] = {
    "id": "obs_4f0c9a1be27d6f35",
    "ids": ["obs_4f0c9a1be27d6f35"],
    "tier": "observation",
    "title": "Engine",
    "snippet": "The engine is a Volvo D1-30.",
    "content": "The engine is a Volvo D1-30.",
    "date": "2026-03-01",
    "recorded_at": "2026-03-01T09:30:00+00:00",
    "citation": "/srv/notes/boats.md:7-9",
    "path": "/srv/notes/boats.md",
    "root": "/srv/notes",
    "line_start": 7,
    "line_end": 9,
    "score": 0.812344,
    "relevance": 0.93,
    "status": "active",
    "origin": "owner",
    "confidence": 1.0,
    "weight": 1.0,
    "name": "Volvo",
    "kind": "links",
    "direction": "to",
    "model": "bge-small-en-v1.5",
    "at": "2026-03-01T09:30:00+00:00",
    "memories": 12,
    "text": "<scrubjay-memories>…</scrubjay-memories>",
    "run": "run_3f1c",
}
"""Example of a field by name, if its type fits."""


@cache
def model_of(
    kind: type,
    name: str = "",
    *,
    without: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    plus: tuple[tuple[str, Any], ...] = (),
) -> type[BaseModel]:
    """Return a model of a dataclass as `serializers.to_plain` writes it.

    Without a ``name`` it has the class's, with "Concept" for "Entity"; fields of ``plus`` are added or replace others.
    """
    assert is_dataclass(kind)
    docs, added = argument_docs(kind), dict(plus)
    hints = typing.get_type_hints(kind, localns=_TYPES_BY_NAME)
    types = {
        item.name: _schema_type(hints[item.name])
        for item in fields(kind)
        if item.name not in without and item.name not in added
    }
    schema: dict[str, Any] = {}
    for field, hint in (types | added).items():
        default = None if field in optional else ...
        info = Field(default, description=docs.get(field), json_schema_extra=_drop_default)
        schema[field] = (hint, info)
    model: type[BaseModel] = create_model(
        name or kind.__name__.replace("Entity", "Concept"),
        __config__=CLOSED_CONFIG,
        __doc__=(kind.__doc__ or "").split("\n")[0],
        **schema,
    )
    return model


def _drop_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


def _schema_type(hint: Any) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return model_of(hint)
    if origin in (Union, UnionType):
        return Union[tuple(_schema_type(part) for part in inner)]  # noqa: UP007 of types that are known at run time
    if origin is tuple and inner[-1] is Ellipsis:
        return list[_schema_type(inner[0])]  # type: ignore[misc]
    if origin is tuple:
        return list[Union[tuple(_schema_type(part) for part in inner)]]  # type: ignore[misc]  # noqa: UP007
    if origin is not None and issubclass(origin, Mapping):
        return dict[str, _schema_type(inner[1])]  # type: ignore[misc]
    return hint


def object_model(name: str, about: str, **fields_: Any) -> type[BaseModel]:
    schema = {field: (hint, ...) for field, hint in fields_.items()}
    model: type[BaseModel] = create_model(name, __config__=CLOSED_CONFIG, __doc__=about, **schema)  # type: ignore[call-overload]
    return model


def example_of(kind: Any, name: str = "") -> Any:
    """Return an example of a model or a field's type.

    >>> example_of(model_of(reports.FileError))
    {'path': '/srv/notes/boats.md', 'message': 'text', 'hint': 'text'}
    """
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: example_of(field.annotation, name) for name, field in kind.model_fields.items()}
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if name in EXAMPLE_VALUES and type(EXAMPLE_VALUES[name]) in inner:
            return EXAMPLE_VALUES[name]
        return None if NoneType in inner else example_of(inner[0], name)
    if origin is list:
        nested = isinstance(inner[0], type) and issubclass(inner[0], BaseModel)
        return [example_of(inner[0])] if nested else EXAMPLE_VALUES.get(name, []) if name == "ids" else []
    if origin is dict:
        return {}
    default = {str: "text", int: 1, float: 0.5, bool: False}.get(kind)
    example = EXAMPLE_VALUES.get(name, default)
    return example if kind is Any or type(example) is kind else default


def list_of(item: Any) -> Any:
    """Return the type of a list of a model that is made at run time."""
    return list[item]


Problem: Final = object_model("Problem", "An error.", type=str, message=str, hint=str, exit_code=int)
Failure: Final = object_model("Failure", "The body of every error.", error=Problem)

ERROR_DESCRIPTIONS: Final[Mapping[int, str]] = {
    400: "The body is not valid JSON.",
    401: TOKEN_NEEDED,
    403: "The token lacks the required scope, or the request is cross-site.",
    404: "Not found, or not visible to the caller.",
    405: "Method not allowed.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    421: "Without a token, the Host header must name this machine.",
    422: "Invalid request.",
    500: str(UNEXPECTED_ERROR),
    502: "A model or a remote service failed.",
    503: "The store is unavailable or too many requests are waiting; Retry-After is set if a retry makes sense.",
    507: "The [quota] of the user or tenant is reached; nothing was written.",
}
COMMON_ERRORS: Final = (400, 401, 403, 408, 413, 421, 422, 500, 502, 503, 507)
"""Errors of every route."""


class CompactJSONResponse(JSONResponse):
    def render(self, content: Any) -> bytes:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


async def plain_json(result: Awaitable[Any]) -> CompactJSONResponse:
    return CompactJSONResponse(serializers.to_plain(await result))


def describe_responses(
    model: Any, about: str, *more: int, status: int = 200
) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of a route, without `COMMON_ERRORS`.

    ``model`` is a model or a dataclass, ``more`` are errors that not every route has.
    """
    return {status: describe_response(model, about), **{code: {"description": ""} for code in more}}


def describe_response(kind: Any, about: str) -> dict[str, Any]:
    model = kind if issubclass(kind, BaseModel) else model_of(kind)
    return {
        "model": model,
        "description": about,
        "content": {"application/json": {"example": example_of(model)}},
    }


def _error_response(code: int) -> dict[str, Any]:
    """Return the shared description of an error, so that clients made from the document have one type for it."""
    error = {"type": "InputError", "message": ERROR_DESCRIPTIONS[code], "hint": "", "exit_code": 2}
    schema = {"$ref": "#/components/schemas/Failure"}
    return {
        "description": ERROR_DESCRIPTIONS[code],
        "content": {"application/json": {"schema": schema, "example": {"error": error}}},
    }


SECURITY_SCHEMES: Final = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "Created by `scrubjay token create NAME`. Not needed on a loopback address without tokens.",
    },
    "header": {
        "type": "apiKey",
        "in": "header",
        "name": "x-scrubjay-token",
        "description": "The same token, if Authorization is used by something else.",
    },
}
TAGS: Final = (
    ("recall", "Search, thread, context."),
    ("memories", "Read, add, change and forget memories."),
    ("concepts", "Concepts and categories."),
    ("store", "Whole-store operations: sources, models, consolidation, audit, import and export."),
    ("embeddings", "OpenAI-compatible."),
    ("health", "Liveness and readiness. No token is needed."),
)


def required_scope(route: APIRoute) -> str | None:
    return next(
        (REQUIRED_SCOPES[need.call] for need in route.dependant.dependencies if need.call in REQUIRED_SCOPES),
        None,
    )


def openapi_builder(app: FastAPI, routers: Sequence[APIRouter]) -> Callable[[], dict[str, Any]]:
    return cache(partial(_build_openapi, app, routers))


def _build_openapi(app: FastAPI, routers: Sequence[APIRouter]) -> dict[str, Any]:
    tags = [{"name": name, "description": about} for name, about in TAGS]
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, tags=tags
    )
    document["components"]["securitySchemes"] = SECURITY_SCHEMES
    document["components"]["responses"] = {
        f"Error{code}": _error_response(code) for code in ERROR_DESCRIPTIONS
    }
    for route, operation in documented_operations(routers, document):
        _restore_examples(route, operation)
        scope = required_scope(route)
        operation["x-scope"] = scope
        operation["security"] = [{name: [scope]} for name in SECURITY_SCHEMES] if scope else []
        responses = operation["responses"]
        if scope is None:
            responses.pop("422", None)
        else:
            responses |= {str(code): None for code in COMMON_ERRORS}
        operation["responses"] = {
            code: responses[code] if code < "400" else {"$ref": f"#/components/responses/Error{code}"}
            for code in sorted(responses)
        }
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)
    _drop_titles(document)
    return document


def _drop_titles(document: dict[str, Any]) -> None:
    """Drop the titles that pydantic makes of the names of fields."""
    for schema in document["components"]["schemas"].values():
        for field in schema.get("properties", {}).values():
            field.pop("title", None)
    for operation in (operation for methods in document["paths"].values() for operation in methods.values()):
        for parameter in operation.get("parameters", ()):
            parameter["schema"].pop("title", None)


def _restore_examples(route: APIRoute, operation: dict[str, Any]) -> None:
    """FastAPI drops nulls from examples."""
    for code, response in route.responses.items():
        for kind, content in response.get("content", {}).items():
            if "example" in content:
                operation["responses"][str(code)]["content"][kind]["example"] = content["example"]


def documented_operations(
    routers: Sequence[APIRouter], document: dict[str, Any]
) -> Iterator[tuple[APIRoute, dict[str, Any]]]:
    for route in (route for router in routers for route in router.routes):
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                yield route, document["paths"][route.path_format][method.lower()]
