"""Random reads over HTTP, MCP and the facade by many principals: nothing that is a stranger's is in any answer."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import pytest
from http_here import asking, bearer, good, held
from mcp_clients import ACCEPT, HELLO
from starlette.testclient import TestClient

from scrubjay import Memory
from scrubjay.api.auth import Principal
from scrubjay.api.serializers import to_plain
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import ScrubjayError
from scrubjay.models.lifecycle import NewMemory

ROUNDS = 150
EACH = 5
"""Memories of each key."""
PEOPLE = (("ann", ("dev",)), ("bob", ("dev", "ops")), ("cleo", ()))


@dataclass
class World:
    """What is stored, and whose.

    Attributes:
        people: Who asks.
        secrets: A word of each tenant and key that only its memories' texts hold, and that nobody ever asks for.
        asked: A word of each that its texts, titles, tags, sessions and projects hold, and that anybody may ask for.
        ids: The memories of each.
    """

    people: list[Principal]
    secrets: dict[tuple[str, str], str] = field(default_factory=dict)
    asked: dict[tuple[str, str], str] = field(default_factory=dict)
    ids: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def mine(self, who: Principal) -> set[tuple[str, str]]:
        """Return what somebody may see."""
        return {(who.tenant, key) for key in keys(who)}

    def check(self, who: Principal, wish: str, told: str) -> bool:
        """Raise where an answer holds what is a stranger's; return whether it holds what is their own."""
        mine = self.mine(who)
        for pair, secret in self.secrets.items():
            if pair in mine:
                continue
            assert secret not in told, (who, wish, pair, told[:2_000])
            # What one asked for may be said again, as in "No memory obs_…".
            for text in (self.asked[pair], *self.ids[pair]):
                assert text in wish or text not in told, (who, wish, text, told[:2_000])
        return any(self.secrets[pair] in told for pair in mine)


def keys(who: Principal) -> list[str]:
    return [f"user {who.user}", *(f"group {group}" for group in who.groups), "public"]


def fill(environ: dict[str, str]) -> World:
    world = World(
        [Principal(t, user, groups, scopes=("read",)) for t in ("one", "two") for user, groups in PEOPLE]
    )
    with Memory.open(settings=load_settings(), embedders=[HashEmbedder(64)]) as store:
        for who in world.people:
            memory = store.seen_by(who.user, groups=who.groups, tenant=who.tenant)
            for key in keys(who):
                if (who.tenant, key) not in world.ids:
                    write(world, memory, (who.tenant, key))
    return world


def write(world: World, memory: Memory, pair: tuple[str, str]) -> None:
    number = len(world.ids)
    secret, asked = f"quagga{number:02d}sv", f"heron{number:02d}xv"
    kind, _, group = pair[1].partition(" ")
    new = [
        NewMemory(
            f"The {asked} ferry of {secret} leaves pier {at} at dawn; see [[Harbour {asked}]] and #{asked}.",
            title=f"Harbour {asked}" if not at else f"Ferry {asked} {at}", tags=(asked, "ferry"),
            session=f"talk {asked}", turn=at, role="user", project=f"project-{asked}", date=f"2026-02-{at + 1:02d}",
            visibility=kind, group=group if kind == "group" else None, pinned=at == 1,
        )
        for at in range(EACH)
    ]  # fmt: skip
    ids = [one.id for one in memory.add_many(new)]
    memory.link(ids[0], ids[1])
    world.secrets[pair], world.asked[pair], world.ids[pair] = secret, asked, ids


