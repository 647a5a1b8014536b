"""Page rendering: templates, static files, forms, error pages, and the formatting of values and lists.

Memories, paths and queries are text: Jinja escapes them, and each page's policy allows only this server's scripts and
styles.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from datetime import datetime, tzinfo
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from scrubjay.api.auth import Principal
from scrubjay.errors import ForbiddenError, InputError, NotFoundError, ScrubjayError
from scrubjay.frozen import frozen
from scrubjay.models.dates import iso_seconds, local_day, record_date
from scrubjay.models.records import Record
from scrubjay.models.results import WEAK_RELEVANCE, record_citation
from scrubjay.models.views import TimelinePage
from scrubjay.server.auth import SAFE_METHODS, TOKEN_HASH_KEY, is_same_origin
from scrubjay.server.middleware import PRINCIPAL_KEY, route_path
from scrubjay.server.requests import http_status, log_error
from scrubjay.server.viewer.markdown import plain_text, split_front_matter
from scrubjay.text.display import excerpt
from scrubjay.text.language import detect_language, function_words
from scrubjay.text.snippets import find_highlights
from scrubjay.text.summaries import abstract_of
from scrubjay.text.tokenizer import query_groups

Item = TypeVar("Item")
PageNumber = Annotated[int, Query(alias="page", ge=1, le=100_000)]

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def format_count(count: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> format_count(1, "memory", "memories"), format_count(12000, "memory", "memories"), format_count(0, "source")
    ('1 memory', '12,000 memories', '0 sources')
    """
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def format_day(text: str, zone: tzinfo | None = None) -> str:
    """Return an ISO date of any precision as people write it, a time in a zone; other text unchanged.

    >>> from datetime import UTC
    >>> (
    ...     format_day("2026-03-01T10:05:00+00:00", UTC), format_day("2026-03-01"), format_day("2026-03"),
    ...     format_day("2026"), format_day("soon")
    ... )
    ('1 March 2026, 10:05 UTC', '1 March 2026', 'March 2026', '2026', 'soon')
    """
    try:
        if len(text) == len("2026-03"):
            return f"{MONTHS[int(text[5:]) - 1]} {int(text[:4])}"
        if len(text) == len("2026-03-01"):
            moment = datetime.fromisoformat(text)
            return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"
        moment = datetime.fromisoformat(text)
    except (ValueError, IndexError):
        return text
    if moment.tzinfo is None:
        return text
    moment = moment.astimezone(zone)
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}, {moment:%H:%M %Z}"


def time_element(text: str, *, clock: bool = False) -> Markup:
    """Return a date or time as an element; a script writes times in the browser's zone.

    With ``clock`` only the time of day is shown, since the day stands beside it.

    >>> time_element("2026-03")
    Markup('<time datetime="2026-03">March 2026</time>')
    """
    if "T" not in text:
        return Markup('<time datetime="{0}">{1}</time>').format(text, format_day(text))
    day = format_day(text)
    words = day.rpartition(", ")[2] if clock else day
    mark = Markup(' data-day="{}"').format(local_day(text)) if clock else ""
    return Markup('<time datetime="{0}" title="{0}"{2}>{1}</time>').format(text, words, mark)


LIKELIHOODS: Final = (
    (0.7, "very likely to answer"),
    (0.4, "likely to answer"),
    (WEAK_RELEVANCE, "may answer"),
)


def likelihood(relevance: float) -> str:
    """Return how likely a result answers, in words.

    >>> [likelihood(relevance) for relevance in (0.9, 0.4, 0.2, 0.01)]
    ['very likely to answer', 'likely to answer', 'may answer', 'weak match']
    """
    return next((words for threshold, words in LIKELIHOODS if relevance >= threshold), "weak match")


ROLES: Final = {"user": "You", "assistant": "Assistant", "tool": "Tool", "system": "System"}


def speaker(role: str | None) -> str:
    """Return who said a turn.

    >>> speaker("user"), speaker("Mara"), speaker(None)
    ('You', 'Mara', 'Turn')
    """
    return ROLES.get(role or "", role or "Turn")


KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "observation": ("passage or turn", "passages and turns"),
    "facet": ("trait of a person or thing", "traits of people and things"),
    "semantic": ("fact", "facts"),
    "lesson": ("lesson", "lessons"),
    "procedural": ("procedure", "procedures"),
    "insight": ("insight", "insights"),
    "crystal": ("digest", "digests"),
}
"""Tiers in plain words: one, and several."""


