"""What Python can ask of search, thread and context can be asked everywhere, but for what is listed here with why.

The options of search and thread are declared in search/request.py; the daemon takes each of them: tests/daemon.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import click
import pytest
from pydantic import BaseModel

from scrubjay import AsyncMemory, Memory
from scrubjay.api.tools import find_tool
from scrubjay.cli.memories import add
from scrubjay.cli.search import context, search, thread
from scrubjay.cli.transfer import import_
from scrubjay.config.loader import known_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import NotFoundError
from scrubjay.models.lifecycle import Amendment, NewMemory
from scrubjay.models.options import Option, options_of
from scrubjay.models.results import CONTEXT_PARTS
from scrubjay.search import request
from scrubjay.search.plan import PRESETS
from scrubjay.search.request import PRESET_NAMES, SearchOptions, ThreadOptions
from scrubjay.server.http.memories import Change, Get, ListQuery, MemoryToAdd
from scrubjay.server.http.search import ContextQuery, ContextRequest, Search, SearchQuery, Thread, ThreadQuery
from scrubjay.server.http.store import (
    AuditRequest,
    Backup,
    Consolidate,
    Embed,
    ImportQuery,
    Rebuild,
    Retain,
    Sync,
)
from scrubjay.transfer.formats import IMPORT_FORMATS

METHODS = ("search", "thread", "context")
COMMANDS: dict[str, click.Command] = {"search": search, "thread": thread, "context": context}
FORMS = {
    "search": (Search, SearchQuery),
    "thread": (Thread, ThreadQuery),
    "context": (ContextRequest, ContextQuery),
}
DECLARED = {
    "search": {one.name: one for one in options_of(SearchOptions)},
    "thread": {one.name: one for one in options_of(ThreadOptions)},
}
PRINTING = {"weak", "store", "user", "json", "help"}
"""Options of commands that say what is printed and of which store: no question of the memory."""
NOT_ON_THE_COMMAND_LINE = {
    "search": {
        "channels": "for measuring what a part gives",
        "models": "for measuring what a part gives",
        "stages": "for measuring what a part gives",
        "depth": "how hierarchy works inside, for measuring",
        "alpha": "how hierarchy works inside, for measuring",
        "snippet": "a terminal shows what recall.snippet says",
    },
    "thread": {"snippet": "a terminal shows what recall.snippet says"},
    "context": {"history": "a context is put together for a program, which has the conversation"},
}
ONLY_ON_THE_COMMAND_LINE = {
    "search": {},
    "thread": {"explain": "a thread always holds the parts of its scores; this prints them"},
    "context": {"session_start": "a context without a query, said aloud"},
}
SAID_ONCE = {one.tool: one.name for one in DECLARED["search"].values() if one.tool}
"""A model gives one where Python takes several."""
OF_A_MODEL = {
    "search": {
        "query", "limit", "tiers", "tags", "path", "projects", "agents", "sessions", "categories", "since", "until",
        "statuses", "deep",
    },
    "thread": {"query", "limit", "hops", "projects", "since", "until"},
    "context": {"query", "project", "budget"},
}  # fmt: skip
"""All that a tool takes: each word of a tool is read before every conversation, so the rest is left to the settings."""


NOT_OVER_HTTP: dict[type[BaseModel], tuple[Callable[..., object], set[str]]] = {
    Get: (Memory.get, set()),
    ListQuery: (Memory.page, set()),
    Sync: (Memory.sync, {"enrich", "progress"}),
    Embed: (Memory.embed, {"progress"}),
    Rebuild: (Memory.rebuild, {"progress"}),
    Consolidate: (Memory.consolidate, {"progress"}),
    AuditRequest: (Memory.audit, set()),
    Retain: (Memory.retain, set()),
    ImportQuery: (Memory.import_, {"path", "progress"}),
    Backup: (Memory.backup, set()),
}
"""Form to its method, and to the parameters that only Python has."""
FILTERED: dict[str, Callable[[Any], Iterator[str]]] = {
    "search": lambda answer: (one.id for one in answer.results),
    "thread": lambda thread: (knot.result.id for knot in thread.entries),
    "page": lambda page: (record.id for record in page.records),
    "timeline": lambda page: (record.id for record in page.memories),
}
READ_BEFORE = {"filters", "clock", "rerank", "deep", "here", "confidence_floor", "history"}
"""What `search_request` or `search` of services/search.py reads, and `SearchRequest` holds under other names."""


def options(method: str) -> set[str]:
    return set(inspect.signature(getattr(Memory, method)).parameters) - {"self"}


@pytest.mark.parametrize("method", DECLARED)
def test_python_takes_what_is_declared_of_the_same_kind_and_default(method: str) -> None:
    parameters = dict(inspect.signature(getattr(Memory, method)).parameters)
    del parameters["self"], parameters["query"]
    taken = {name: (one.annotation, one.default) for name, one in parameters.items()}
    moment = {"Moment": "str | datetime | None"}
    assert taken == {
        name: (moment.get(one.annotation, one.annotation), one.default)
        for name, one in DECLARED[method].items()
    }


@pytest.mark.parametrize("method", DECLARED)
def test_python_hands_on_every_option(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    caught: list[SearchOptions] = []

    def catch(_: object, query: str, options: SearchOptions) -> None:
        caught.append(options)
        raise LookupError

    monkeypatch.setattr("scrubjay.services.search.search_request", catch)
    given = {name: odd_value(one) for name, one in DECLARED[method].items()}
    with (
        Memory.open("memory://", user="ann", embedders=[HashEmbedder()]) as memory,
        pytest.raises(LookupError),
    ):
        getattr(memory, method)("q", **given)
    (options,) = caught
    assert given == {name: value for name, value in flattened(options) if name in given} | {
        name: given[name] for name in given if name not in DECLARED["search"]
    }


@pytest.mark.parametrize("method", FILTERED)
@pytest.mark.parametrize("one", options_of(request.Filters), ids=lambda one: one.name)
def test_a_filter_that_is_declared_leaves_out_memories_that_do_not_match(one: Option, method: str) -> None:
    with Memory.open("memory://", user="ann", embedders=[HashEmbedder()]) as memory:
        added = {memory.add(f"In {year} the jay hid acorns.", date=year).id for year in ("2025", "2027")}
        query = ("jay acorns",) if method in DECLARED else ()
        ask = partial(getattr(memory, method), *query)
        assert set(FILTERED[method](ask())) == added
        try:
            found = set(FILTERED[method](ask(**{one.name: odd_value(one)})))
        except NotFoundError:
            return  # so it was read
        assert found < added, f"{method} takes {one.name}, and no memory was left out: see `record_matches`"


@pytest.mark.parametrize(
    "one", [*options_of(SearchOptions), *options_of(ThreadOptions)], ids=lambda one: one.name
)
def test_the_setting_that_is_an_options_default_allows_what_the_option_allows(one: Option) -> None:
    if not one.setting:
        return
    rule = known_settings()[one.setting]
    if one.kind == "float | str":
        assert (rule.kind, one.choices, one.bounds) == ("relevance", ("auto",), (0, 1))
        return
    assert set(rule.choices) == set(one.choices)
    assert ((rule.low, rule.high) if rule.low is not None else None) == one.bounds


def test_an_option_of_search_is_one_of_its_request_or_is_read_before() -> None:
    options, taken = ({item.name for item in fields(kind)} for kind in (SearchOptions, request.SearchRequest))
    assert options - taken == READ_BEFORE


def test_python_and_http_add_and_change_a_memory_by_the_fields_that_are_declared() -> None:
    declared = {one.name: one for one in options_of(NewMemory)}
    parameters = inspect.signature(Memory.add).parameters
    taken = {name: (one.annotation, one.default) for name, one in parameters.items() if name in declared}
    assert taken == {name: (one.annotation, one.default) for name, one in declared.items()}
    assert set(parameters) - set(declared) == {"self", "content"}
    assert set(MemoryToAdd.model_fields) == {"content", *declared}
    changed = [item.name for item in fields(Amendment)]
    assert set(changed) <= {"content", *declared}
    assert set(inspect.signature(Memory.update).parameters) == {"self", "memory", *changed}
    assert set(Change.model_fields) == set(changed)


def test_the_command_adds_a_memory_by_the_fields_that_are_declared() -> None:
    fields_of_it = {one.name for one in options_of(NewMemory)}
    taken = {param.name for param in add.params} - PRINTING
    assert fields_of_it - taken == {"visibility"}  # --public and --group
    assert taken - fields_of_it == {"text", "file", "public"}


@pytest.mark.parametrize("method", METHODS)
def test_the_command_takes_what_python_takes(method: str) -> None:
    taken = {param.name for param in COMMANDS[method].params} - PRINTING
    assert options(method) - taken == set(NOT_ON_THE_COMMAND_LINE[method])
    assert taken - options(method) == set(ONLY_ON_THE_COMMAND_LINE[method])


@pytest.mark.parametrize("method", METHODS)
def test_http_takes_what_python_takes(method: str) -> None:
    for form in FORMS[method]:
        assert set(form.model_fields) == options(method), form.__name__


@pytest.mark.parametrize("form", NOT_OVER_HTTP, ids=lambda form: form.__name__)
def test_a_form_takes_what_its_method_takes_with_the_same_defaults(form: type[BaseModel]) -> None:
    method, left_out = NOT_OVER_HTTP[form]
    parameters = dict(inspect.signature(method).parameters)
    del parameters["self"]
    assert parameters.keys() - form.model_fields.keys() == left_out
    assert form.model_fields.keys() <= parameters.keys()
    for name, field in form.model_fields.items():
        default = inspect.Parameter.empty if field.is_required() else field.default
        expected = parameters[name].default
        assert default == (list(expected) if isinstance(expected, tuple) else expected), name


@pytest.mark.parametrize("method", METHODS)
def test_a_tool_takes_its_short_list_and_nothing_that_python_does_not(method: str) -> None:
    given = set(find_tool(f"memory_{method}").properties)
    if method != "context":
        given = {SAID_ONCE.get(name, name) for name in given}
    assert given == OF_A_MODEL[method]
    assert given <= options(method)


@pytest.mark.parametrize("method", METHODS)
def test_async_python_takes_what_python_takes_with_the_same_defaults(method: str) -> None:
    assert (
        inspect.signature(getattr(AsyncMemory, method)).parameters
        == inspect.signature(getattr(Memory, method)).parameters
    )


@pytest.mark.parametrize("method", DECLARED)
def test_a_flag_takes_the_choices_and_numbers_that_are_declared(method: str) -> None:
    flags = {param.name: param for param in COMMANDS[method].params}
    for name, one in DECLARED[method].items():
        if not one.flags:
            continue
        assert name in flags, f"scrubjay {method} lacks {one.flags[0]}, which search/request.py declares"
        kind = flags[name].type
        if one.choices and one.metavar is None:
            assert isinstance(kind, click.Choice), name
            assert tuple(kind.choices) == one.choices, name
        if one.kind.startswith("int"):
            assert isinstance(kind, click.IntRange), name
            assert (kind.min, kind.max) == one.bounds, name


@pytest.mark.parametrize("method", DECLARED)
def test_a_field_names_the_choices_bounds_and_defaults_that_are_declared(method: str) -> None:
    for form in FORMS[method]:
        properties = form.model_json_schema()["properties"]
        for name, one in DECLARED[method].items():
            if name == "weights":
                continue
            assert name in properties, f"{form.__name__} lacks {name}, which search/request.py declares"
            schema = properties[name]
            default = list(one.default) if isinstance(one.default, tuple) else one.default
            assert schema["default"] == default, (form.__name__, name)
            assert set(one.choices) <= set(named(schema)) | words(schema), (form.__name__, name)
            assert bounds(schema) == one.bounds, (form.__name__, name)


def test_the_choices_declared_are_those_that_there_are() -> None:
    assert tuple(PRESETS) == PRESET_NAMES


def test_the_parts_of_a_context_are_those_that_there_are() -> None:
    parts = next(param.type for param in context.params if param.name == "parts")
    assert isinstance(parts, click.Choice)
    assert tuple(parts.choices) == CONTEXT_PARTS
    for form in FORMS["context"]:
        assert tuple(named(form.model_json_schema()["properties"]["parts"])) == CONTEXT_PARTS


def test_import_offers_the_formats_that_there_are() -> None:
    formats = next(param.type for param in import_.params if param.name == "format")
    assert isinstance(formats, click.Choice)
    assert tuple(formats.choices) == IMPORT_FORMATS


def named(schema: Any) -> list[str]:
    """Return the values that a field's schema names, wherever in it they stand."""
    if isinstance(schema, dict):
        found: list[str] = schema.get("enum") or next(iter(schema.get("examples", ())), None) or []
        return found or [each for inner in schema.values() for each in named(inner)]
    return [each for inner in schema for each in named(inner)] if isinstance(schema, list) else []


def words(schema: Any) -> set[str]:
    """Return the single texts that a schema allows beside numbers."""
    return {each["const"] for each in schema.get("anyOf", ()) if "const" in each}


def bounds(schema: Any) -> tuple[int, int] | None:
    """Return the least and the most that a field's schema allows."""
    for each in (schema, *schema.get("anyOf", ())):
        if "minimum" in each:
            return each["minimum"], each["maximum"]
    return None


def odd_value(one: Option) -> Any:
    """Return a value that is not the default."""
    usual = {"int": 3, "float": 0.25, "bool": not one.default, "Moment": "2026", "float | str": 0.25}
    if one.several:
        return (one.choices[-1:]) or ("one",)
    if one.kind.startswith("Mapping"):
        return {"bm25": 0.5}
    return usual.get(one.kind, one.choices[-1] if one.choices else "one")


def flattened(options: Any) -> Iterator[tuple[str, Any]]:
    """Yield each option of a class of options, and of the groups in it."""
    for item in fields(options):
        value = getattr(options, item.name)
        if is_dataclass(value):
            yield from flattened(value)
        else:
            yield item.name, value