@dataclass
class Wish:
    """What is asked for: anybody's."""

    word: str
    memory: str
    ids: list[str]
    chance: random.Random

    @property
    def query(self) -> str:
        return self.chance.choice([
            f"when does the {self.word} ferry leave?", self.word, f'"{self.word} ferry"', f"{self.word[:-1]}w ferry",
            "ferry at dawn", "what is at the pier?", f"-{self.word} ferry", f"harbour {self.word}",
        ])  # fmt: skip

    @property
    def filters(self) -> dict[str, Any]:
        return self.chance.choice([
            {}, {}, {"tags": [self.word]}, {"projects": [f"project-{self.word}"]}, {"sessions": [f"talk {self.word}"]},
            {"since": "2026-02-02"}, {"limit": 50}, {"tiers": ["observation"]}, {"path": f"{self.word}/*"},
            {"statuses": ["active", "archived", "superseded"]}, {"categories": [self.word]},
        ])  # fmt: skip

    @property
    def narrowed(self) -> dict[str, Any]:
        """As tools name it."""
        return self.chance.choice([
            {}, {}, {"tags": [self.word]}, {"project": f"project-{self.word}"}, {"session": f"talk {self.word}"},
            {"since": "2026-02-02"}, {"limit": 20}, {"tier": "observation"}, {"category": self.word},
        ])  # fmt: skip


def wish(world: World, chance: random.Random) -> Wish:
    every = [one for ids in world.ids.values() for one in ids]
    return Wish(chance.choice([*world.asked.values()]), chance.choice(every), chance.sample(every, 6), chance)


Request = Callable[[Wish], tuple[str, str, dict[str, Any] | None]]

REQUESTS: dict[str, Request] = {
    "search": lambda w: ("POST", "/v1/search", {"query": w.query, "explain": True, **w.filters}),
    "search by address": lambda w: ("GET", f"/v1/search?query={quote(w.query)}", None),
    "neighbours": lambda w: ("POST", "/v1/search", {"query": w.query, "neighbours": 2}),
    "sessions": lambda w: ("POST", "/v1/search", {"query": w.query, "by": "session"}),
    "links": lambda w: ("POST", "/v1/search", {"query": w.query, "links": 2, "hierarchy": True}),
    "thread": lambda w: ("POST", "/v1/thread", {"query": w.query, "hops": 3}),
    "context": lambda w: ("POST", "/v1/context", {"query": w.query}),
    "session start": lambda w: ("POST", "/v1/context", {"project": f"project-{w.word}"}),
    "page": lambda w: ("GET", f"/v1/memories?limit=50&tags={w.word}", None),
    "all": lambda w: ("GET", "/v1/memories?limit=100", None),
    "get": lambda w: ("POST", "/v1/get", {"ids": w.ids, "evidence": True, "neighbours": 2}),
    "one": lambda w: ("GET", f"/v1/memories/{w.memory}", None),
    "history": lambda w: ("GET", f"/v1/memories/{w.memory}/history", None),
    "links of one": lambda w: ("GET", f"/v1/memories/{w.memory}/links", None),
    "concepts": lambda w: ("GET", "/v1/concepts", None),
    "concept": lambda w: ("GET", f"/v1/concepts/{w.word}", None),
    "title as concept": lambda w: ("GET", f"/v1/concepts/Harbour%20{w.word}", None),
    "categories": lambda w: ("GET", "/v1/categories", None),
    "category": lambda w: ("GET", f"/v1/categories/{w.word}", None),
    "status": lambda w: ("GET", "/v1/status", None),
    "sources": lambda w: ("GET", "/v1/sources", None),
    "metrics": lambda w: ("GET", "/metrics", None),
}  # fmt: skip

TOOLS: dict[str, Callable[[Wish], dict[str, Any]]] = {
    "memory_search": lambda w: {"query": w.query, **w.narrowed},
    "memory_get": lambda w: {"ids": w.ids, "evidence": True, "neighbours": 2},
    "memory_thread": lambda w: {"query": w.query, "hops": 2},
    "memory_context": lambda w: w.chance.choice([{"query": w.query}, {"project": f"project-{w.word}"}, {}]),
}