def format_number(number: float) -> str:
    """Return a number as a table shows it.

    >>> format_number(1.0), format_number(0.123456), format_number(-2.5)
    ('1', '0.123', '-2.5')
    """
    return f"{number:.3f}".rstrip("0").rstrip(".") or "0"


def iso_time(micros: int | None) -> str:
    return "" if micros is None else iso_seconds(micros)


def page_of(items: Sequence[Item], number: int, size: int) -> dict[str, Any]:
    end = number * size
    return {"entries": items[end - size : end], "number": number, "more": len(items) > end}


STATIC_FOLDER: Final = Path(__file__).with_name("static")
CONTENT_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

assets_router = APIRouter(include_in_schema=False)


@cache
def _load_assets() -> dict[str, tuple[bytes, str, str]]:
    assets = {}
    for file in sorted(STATIC_FOLDER.iterdir()):
        if file.suffix in CONTENT_TYPES:
            data = file.read_bytes()
            assets[file.name] = data, CONTENT_TYPES[file.suffix], hashlib.sha256(data).hexdigest()[:12]
    return assets


def asset_url(name: str) -> str:
    """Return the URL of a file; it changes with the content, because browsers cache it forever."""
    return f"/assets/{name}?v={_load_assets()[name][2]}"


@assets_router.get("/assets/{name}")
def asset(name: str) -> Response:
    if name not in _load_assets():
        raise NotFoundError(f"No such file: {name!r:.80}.")
    data, kind, _ = _load_assets()[name]
    headers = {
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
        "content-security-policy": "default-src 'none'",
    }
    return Response(data, headers=headers, media_type=kind)


@assets_router.get("/favicon.ico")
def favicon() -> Response:
    """Return the icon to those who do not read the page's link to it."""
    return asset("icon.svg")


HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not no-referrer: browsers would then send `Origin: null` with our own forms, which are refused.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every page: nothing from other sites, no frames, no caching."""
MAX_FIELDS: Final = 100
ERROR_TITLES: Final = {403: "Not allowed", 404: "Not found", 422: "Not possible", 503: "Not now"}


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "few": excerpt,
        "likelihood": likelihood,
        "plain": plain_text,
        "speaker": speaker,
        "tidy": format_number,
        "iso": iso_time,
    }
    environment.globals |= {
        "asset": asset_url,
        "day": format_day,
        "kinds": KINDS,
        "named": format_count,
        "query": url_with_query,
        "when": time_element,
    }
    return environment


def url_with_query(base: str, parameters: Mapping[str, Any], **changes: Any) -> str:
    """Return a path with query parameters; empty ones are left out.

    >>> url_with_query("/", {"tier": ["facet", "lesson"], "page": 1}, page=2, tag="")
    '/?tier=facet&tier=lesson&page=2'
    """
    pairs = [
        (name, item)
        for name, value in {**parameters, **changes}.items()
        for item in (value if isinstance(value, list | tuple) else [value])
        if item not in ("", None)
    ]
    return f"{base}?{urlencode(pairs)}" if pairs else base


def render_page(request: Request, template: str, code: int = 200, /, **values: Any) -> HTMLResponse:
    who: Principal | None = request.scope.get(PRINCIPAL_KEY)
    page = _templates().get_template(f"{template}.html")
    html = page.render(
        who=who,
        writes=who is not None and "write" in who.scopes,
        owns=who is not None and request.app.state.session.is_owner(who),
        leaves=TOKEN_HASH_KEY in request.scope,
        path=route_path(request.scope),
        under=request.scope.get("root_path", ""),
        **values,
    )
    return HTMLResponse(html, code, HEADERS)


def redirect(location: str) -> RedirectResponse:
    """Redirect after a form; `PageRoute` adds the root path."""
    return RedirectResponse(location, 303, HEADERS)


def local_path(then: str) -> str:
    r"""Return a path of this server, ``/`` for anything else.

    >>> paths = ("/timeline?page=2", "//evil.example", "/\\evil.example", "https://evil.example", "")
    >>> [local_path(path) for path in paths]
    ['/timeline?page=2', '/', '/', '/', '/']
    """
    local = then.startswith("/") and not then.startswith("//") and "\\" not in then
    return then if local and then.isprintable() else "/"


class PageRoute(APIRoute):
    """A route whose errors are pages, and whose forms must come from this server's pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                if request.method not in SAFE_METHODS and not _is_from_own_page(request):
                    raise ForbiddenError("Cross-site form rejected. Nothing was done.")
                response = await handler(request)
                if "location" in response.headers:
                    root_path = request.scope.get("root_path", "")
                    response.headers["location"] = root_path + response.headers["location"]
                return response
            except ScrubjayError as error:
                code = http_status(error)
                if code >= 500:
                    log_error(request, "viewer", error)
                title = ERROR_TITLES.get(code, "Error")
                public = request.app.state.session.public_error(error, request.scope.get(PRINCIPAL_KEY))
                return render_page(request, "error", code, title=title, error=public)

        return handle


