"""Page: a template and what it shows -> HTML that runs nothing but our own scripts; errors as pages, forms as fields.

Whatever a memory, a path or a query holds is text: Jinja escapes it, and the policy sent with each page lets a browser
run no script and use no style but those that are files of this server.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from scrubjay.errors import ForbiddenError, InputError, ScrubjayError
from scrubjay.surfaces.serve.asked import session
from scrubjay.surfaces.serve.gate import PRINCIPAL, TOKEN
from scrubjay.surfaces.serve.prefix import inner
from scrubjay.surfaces.serve.problems import logged, status
from scrubjay.surfaces.serve.session import Session
from scrubjay.surfaces.serve.tokenless import SAFE
from scrubjay.surfaces.viewer.assets import address
from scrubjay.surfaces.viewer.words import day, few, named, tidy
from scrubjay.verbs.tokens import Principal

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not no-referrer: a browser would then send `Origin: null` with our own forms, which the gate refuses.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""What is sent with every page: nothing from elsewhere, in no frame, kept by no cache."""
MOST_FIELDS: Final = 100
TITLES: Final = {403: "Not allowed", 404: "Not there", 422: "This cannot be", 503: "Not now"}


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["day"], made.filters["few"], made.filters["tidy"] = day, few, tidy
    made.globals |= {"asset": address, "named": named, "query": query}
    return made


def query(base: str, given: Mapping[str, Any], **changes: Any) -> str:
    """Return a path with fields behind it; empty ones are left out.

    >>> query("/", {"tier": ["facet", "lesson"], "page": 1}, page=2, tag="")
    '/?tier=facet&tier=lesson&page=2'
    """
    pairs = [
        (name, each)
        for name, value in {**given, **changes}.items()
        for each in (value if isinstance(value, list | tuple) else [value])
        if each not in ("", None)
    ]
    return f"{base}?{urlencode(pairs)}" if pairs else base


def page(request: Request, template: str, code: int = 200, /, **shown: Any) -> HTMLResponse:
    """Return a page.

    Args:
        request: Who asks, and for what.
        template: Name of a file in ``templates``, without its ending.
        code: HTTP status.
        shown: What the template shows.
    """
    who: Principal | None = request.scope.get(PRINCIPAL)
    scopes = who.scopes if who is not None else ()
    text = (
        _templates()
        .get_template(f"{template}.html")
        .render(
            who=who,
            writes="write" in scopes,
            leaves=TOKEN in request.scope,
            path=inner(request.scope),
            under=request.scope.get("root_path", ""),
            **shown,
        )
    )
    return HTMLResponse(text, code, HEADERS)


def seen(location: str) -> RedirectResponse:
    """Send a browser on to a path of this server after a form was taken; `Page` puts the prefix before it."""
    return RedirectResponse(location, 303, HEADERS)


class Page(APIRoute):
    """A route whose errors are pages, and whose forms come from pages of this very server."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler around the usual one."""
        usual = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                if request.method not in SAFE and not _of_ours(request):
                    raise ForbiddenError("The form comes from a page of another site. Nothing was done.")
                answer = await usual(request)
                if "location" in answer.headers:
                    answer.headers["location"] = (
                        request.scope.get("root_path", "") + answer.headers["location"]
                    )
                return answer
            except ScrubjayError as error:
                code = status(error)
                if code >= 500:
                    logged(request, "viewer", error)
                title = TITLES.get(code, "This went wrong")
                return page(request, "error", code, title=title, error=error)

        return handled


async def _fields(request: Request) -> dict[str, list[str]]:
    """Return the fields of a form, each with all of its values, line ends as they came.

    Raises:
        InputError: It is no form.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise InputError("What was sent is no form. Nothing was done.")
    try:
        text = (await request.body()).decode("utf-8")
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise InputError(f"What was sent is no form: {error}. Nothing was done.") from error
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


Fields = Annotated[dict[str, list[str]], Depends(_fields)]
Working = Annotated[Session, Depends(session)]


def first(fields: Mapping[str, list[str]], name: str) -> str:
    """Return a field's first value, empty where it was not sent."""
    return fields.get(name, [""])[0]


def _of_ours(request: Request) -> bool:
    """Tell whether a request comes from a page of this server, or from no browser."""
    fetched = request.headers.get("sec-fetch-site")
    if fetched is not None:
        return fetched == "same-origin"
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host", "")