CALLS: dict[str, Callable[[Memory, Wish], Any]] = {
    "search": lambda m, w: m.search(w.query, **w.filters),
    "thread": lambda m, w: m.thread(w.query),
    "context": lambda m, w: m.context(w.query),
    "page": lambda m, w: m.page(tags=[w.word]) if w.chance.random() < 0.5 else m.page(after=w.memory),
    "get": lambda m, w: m.get(w.ids, neighbours=2),
    "look": lambda m, w: m.look(w.memory),
    "history": lambda m, w: m.history(w.memory),
    "links": lambda m, w: m.links(w.memory),
    "concepts": lambda m, w: (m.concepts.list(), m.concepts.show(w.word)),
    "categories": lambda m, w: m.categories.list(),
    "timeline": lambda m, w: m.timeline(),
    "status": lambda m, w: (m.status(), m.sources()),
    "export": lambda m, w: _exported(m),
}


def _exported(memory: Memory) -> str:
    with io.BytesIO() as into:
        memory.export(into)
        return into.getvalue().decode()


@pytest.fixture
def world(environ: dict[str, str]) -> World:
    return fill(environ)


@pytest.fixture
def served(
    environ: dict[str, str], world: World
) -> Iterator[tuple[TestClient, dict[Principal, dict[str, str]]]]:
    tokens = held(environ)
    shown = {who: bearer(tokens, f"{who.tenant}-{who.user}", who) for who in world.people}
    with asking(environ) as client:
        yield client, shown


def test_no_random_request_shows_anything_of_a_stranger(
    served: Any, world: World, rounds: int | None
) -> None:
    client, shown = served
    seen = 0
    for number in range(rounds or ROUNDS):
        chance = random.Random(number)
        who, name = chance.choice(world.people), chance.choice([*REQUESTS])
        method, path, body = REQUESTS[name](wish(world, chance))
        said = client.request(method, path, json=body, headers=shown[who])
        assert said.status_code in (200, 404), (name, path, body, said.text)
        seen += world.check(who, f"{name} {path} {json.dumps(body)}", said.text)
    assert seen > (rounds or ROUNDS) / 5, "what is their own is seen"


def test_no_random_call_of_a_tool_shows_anything_of_a_stranger(
    served: Any, world: World, rounds: int | None
) -> None:
    client, shown = served
    sessions = {}
    for who, token in shown.items():
        hello = client.post("/mcp", json=HELLO, headers=ACCEPT | token)
        sessions[who] = ACCEPT | token | {"mcp-session-id": hello.headers["mcp-session-id"]}
    seen = 0
    for number in range(rounds or ROUNDS):
        chance = random.Random(number)
        who, name = chance.choice(world.people), chance.choice([*TOOLS])
        call = {"name": name, "arguments": TOOLS[name](wish(world, chance))}
        said = client.post(
            "/mcp",
            json={"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
            headers=sessions[who],
        )
        assert said.status_code == 200, (call, said.text)
        seen += world.check(who, json.dumps(call), said.text)
    assert seen > (rounds or ROUNDS) / 5, "what is their own is seen"


def test_no_random_call_of_the_facade_shows_anything_of_a_stranger(world: World, rounds: int | None) -> None:
    with Memory.open(settings=load_settings(), embedders=[HashEmbedder(64)]) as store:
        seats = [store.seen_by(who.user, groups=who.groups, tenant=who.tenant) for who in world.people]
        seen = 0
        for number in range(rounds or ROUNDS):
            chance = random.Random(number)
            who, name = chance.randrange(len(seats)), chance.choice([*CALLS])
            wished = wish(world, chance)
            try:
                told = repr(to_plain(CALLS[name](seats[who], wished)))
            except ScrubjayError as error:
                told = f"{error} {error.hint}"
            seen += world.check(world.people[who], f"{name} {wished}", told)
        assert seen > (rounds or ROUNDS) / 5, "what is their own is seen"


def test_what_a_stranger_holds_is_counted_for_nobody_else(served: Any, world: World) -> None:
    client, shown = served
    for who, token in shown.items():
        own = sum(len(world.ids[pair]) for pair in world.mine(who))
        assert good(client.get("/v1/status", headers=token))["memories"] == own
        assert len(good(client.get("/v1/memories?limit=100", headers=token))["memories"]) == own