async def _parse_form(request: Request) -> dict[str, str]:
    """Return the fields of a form, of repeated ones the first."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise InputError("The request body is not a form. Nothing was done.")
    try:
        text = (await request.body()).decode("utf-8")
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError as error:
        raise InputError(f"The request body is not a form: {error}. Nothing was done.") from error
    fields: dict[str, str] = {}
    for name, value in pairs:
        fields.setdefault(name, value)
    return fields


FormFields = Annotated[dict[str, str], Depends(_parse_form)]


def _is_from_own_page(request: Request) -> bool:
    from_browser = "origin" in request.headers or "sec-fetch-site" in request.headers
    return is_same_origin(request.headers) or not from_browser


_HEADINGS: Final = re.compile(r"\A(?:\s*#{1,6}[ \t][^\n]*\n?)+")
"""Headings at the beginning of a passage, which its title repeats."""


@frozen
class MemoryRow:
    """One line of a list: the memory, how its text begins, its ISO date (may be empty), and its citation."""

    record: Record
    title: str
    text: str
    date: str
    where: str


def without_headings(text: str) -> str:
    r"""Return a text without the headings it begins with; a text of headings alone unchanged.

    >>> (
    ...     without_headings("# Berth\n\n## Costs\n\nForty euros."), without_headings("# Berth"),
    ...     without_headings("…forty # euros")
    ... )
    ('Forty euros.', '# Berth', '…forty # euros')
    """
    return _HEADINGS.sub("", text).lstrip() or text


def memory_row(record: Record, path: str | None) -> MemoryRow:
    abstract = abstract_of(record.title, record.content, record.heading_path)
    text = excerpt(abstract or plain_text(without_headings(split_front_matter(record.content)[1])))
    return MemoryRow(record, record.title, text, record_date(record) or "", record_citation(record, path))


def memory_rows(page: TimelinePage) -> list[MemoryRow]:
    return [memory_row(record, page.paths.get(record.id)) for record in page.memories]


@frozen
class ConversationRows:
    """Turns of one conversation in a list of memories, in the order in which they were said."""

    session: str
    rows: list[MemoryRow]

    @property
    def date(self) -> str:
        return self.rows[-1].date


def group_conversations(rows: Sequence[MemoryRow]) -> list[MemoryRow | ConversationRows]:
    """Return a list, newest first, with the turns of a conversation together where its latest is."""
    entries: list[MemoryRow | ConversationRows] = []
    groups: dict[str, ConversationRows] = {}
    for row in rows:
        session = row.record.session
        if session is None or row.record.turn is None:
            entries.append(row)
        elif session in groups:
            groups[session].rows.append(row)
        else:
            groups[session] = ConversationRows(session, [row])
            entries.append(groups[session])
    for group in groups.values():
        group.rows.sort(key=lambda row: (row.record.turn or 0, row.record.id))
    return entries


HighlightedText = list[tuple[str, bool]]


def highlight(snippet: str, query: str, matched: Collection[str]) -> HighlightedText:
    """Return a snippet's pieces, each with whether it is marked.

    ``matched`` are the query words that contributed to the score. Function words (the, of) are marked only if nothing
    else is.

    >>> highlight("The jay hides acorns.", "where are the acorns?", ["acorns"])
    [('The jay hides ', False), ('acorns', True), ('.', False)]
    """
    language = detect_language(snippet)
    common = function_words(language)
    groups = [group for group in query_groups(query, (language,)) if group.word in matched]
    groups = [group for group in groups if group.word not in common] or groups
    pieces: HighlightedText = []
    end = 0
    for start, stop in find_highlights(snippet, groups, language=language):
        pieces += [(snippet[end:start], False), (snippet[start:stop], True)]
        end = stop
    return [piece for piece in (*pieces, (snippet[end:], False)) if piece[0]]
