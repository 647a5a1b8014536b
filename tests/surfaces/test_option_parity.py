"""What Python can ask of search, thread and context can be asked everywhere, but for what is listed here with why.

The resident takes every option too: tests/resident.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import click
import pytest

from scrubjay import AsyncMemory, Memory
from scrubjay.api.tools import find_tool
from scrubjay.cli.search import context, search, thread
from scrubjay.cli.transfer import import_
from scrubjay.config.settings import RERANKER_KINDS as RERANKERS
from scrubjay.models.records import STATUSES, TIERS
from scrubjay.models.results import CONTEXT_PARTS, MAX_NEIGHBOURS, MAX_RESULTS
from scrubjay.models.results import RESULT_KINDS as SHAPES
from scrubjay.search.plan import PRESETS
from scrubjay.search.request import FUSIONS
from scrubjay.server.http.search import Search, SearchQuery, Thread, ThreadQuery, Wanted, WantedQuery
from scrubjay.transfer.detection import IMPORT_FORMATS

METHODS = ("search", "thread", "context")
COMMANDS: dict[str, click.Command] = {"search": search, "thread": thread, "context": context}
FORMS = {"search": (Search, SearchQuery), "thread": (Thread, ThreadQuery), "context": (Wanted, WantedQuery)}
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
SAID_ONCE = {
    "tier": "tiers", "project": "projects", "agent": "agents", "session": "sessions", "category": "categories",
}  # fmt: skip
"""A model gives one where Python takes several."""
OF_A_MODEL = {
    "search": {
        "query", "limit", "tiers", "tags", "path", "projects", "agents", "sessions", "categories", "since", "until",
    },
    "thread": {"query", "limit", "hops", "projects", "since", "until"},
    "context": {"query", "project", "budget"},
}  # fmt: skip
"""All that a tool takes: each word of a tool is read before every conversation, so the rest is left to the settings."""
CHOICES: dict[str, Sequence[str]] = {
    "tiers": TIERS, "statuses": STATUSES, "preset": tuple(PRESETS), "fusion": FUSIONS, "rerank": RERANKERS,
    "by": SHAPES, "parts": CONTEXT_PARTS,
}  # fmt: skip


def options(method: str) -> set[str]:
    return set(inspect.signature(getattr(Memory, method)).parameters) - {"self"}


@pytest.mark.parametrize("method", METHODS)
def test_the_command_takes_what_python_takes(method: str) -> None:
    taken = {param.name for param in COMMANDS[method].params} - PRINTING
    assert options(method) - taken == set(NOT_ON_THE_COMMAND_LINE[method])
    assert taken - options(method) == set(ONLY_ON_THE_COMMAND_LINE[method])


@pytest.mark.parametrize("method", METHODS)
def test_http_takes_what_python_takes(method: str) -> None:
    for form in FORMS[method]:
        assert set(form.model_fields) == options(method), form.__name__


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


@pytest.mark.parametrize("method", METHODS)
def test_the_command_offers_the_choices_that_there_are(method: str) -> None:
    for param in COMMANDS[method].params:
        if param.name in CHOICES:
            assert isinstance(param.type, click.Choice), param.name
            assert tuple(param.type.choices) == tuple(CHOICES[param.name]), param.name


@pytest.mark.parametrize("method", METHODS)
def test_http_names_the_choices_that_there_are(method: str) -> None:
    for form in FORMS[method]:
        fields = form.model_json_schema()["properties"]
        for name, choices in CHOICES.items():
            if name in fields:
                assert tuple(named(fields[name])) == tuple(choices), (form.__name__, name)


def test_the_command_bounds_numbers_as_python_does() -> None:
    most = {param.name: param.type.max for param in search.params if isinstance(param.type, click.IntRange)}
    assert (most["limit"], most["neighbours"]) == (MAX_RESULTS, MAX_NEIGHBOURS)


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
