"""Search, thread and context over HTTP: every option, in a body and in a URL."""

from __future__ import annotations

import inspect

import pytest
from http_here import good, refused
from starlette.testclient import TestClient

from scrubjay import Memory
from scrubjay.server.http import graph, memories, search, store
from scrubjay.services.dictionary import Categories, Concepts

ELSEWHERE = {
    "progress": "events say how far it is",
    "enrich": "a sync is answered when all is enriched; its events say how far it is",
    "self": "the facade's own",
    "memory": "in the path",
    "src": "in the path",
    "dst": "in the path",
    "run": "in the path",
    "texts": "`input`, as OpenAI calls it",
}
"""Parameters of the facade that no form has under their names, and why."""
TWINS = (
    (Memory.search, search.Search),
    (Memory.search, search.SearchQuery),
    (Memory.thread, search.Thread),
    (Memory.thread, search.ThreadQuery),
    (Memory.context, search.ContextRequest),
    (Memory.context, search.ContextQuery),
    (Memory.page, memories.ListQuery),
    (Memory.get, memories.Get),
    (Memory.get, memories.GetQuery),
    (Memory.add, memories.MemoryToAdd),
    (Memory.update, memories.Change),
    (Memory.feedback, memories.Feedback),
    (Memory.forget, memories.MemoryIds),
    (Memory.forget_everything, memories.Confirmation),
    (Memory.archive, memories.MemoryIds),
    (Memory.restore, memories.MemoryIds),
    (Memory.link, memories.NewLink),
    (Memory.unlink, memories.LinkQuery),
    (Memory.sync, store.Sync),
    (Memory.embed, store.Embed),
    (Memory.rebuild, store.Rebuild),
    (Memory.consolidate, store.Consolidate),
    (Memory.audit, store.AuditRequest),
    (Memory.retain, store.Retain),
    (Memory.backup, store.Backup),
    (Concepts.list, graph.ConceptsQuery),
    (Concepts.add, graph.Term),
    (Concepts.add_many, graph.Terms),
    (Categories.list, graph.CategoriesQuery),
)
LEFT_OUT = {
    "restore_consolidated": "mends what an earlier version archived: scrubjay restore on the machine",
    "redactions": "the user's own: scrubjay redactions on the machine",
    "open": "the server opens the store",
    "close": "the server closes it",
    "enrich": "the server does it, in each sync and in the background",
    "seen_by": "the token says who asks",
    "watch": "`scrubjay watch` runs beside the server",
    "look": "the viewer's: get, history and links have routes of their own",
    "timeline": "the viewer's",
    "conversations": "the viewer's",
    "conversation": "the viewer's",
    "conflicts": "the viewer's: history names what contradicts a memory",
    "records": "the viewer's: get reads memories by id",
    "skills": "a person's: `scrubjay skills` writes them into a folder of theirs",
    "network": "the viewer's",
    "web": "the former name of network",
    "rewrite": "the viewer's: a program changes files itself",
    "copy": "an operator's: from store to store on the machine",
    "build_index": "an operator's: what the owner of the tables makes",
    "drop_index": "an operator's",
    "add_file": "add_many takes the same rows; a server reads no file that a client names",
}
"""Methods of the facade that no route has, and why."""


@pytest.mark.parametrize(("method", "form"), TWINS, ids=lambda each: each.__name__)
def test_every_parameter_of_the_facade_can_be_given_over_http(method: object, form: type) -> None:
    parameters = inspect.signature(method).parameters
    missing = set(parameters) - set(form.model_fields) - set(ELSEWHERE)
    assert not missing
    undescribed = [name for name, field in form.model_fields.items() if not field.description]
    assert not undescribed
    for name, field in form.model_fields.items():
        usual = parameters[name].default if name in parameters else inspect.Parameter.empty
        if isinstance(usual, str | int | float | bool):
            assert field.default == usual, name


def test_every_method_of_the_facade_has_a_route_or_a_reason() -> None:
    public = {
        name
        for kind in (*Memory.__mro__[:-1], Concepts, Categories)
        for name in vars(kind)
        if not name.startswith("_")
    }
    with_forms = {method.__name__ for method, _ in TWINS}
    without = {"add_many", "history", "links", "sources", "remove_source", "models", "add_model", "use_model"}
    without |= {
        "drop_model",
        "status",
        "undo",
        "undo_audit",
        "export",
        "import_",
        "vectors",
        "concepts",
        "categories",
    }
    without |= {"list", "show", "merge", "rename", "remove"}
    assert public - with_forms - without == set(LEFT_OUT)
    routes = [route.name for part in (memories, graph, store) for route in part.router.routes]
    assert len(routes) == len(set(routes))


def test_a_body_and_a_url_ask_the_same(client: TestClient) -> None:
    for content in ("The engine is a Volvo.", "The hull is blue."):
        good(client.post("/v1/memories", json={"content": content, "tags": ["boat"]}), 201)
    options = {
        "limit": 1,
        "tags": ["boat"],
        "explain": True,
        "min_relevance": 0,
        "channels": ["bm25", "vector"],
    }
    body = good(client.post("/v1/search", json={"query": "engine", "weights": {"bm25": 2.0}, **options}))
    url = good(client.get("/v1/search", params={"query": "engine", "weights": "bm25=2", **options}))
    for said in (body, url):
        assert [each["snippet"] for each in said["results"]] == ["The engine is a Volvo."]
        assert {part["channel"] for part in said["results"][0]["explanation"]["contributions"]} >= {"bm25"}
        said.pop("took_ms")
    assert body == url
    assert "CHANNEL=NUMBER" in refused(
        client.get("/v1/search", params={"query": "x", "weights": "bm25=-+"}), 422
    )
    story = good(client.get("/v1/thread", params={"query": "engine", "hops": 0, "limit": 1}))
    assert [each["snippet"] for each in story["memories"]] == ["The engine is a Volvo."]
    assert (
        good(client.post("/v1/thread", json={"query": "engine", "hops": 0, "limit": 1}))["memories"]
        == story["memories"]
    )
    for said in (
        client.post("/v1/context", json={"query": "engine"}),
        client.get("/v1/context?query=engine"),
    ):
        assert "Volvo" in good(said)["text"]


def test_wrong_options_are_refused_in_the_one_shape(client: TestClient) -> None:
    for body in (
        {"query": 5},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 1_001},
        {"query": "x", "limit": "5"},
        {"query": "x", "limit": True},
        {"query": "x", "tags": "boat"},
        {"query": "x", "here": "/etc"},
        {"query": "x", "projects": ["~"]},
        {"query": "x", "since": "the day before"},
        {"query": "x", "fusion": "cold"},
        {"query": "x", "min_relevance": "high"},
        {"query": "x", "weights": {"bm25": "1"}},
        {"query": "x", "sizes": 1},
        {},
    ):
        refused(client.post("/v1/search", json=body), 422)
    for url in (
        "query=x&limit=five",
        "query=x&limt=5",
        "limit=5",
        "query=x&min_relevance=high",
        "query=x&here=.",
    ):
        refused(client.get(f"/v1/search?{url}"), 422)
    refused(client.post("/v1/search", json={"query": "x", "sources": ["elsewhere"]}), 404)
    refused(client.get("/v1/nothing"), 404)
    assert refused(client.put("/v1/search", json={}), 405) == "Method not allowed."
